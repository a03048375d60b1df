import Synchronization

/// What a watch has reported since the last `take`: the devices that wrote files, and whether anything else may have changed.
package final class CarrierChanges: Sendable {
    private struct News {
        var devices: Set<String> = []
        var isMore = false
    }

    private let news = Mutex(News())

    package init() {}

    /// Adds a changed section.
    package func add(_ section: String) {
        let parts = section.split(separator: "/")
        news.withLock { news in
            if parts.count == 2, parts[0] == "devices" { news.devices.insert(String(parts[1])) } else { news.isMore = true }
        }
    }

    /// Notes that something unidentified may have changed.
    package func addUnknown() { news.withLock { $0.isMore = true } }

    /// Returns and clears the devices whose files changed; nil if anything else changed too.
    package func take() -> Set<String>? {
        news.withLock { news in
            defer { news = News() }
            return news.isMore ? nil : news.devices
        }
    }
}

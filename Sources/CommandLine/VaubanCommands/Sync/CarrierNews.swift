import Synchronization

/// What a watch has reported since it was last asked: the devices that wrote files, or that something else may have changed.
package final class CarrierNews: Sendable {
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

    /// Adds something that nobody named.
    package func addUnknown() { news.withLock { $0.isMore = true } }

    /// Takes what was reported: the devices of which files changed, and nothing else did; nil if that is not so.
    package func take() -> Set<String>? {
        news.withLock { news in
            defer { news = News() }
            return news.isMore ? nil : news.devices
        }
    }
}

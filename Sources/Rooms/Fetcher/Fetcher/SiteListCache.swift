package import VaubanAssociationsWire

/// The lists of websites, each with the time at which it was fetched. They are kept in memory only, so that the sites about which programs
/// asked are never written to disk.
package actor SiteListCache {
    private struct Entry {
        let outcome: SiteOutcome
        /// Nanoseconds by the cache's clock.
        let fetched: UInt64
    }

    private let now: @Sendable () -> UInt64
    private let fetch: @Sendable (_ host: String) async -> SiteOutcome?
    private var entries: [String: Entry] = [:]
    private var fetches: [String: Task<SiteOutcome?, Never>] = [:]

    /// - Parameters:
    ///   - now: The time in nanoseconds, by a clock that includes sleep.
    ///   - fetch: Queries a website; returns nil if it cannot be queried now.
    package init(now: @escaping @Sendable () -> UInt64, fetch: @escaping @Sendable (_ host: String) async -> SiteOutcome?) {
        self.now = now
        self.fetch = fetch
    }

    /// Returns the reply about a website; nil if it cannot be queried now, since too many others are being queried or looked up.
    package func reply(to host: String) async -> SiteListReply? {
        let begin = now()
        if let entry = entries[host], Self.counts(entry, begin) { return Self.reply(entry, begin) }
        entries[host] = nil
        let running: Task<SiteOutcome?, Never>
        if let earlier = fetches[host] {
            running = earlier
        } else {
            guard fetches.count < FetcherLimits.fetchesMax else { return nil }
            running = Task { [fetch] in await fetch(host) }
            fetches[host] = running
        }
        let outcome = await running.value
        // Another waiting request may have resumed first, and a new fetch may have begun since.
        if fetches[host] == running { fetches[host] = nil }
        // Not kept, so that the next request queries the site.
        guard let outcome else { return nil }
        let entry = Entry(outcome: outcome, fetched: begin)
        keep(entry, for: host)
        return Self.reply(entry, begin)
    }

    /// Keeps an entry. If there are too many, removes the oldest failure, or the oldest list if there are no failures: names of sites that
    /// do not exist are easy to invent.
    private func keep(_ entry: Entry, for host: String) {
        if entries[host] == nil, entries.count >= FetcherLimits.sitesMax,
            let oldest = entries.min(by: { Self.worth($0.value) < Self.worth($1.value) })
        {
            entries[oldest.key] = nil
        }
        entries[host] = entry
    }

    private static func worth(_ entry: Entry) -> (Int, UInt64) {
        switch entry.outcome {
        case .list: (1, entry.fetched)
        case .failed: (0, entry.fetched)
        }
    }

    private static func seconds(since entry: Entry, _ now: UInt64) -> UInt64 { (now - min(now, entry.fetched)) / 1_000_000_000 }

    private static func counts(_ entry: Entry, _ now: UInt64) -> Bool {
        switch entry.outcome {
        case .list: seconds(since: entry, now) < FetcherLimits.listSeconds
        case .failed: seconds(since: entry, now) < FetcherLimits.failureSeconds
        }
    }

    private static func reply(_ entry: Entry, _ now: UInt64) -> SiteListReply {
        switch entry.outcome {
        case .list(let applications): .list(applications: applications, ageSeconds: Int64(seconds(since: entry, now)))
        case .failed(let why): .failed(why)
        }
    }
}

package import VaubanAssociationsWire

/// The lists of websites with the time at which each was fetched. It is in memory alone: what programs asked for is written nowhere.
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
    ///   - fetch: Asks a website; returns nil if it cannot be asked now.
    package init(now: @escaping @Sendable () -> UInt64, fetch: @escaping @Sendable (_ host: String) async -> SiteOutcome?) {
        self.now = now
        self.fetch = fetch
    }

    /// Returns the reply about a website; nil if it cannot be asked now, since too many others are being asked or looked up.
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
        // Not kept, so that the next attempt asks.
        guard let outcome else { return nil }
        let entry = Entry(outcome: outcome, fetched: begin)
        keep(entry, for: host)
        return Self.reply(entry, begin)
    }

    /// Keeps an entry. If there are too many, the oldest failure goes, and a list only if there are no failures: names that do not exist
    /// are invented quickly.
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

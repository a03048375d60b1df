import Logging
import VaubanAssociationsWire
import VaubanLinuxHost

/// The lists of websites with the time at which each was fetched. It is in memory alone: what programs asked for is written nowhere.
actor SiteListCache {
    private struct Entry {
        let outcome: SiteOutcome
        /// Nanoseconds by the clock that includes sleep.
        let fetched: UInt64
    }

    private let log: Logger
    private var entries: [String: Entry] = [:]
    private var fetches: [String: Task<SiteOutcome, Never>] = [:]

    init(log: Logger) { self.log = log }

    func reply(to host: String) async -> SiteListReply {
        let now = MachineClock.boot
        if let entry = entries[host], Self.counts(entry, now) { return Self.reply(entry, now) }
        entries[host] = nil
        let fetch: Task<SiteOutcome, Never>
        if let running = fetches[host] {
            fetch = running
        } else {
            guard fetches.count < FetcherLimits.fetchesMax else { return .failed("too many websites are being asked at this moment") }
            fetch = Task { await SiteFetch(host: host, log: log).run() }
            fetches[host] = fetch
        }
        let entry = Entry(outcome: await fetch.value, fetched: now)
        fetches[host] = nil
        keep(entry, for: host)
        return Self.reply(entry, now)
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

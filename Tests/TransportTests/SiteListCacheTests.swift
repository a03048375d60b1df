import Fetcher
import Synchronization
import Testing
import VaubanAssociationsWire

/// How long the fetcher keeps the replies of websites, and which ones it drops if there are too many.
@Suite struct SiteListCacheTests {
    /// Websites that answer at once, and a clock that the test advances. Hosts that begin with "fails" have no list, and hosts that begin
    /// with "busy" cannot be asked.
    private final class Websites: Sendable {
        private let seconds = Mutex<UInt64>(1)
        private let hosts = Mutex<[String]>([])

        var nanoseconds: UInt64 { seconds.withLock { $0 * 1_000_000_000 } }
        /// The hosts that were asked.
        var asked: [String] { hosts.withLock { $0 } }

        func advance(bySeconds count: UInt64) { seconds.withLock { $0 += count } }

        func outcome(of host: String) -> SiteOutcome? {
            hosts.withLock { $0.append(host) }
            if host.hasPrefix("busy") { return nil }
            return host.hasPrefix("fails") ? .failed("it has no association file") : .list(["TEAM.\(host)"])
        }
    }

    private let websites: Websites
    private let cache: SiteListCache

    init() {
        let websites = Websites()
        self.websites = websites
        cache = SiteListCache(now: { websites.nanoseconds }, fetch: { host in websites.outcome(of: host) })
    }

    private static func list(_ host: String, ageSeconds: Int64) -> SiteListReply {
        .list(applications: ["TEAM.\(host)"], ageSeconds: ageSeconds)
    }

    @Test("A list counts for a day, and its age is reported") func listsCountForADay() async {
        #expect(FetcherLimits.listSeconds == 86_400)
        let first = await cache.reply(to: "shop.example")
        #expect(first == Self.list("shop.example", ageSeconds: 0))
        websites.advance(bySeconds: 86_399)
        let last = await cache.reply(to: "shop.example")
        #expect(last == Self.list("shop.example", ageSeconds: 86_399))
        #expect(websites.asked == ["shop.example"])
        websites.advance(bySeconds: 1)
        let next = await cache.reply(to: "shop.example")
        #expect(next == Self.list("shop.example", ageSeconds: 0))
        #expect(websites.asked == ["shop.example", "shop.example"])
    }

    @Test("A failure counts for thirty seconds") func failuresCountForThirtySeconds() async {
        #expect(FetcherLimits.failureSeconds == 30)
        let failure = SiteListReply.failed("it has no association file")
        for (seconds, times): (UInt64, Int) in [(0, 1), (29, 1), (1, 2)] {
            websites.advance(bySeconds: seconds)
            let reply = await cache.reply(to: "fails.example")
            #expect(reply == failure)
            #expect(websites.asked.count == times)
        }
    }

    @Test("A website that could not be asked is asked again") func whatCouldNotBeAskedIsNotKept() async {
        for _ in 0..<2 {
            let reply = await cache.reply(to: "busy.example")
            #expect(reply == nil)
        }
        #expect(websites.asked == ["busy.example", "busy.example"])
    }

    @Test("If there are too many websites, the oldest failure is dropped, and without failures the oldest list") func eviction() async {
        let hosts = (0..<FetcherLimits.sitesMax).map { "shop\($0).example" }
        for host in hosts {
            _ = await cache.reply(to: host)
            websites.advance(bySeconds: 1)
        }
        #expect(websites.asked == hosts)
        // There is no failure yet: the oldest list is dropped, then the failure.
        _ = await cache.reply(to: "fails.example")
        _ = await cache.reply(to: "new.example")
        for host in Array(hosts.dropFirst()) + ["new.example"] { _ = await cache.reply(to: host) }
        #expect(websites.asked == hosts + ["fails.example", "new.example"])
        for host in ["fails.example", hosts[0]] { _ = await cache.reply(to: host) }
        #expect(websites.asked == hosts + ["fails.example", "new.example", "fails.example", hosts[0]])
    }
}

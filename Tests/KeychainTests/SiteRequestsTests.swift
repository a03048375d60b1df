import Keychain
import Synchronization
import Testing
import VaubanRefusal

/// How many websites are asked for one user at the same time.
@Suite struct SiteRequestsTests {
    /// A time that the test sets.
    private final class Clock: Sendable {
        private let time = Mutex<UInt64>(1)
        var now: UInt64 { time.withLock { $0 } }
        func advance(by nanoseconds: UInt64) { time.withLock { $0 += nanoseconds } }
    }

    private let clock: Clock
    private let requests: SiteRequests

    init() {
        let clock = Clock()
        self.clock = clock
        requests = SiteRequests { clock.now }
    }

    private func reason(_ user: UInt32, _ ask: () throws -> Void = {}) -> Refusal.Reason? {
        Refusal.Reason.of { try requests.count(for: user, ask) }
    }

    @Test("A request beyond the user's limit is refused, and other users are not affected") func limitIsOfOneUser() throws {
        try requests.count(for: 1) {
            try requests.count(for: 1) {
                #expect(reason(1) == .unavailable)
                #expect(reason(2) == nil)
            }
        }
        #expect(reason(1) == nil)
    }

    @Test("A slow request without an answer counts for a while after its end") func slowRequestsCountLonger() {
        for _ in 0..<KeychainLimits.siteRequestsOfUserMax {
            let refused = reason(1) {
                clock.advance(by: KeychainLimits.siteSlowTime)
                throw Refusal(.notAllowedHere)
            }
            #expect(refused == .notAllowedHere)
        }
        #expect(reason(1) == .unavailable)
        #expect(reason(2) == nil)
        clock.advance(by: KeychainLimits.siteHeldTime)
        #expect(reason(1) == nil)
    }

    @Test("A slow request that is answered leaves nothing behind") func answeredRequestsDoNotCountLonger() {
        for _ in 0..<(10 * KeychainLimits.siteRequestsOfUserMax) {
            #expect(reason(1) { clock.advance(by: KeychainLimits.siteSlowTime) } == nil)
        }
    }

    @Test("Quick requests count only while they run") func quickRequestsDoNotCountLonger() {
        for _ in 0..<(10 * KeychainLimits.siteRequestsOfUserMax) {
            let refused = reason(1) {
                clock.advance(by: KeychainLimits.siteSlowTime - 1)
                throw Refusal(.notAllowedHere)
            }
            #expect(refused == .notAllowedHere)
        }
    }
}

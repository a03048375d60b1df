internal import VaubanLinuxHost
internal import VaubanRefusal

/// Counts each user's requests to the fetcher, which does not distinguish users. The limit keeps one user's slow websites from blocking the
/// others, including through name look-ups that continue in the fetcher after a request.
package final class SiteRequests: Sendable {
    private struct Share {
        var running = 0
        /// When each slow request without an answer ceases to count.
        var held: [UInt64] = []
    }

    private let now: @Sendable () -> UInt64
    private let shares = ThreadMutex<[UInt32: Share]>([:])

    /// - Parameter now: The time in nanoseconds.
    package init(now: @escaping @Sendable () -> UInt64) { self.now = now }

    /// Runs `ask`. Throws if the user already has the maximum number of requests.
    package func count(for user: UInt32, _ ask: () throws -> Void) throws {
        let begin = now()
        let isCounted = shares.withLock { shares in
            var share = shares[user] ?? Share()
            share.held.removeAll { $0 <= begin }
            defer { shares[user] = share }
            guard share.running + share.held.count < KeychainLimits.siteRequestsOfUserMax else { return false }
            share.running += 1
            return true
        }
        guard isCounted else { throw Refusal(.unavailable, "Other websites are being queried for this user; try again in half a minute") }
        var isAnswered = false
        defer {
            let end = now()
            shares.withLock { shares in
                var share = shares[user] ?? Share()
                share.running -= 1
                if !isAnswered, end >= begin + KeychainLimits.siteSlowTime { share.held.append(end + KeychainLimits.siteHeldTime) }
                shares[user] = share.running > 0 || !share.held.isEmpty ? share : nil
            }
        }
        try ask()
        isAnswered = true
    }
}

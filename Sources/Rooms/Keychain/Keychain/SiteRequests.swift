internal import VaubanLinuxHost
internal import VaubanRefusal

/// Counts each user's requests to the fetcher, which does not distinguish users. The limit keeps one user's slow websites from blocking the
/// others.
final class SiteRequests: Sendable {
    private let running = ThreadMutex<[UInt32: Int]>([:])

    /// Runs `ask`. Throws if the user already has the maximum number of requests.
    func count(for user: UInt32, _ ask: () throws -> Void) throws {
        let isCounted = running.withLock { running in
            guard running[user, default: 0] < KeychainLimits.siteRequestsOfUserMax else { return false }
            running[user, default: 0] += 1
            return true
        }
        guard isCounted else { throw Refusal(.unavailable, "Other websites are being asked for this user; try again in a few seconds") }
        defer {
            running.withLock { running in
                let left = running[user, default: 1] - 1
                running[user] = left > 0 ? left : nil
            }
        }
        try ask()
    }
}

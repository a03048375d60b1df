// Retries reads that a room did not finish. The launcher restarts the room, and clients notice only a delay.

internal import VaubanAuthenticationClient
internal import VaubanKeychainClient
internal import VaubanKeychainModel
internal import VaubanKeychainWire
internal import VaubanLinuxHost
internal import VaubanRefusal
internal import VaubanUserModel

extension KeychainClient {
    /// Searches. With `repeats`, retries while the keychain is unreachable, unless the search has prompted the user.
    func search(_ query: ItemQuery, for request: UserRequest? = nil, repeats: Bool = true) throws(Refusal) -> [ReceivedItem] {
        var reads = RepeatedReads()
        var userWasPrompted = false
        while true {
            do throws(Refusal) {
                return try copyMatching(
                    query,
                    waiting: { _ in
                        userWasPrompted = true
                        request?.waitsForUser()
                    }, cancellation: request?.cancellation)
            } catch {
                guard repeats, !userWasPrompted, request?.cancellation.isCancelled != true, reads.mayRepeat(after: error) else {
                    throw request?.refusal ?? error
                }
            }
        }
    }

    /// Sends several searches together and returns the result or the refusal of each, in order. Retries those that find the keychain
    /// unreachable, as for a single search. Throws if the keychain remains unreachable.
    func search(
        each queries: [ItemQuery], for request: UserRequest? = nil, repeats: Bool = true
    ) throws(Refusal) -> [Result<[ReceivedItem], Refusal>] {
        var outcomes: [Result<[ReceivedItem], Refusal>] = []
        var userWasPrompted = false
        var unreachable: Refusal?
        do throws(Refusal) {
            try copyMatching(
                each: queries,
                waiting: { _ in
                    userWasPrompted = true
                    request?.waitsForUser()
                }, cancellation: request?.cancellation
            ) { outcome in
                outcomes.append(outcome)
                if userWasPrompted || !repeats { unreachable = unreachable ?? outcome.unreachable }
                userWasPrompted = false
            }
        } catch {
            // The room was serving the first search without an outcome.
            guard repeats, !userWasPrompted, error.reason == .unavailable, request?.cancellation.isCancelled != true else {
                throw request?.refusal ?? error
            }
        }
        if let unreachable { throw unreachable }
        for (index, query) in queries.enumerated() where index >= outcomes.count || outcomes[index].unreachable != nil {
            let outcome: Result<[ReceivedItem], Refusal>
            do throws(Refusal) {
                outcome = .success(try search(query, for: request))
            } catch {
                guard error.reason != .unavailable else { throw error }
                outcome = .failure(error)
            }
            if index < outcomes.count { outcomes[index] = outcome } else { outcomes.append(outcome) }
        }
        return outcomes
    }
}

extension Result where Failure == Refusal {
    /// The refusal for an unreachable room; nil if there is none.
    fileprivate var unreachable: Refusal? {
        guard case .failure(let refusal) = self, refusal.reason == .unavailable else { return nil }
        return refusal
    }
}

extension AuthenticationClient {
    /// Returns the device state, and retries while the service is unreachable.
    func repeatedStatus() throws(Refusal) -> DeviceStatus {
        var reads = RepeatedReads()
        while true {
            do throws(Refusal) { return try status().device } catch {
                guard reads.mayRepeat(after: error) else { throw error }
            }
        }
    }
}

/// The count and time limits of one read's retries.
private struct RepeatedReads {
    /// Milliseconds between two attempts.
    private static let pauses: (shortest: Int32, longest: Int32) = (10, 200)
    private let deadline = MachineClock.monotonic + SecretServiceLimits.roomRestartMax
    private var backoff = Backoff(from: pauses.shortest, to: pauses.longest)

    /// Returns whether the read may be retried. Waits for the room before it returns true.
    mutating func mayRepeat(after refusal: Refusal) -> Bool {
        guard refusal.reason == .unavailable, MachineClock.monotonic < deadline, let wakeup = try? Wakeup() else { return false }
        _ = wakeup.wait(until: MachineClock.monotonic + UInt64(backoff.pause()) * 1_000_000)
        return true
    }
}

// Reads that are retried after a room ended: the launcher restarts it, and clients notice nothing.

internal import VaubanAuthenticationClient
internal import VaubanKeychainClient
internal import VaubanKeychainModel
internal import VaubanKeychainWire
internal import VaubanLinuxHost
internal import VaubanRefusal
internal import VaubanUserModel

extension KeychainClient {
    /// Searches, and retries while the keychain is unreachable if it `repeats`. A search that prompted the user is not retried.
    func search(_ query: ItemQuery, for request: UserRequest? = nil, repeats: Bool = true) throws(Refusal) -> [FoundEntry] {
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

    /// Does several searches in their order, sent together, and returns what each finds or its refusal. Each that meets an unreachable
    /// keychain is retried, as a single one is; throws if that does not help.
    func search(
        each queries: [ItemQuery], for request: UserRequest? = nil, repeats: Bool = true
    ) throws(Refusal) -> [Result<[FoundEntry], Refusal>] {
        var outcomes: [Result<[FoundEntry], Refusal>] = []
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
            // The search after those that have an outcome was being served.
            guard repeats, !userWasPrompted, error.reason == .unavailable, request?.cancellation.isCancelled != true else {
                throw request?.refusal ?? error
            }
        }
        if let unreachable { throw unreachable }
        for (index, query) in queries.enumerated() where index >= outcomes.count || outcomes[index].unreachable != nil {
            let outcome: Result<[FoundEntry], Refusal>
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
    /// The refusal that says that a room is unreachable; nil if there is none.
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

    /// Whether the read may be repeated; waits for the room before it returns true.
    mutating func mayRepeat(after refusal: Refusal) -> Bool {
        guard refusal.reason == .unavailable, MachineClock.monotonic < deadline, let wakeup = try? Wakeup() else { return false }
        _ = wakeup.wait(until: MachineClock.monotonic + UInt64(backoff.pause(afterConnectionLasting: 0)) * 1_000_000)
        return true
    }
}

internal import VaubanLinuxHost
internal import VaubanRefusal

/// The requests of users that wait for an event, each with a `Wakeup` of its own.
final class WaiterTable: Sendable {
    private let perUserMax: Int
    private let tooMany: String
    private let waiters = ThreadMutex<[UInt32: [ObjectIdentifier: Wakeup]]>([:])

    /// - Parameter tooMany: The text of the refusal if too many requests wait.
    init(perUserMax: Int, tooMany: String) {
        self.perUserMax = perUserMax
        self.tooMany = tooMany
    }

    /// Makes the waiting requests of a user check again.
    func wake(of user: UInt32) { waiters.withLock { for wakeup in $0[user, default: [:]].values { wakeup.signal() } } }

    /// Returns the result of `check` as soon as it is not nil, or the result of `atDeadline` after `time` (nanoseconds). Checks at once,
    /// and after each `wake`. Throws `CallerHungUp` if the connection ends, and a refusal if too many requests of the user wait.
    func wait<Result>(
        of user: UInt32, for time: UInt64, connection: Descriptor?, until check: () throws -> Result?, atDeadline: () throws -> Result
    ) throws -> Result {
        let wakeup = try add(of: user)
        defer { remove(wakeup, of: user) }
        let deadline = MachineClock.monotonic + time
        while true {
            if let result = try check() { return result }
            switch wakeup.wait(until: deadline, connection: connection) {
            case .signaled: continue
            case .deadline: return try atDeadline()
            case .hungUp, .processEnded: throw CallerHungUp()
            }
        }
    }

    private func add(of user: UInt32) throws -> Wakeup {
        let wakeup = try Wakeup()
        try waiters.withLock { waiters in
            guard waiters[user, default: [:]].count < perUserMax else { throw Refusal(.unavailable, tooMany) }
            waiters[user, default: [:]][ObjectIdentifier(wakeup)] = wakeup
        }
        return wakeup
    }

    private func remove(_ wakeup: Wakeup, of user: UInt32) {
        waiters.withLock { waiters in
            waiters[user]?[ObjectIdentifier(wakeup)] = nil
            if waiters[user]?.isEmpty == true { waiters[user] = nil }
        }
    }
}

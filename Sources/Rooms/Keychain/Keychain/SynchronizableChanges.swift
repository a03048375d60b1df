// Who waits for the next change of a synchronizable item (Specs/sync.md, "Following").

internal import VaubanKeychainWire
internal import VaubanLinuxHost
internal import VaubanRefusal

/// Counts the changes of each user's synchronizable items that were not made for another device.
package final class SynchronizableChanges: Sendable {
    /// Where each count begins: no two processes begin alike, so a number of an earlier one is another.
    private let first = Int64(clamping: MachineClock.boot)
    private let counts = ThreadMutex<[UInt32: Int64]>([:])
    private let waiters = ThreadMutex<[UInt32: [ObjectIdentifier: Wakeup]]>([:])

    package init() {}

    /// Returns the number of the last change; it differs after each further one.
    package func number(of user: UInt32) -> Int64 { counts.withLock { $0[user] ?? first } }

    func add(of user: UInt32) {
        counts.withLock { $0[user] = ($0[user] ?? first) &+ 1 }
        waiters.withLock { for wakeup in $0[user, default: [:]].values { wakeup.signal() } }
    }

    func addWaiter(of user: UInt32) throws -> Wakeup {
        let wakeup = try Wakeup()
        try waiters.withLock { waiters in
            guard waiters[user, default: [:]].count < KeychainLimits.changeWaitersMax else {
                throw Refusal(.unavailable, "too many programs wait for changes already")
            }
            waiters[user, default: [:]][ObjectIdentifier(wakeup)] = wakeup
        }
        return wakeup
    }

    func removeWaiter(_ wakeup: Wakeup, of user: UInt32) {
        waiters.withLock { waiters in
            waiters[user]?[ObjectIdentifier(wakeup)] = nil
            if waiters[user]?.isEmpty == true { waiters[user] = nil }
        }
    }
}

/// The request for the number of the last change, which may wait for the next one. It says of no item what it is, and holds no database
/// open.
struct ChangesRequest {
    let services: KeychainServices
    let caller: Caller
    let sink: any ReplySink

    /// Sends the number of the last change; with a number, once it is another, or after some minutes.
    func serve(since number: Int64?) throws {
        try RequestInProgress.throwIfDenied(caller.entitlements)
        try RequestInProgress.throwUnlessForSync(caller)
        guard let number else { return try finish() }
        let changes = services.changes
        let wakeup = try changes.addWaiter(of: caller.user)
        defer { changes.removeWaiter(wakeup, of: caller.user) }
        let deadline = MachineClock.monotonic + KeychainLimits.changeTime
        while changes.number(of: caller.user) == number {
            switch wakeup.wait(until: deadline, connection: sink.connection) {
            case .signalled: continue
            case .deadline: return try finish()
            case .hungUp, .processEnded: throw CallerHungUp()
            }
        }
        try finish()
    }

    private func finish() throws {
        try sink.finish(.sync(.changes(number: services.changes.number(of: caller.user))), value: nil)
    }
}

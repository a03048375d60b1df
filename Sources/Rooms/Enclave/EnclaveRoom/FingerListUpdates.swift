// A change of a user's list of fingers reads the vault from the disk and writes it, and the disk may hang. The thread that reads the
// fingerprint reader's connection serves all users, so it never does that itself.

import Enclave
import Dispatch
import VaubanLinuxHost
internal import VaubanRoomHardening

/// The changed lists of fingers that wait for their users' vaults. Each user has a thread, which handles the lists in the order in which
/// the reader reported them.
package final class FingerListUpdates: Sendable {
    private enum Step: Sendable {
        case list([UInt8])
        case delivery(@Sendable () -> Void)
    }

    private let apply: @Sendable (_ user: UInt32, _ fingers: [UInt8]) -> Void
    /// The steps that have not begun, by user. A thread works on each user that has an entry, even an empty one.
    private let steps = ThreadMutex<[UInt32: [Step]]>([:])
    private let threads: DispatchSemaphore

    /// Creates a queue that calls `apply` with each changed list. `usersMax` limits the number of users on whom it works at once.
    package init(usersMax: Int = EnclaveLimits.fingerListThreadsMax, apply: @escaping @Sendable (UInt32, [UInt8]) -> Void) {
        self.apply = apply
        threads = DispatchSemaphore(value: usersMax)
    }

    /// Queues a changed list and returns. Waits only if `usersMax` other users already have unfinished work.
    package func add(_ fingers: [UInt8], of user: UInt32) {
        let isFirst = steps.withLock { steps in
            let isFirst = steps[user] == nil
            let waiting = (steps[user] ?? []).compactMap { if case .list(let fingers) = $0 { fingers } else { nil } }
            // Of two different lists, at least one is not the enrolled one and ends the enrollment. A third would change nothing, so the
            // queue stays short however long the disk takes.
            if waiting.count < 2, !waiting.contains(fingers) { steps[user, default: []].append(.list(fingers)) }
            return isFirst
        }
        if isFirst { start(user) }
    }

    /// Calls `deliver` once the lists that the reader reported earlier for this user are applied; at once if there are none.
    package func afterUpdates(of user: UInt32, deliver: @escaping @Sendable () -> Void) {
        let isQueued = steps.withLock { steps in
            guard steps[user] != nil else { return false }
            steps[user]?.append(.delivery(deliver))
            return true
        }
        if !isQueued { deliver() }
    }

    private func start(_ user: UInt32) {
        threads.wait()
        HostThread.startOrRun { [self] in
            while let step = next(of: user) {
                switch step {
                case .list(let fingers): apply(user, fingers)
                case .delivery(let deliver): deliver()
                }
            }
            ScratchMemory.scrubStack()
            threads.signal()
        }
    }

    /// Removes and returns the user's next step. Returns nil if there is none; the calling thread then ends, and the next report starts
    /// another.
    private func next(of user: UInt32) -> Step? {
        steps.withLock { steps in
            if steps[user]?.isEmpty == false { return steps[user]?.removeFirst() }
            steps[user] = nil
            return nil
        }
    }
}

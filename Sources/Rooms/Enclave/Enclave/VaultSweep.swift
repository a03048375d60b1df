// What happens to vaults outside any request: time, sleep, screens, a reader that goes. A vault whose disk does not answer must not keep
// the others' keys open.

import Foundation
internal import VaubanLinuxHost

package enum VaultEvent: Hashable, Sendable {
    case timePassed
    case machineSleeps
    case screenLocked
    case screenUnlocked
    case readerIsGone
}

package final class VaultSweep: Sendable {
    private struct Pending: Sendable {
        let event: VaultEvent
        let group: DispatchGroup
    }

    /// What waits for a vault that is busy; a thread works on each that stands here.
    private let pending = ThreadMutex<[UInt32: [Pending]]>([:])

    package init() {}

    /// Tells vaults of an event, those that can be had at once on this thread. One that is busy, perhaps with a disk that does not answer,
    /// hears of it on a thread of its own, in the order of the events. Returns when all have heard of it and `complete` was called with
    /// them, or when the timeout (nanoseconds) is over; what is busy then is completed later.
    package func tell(
        _ event: VaultEvent, to vaults: [Vault], timeout: UInt64 = EnclaveLimits.recallTime, complete: @escaping @Sendable ([Vault]) -> Void
    ) {
        let group = DispatchGroup()
        var told: [Vault] = []
        for vault in vaults {
            if !isPending(vault.user), vault.isFree {
                vault.carryOut(event)
                told.append(vault)
            } else {
                tellLater(event, vault, group, complete)
            }
        }
        complete(told)
        _ = group.wait(timeout: .now() + .nanoseconds(Int(timeout)))
    }

    /// Whether a thread waits for this user's vault.
    package func isPending(_ user: UInt32) -> Bool { pending.withLock { $0[user] != nil } }

    private func tellLater(_ event: VaultEvent, _ vault: Vault, _ group: DispatchGroup, _ complete: @escaping @Sendable ([Vault]) -> Void) {
        let isFirst = pending.withLock { pending in
            let isFirst = pending[vault.user] == nil
            // What waits already is not said twice, so the list stays short however long a disk takes.
            if pending[vault.user]?.last?.event == event { return false }
            group.enter()
            pending[vault.user, default: []].append(Pending(event: event, group: group))
            return isFirst
        }
        guard isFirst else { return }
        let thread = Thread { [self] in
            var isLast = false
            while !isLast, let next = pending.withLock({ $0[vault.user]?.first }) {
                vault.carryOut(next.event)
                // Before it is completed: from here on the vault is one that can be had.
                isLast = pending.withLock { pending in
                    pending[vault.user]?.removeFirst()
                    guard pending[vault.user]?.isEmpty == true else { return false }
                    pending[vault.user] = nil
                    return true
                }
                complete([vault])
                next.group.leave()
            }
        }
        thread.stackSize = 512 * 1024
        thread.start()
    }
}

extension Vault {
    /// Whether it can be had now, without waiting for another thread or for the disk.
    fileprivate var isFree: Bool { state.withLockIfAvailable { !$0.isPassing } ?? false }

    fileprivate func carryOut(_ event: VaultEvent) {
        switch event {
        case .timePassed: _ = settle()
        case .machineSleeps: machineSleeps()
        case .screenLocked: screenLocked()
        case .screenUnlocked: screenUnlocked()
        case .readerIsGone: readerIsGone()
        }
    }
}

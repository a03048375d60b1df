// Events that reach all vaults outside any request: time, sleep, screen locks, a reader that disconnects. A vault whose disk hangs must not
// keep other vaults unlocked.

import Dispatch
internal import VaubanLinuxHost

package enum VaultEvent: Hashable, Sendable {
    case timePassed
    case machineSleeps
    case screenLocked
    case screenUnlocked
    /// The end of a screen lock may have been missed.
    case screenIsUnknown
    case readerIsGone
}

package final class VaultSweep: Sendable {
    /// A vault that has handled an event, and what is to be done for it outside the vault.
    package typealias Handled = (vault: Vault, effects: VaultEffects)

    private struct Pending: Sendable {
        let event: VaultEvent
        let group: DispatchGroup
    }

    /// Events for vaults that are busy. One thread works on each user in this list.
    private let pending = ThreadMutex<[UInt32: [Pending]]>([:])

    package init() {}

    /// Delivers an event to vaults: on this thread to those that are free, and on a separate thread, in the order of the events, to one
    /// that is busy, perhaps because its disk hangs. Returns after all have handled the event and `complete` was called with them, or after
    /// `timeout` (nanoseconds); vaults that are still busy are then completed later.
    package func deliver(
        _ event: VaultEvent, to vaults: [Vault], timeout: UInt64 = EnclaveLimits.recallTimeout,
        complete: @escaping @Sendable ([Handled]) -> Void
    ) {
        let group = DispatchGroup()
        var delivered: [Handled] = []
        for vault in vaults {
            if !isPending(vault.user), let effects = vault.handleIfFree(event) {
                delivered.append((vault: vault, effects: effects))
            } else {
                deliverLater(event, vault: vault, group: group, complete: complete)
            }
        }
        complete(delivered)
        _ = group.wait(timeout: .now() + .nanoseconds(Int(timeout)))
    }

    /// Returns whether events wait for this user's vault.
    package func isPending(_ user: UInt32) -> Bool { pending.withLock { $0[user] != nil } }

    private func deliverLater(
        _ event: VaultEvent, vault: Vault, group: DispatchGroup, complete: @escaping @Sendable ([Handled]) -> Void
    ) {
        let isFirst = pending.withLock { pending in
            let isFirst = pending[vault.user] == nil
            // An event equal to the last waiting one is dropped, which bounds the list however long a disk hangs.
            if pending[vault.user]?.last?.event == event { return false }
            group.enter()
            pending[vault.user, default: []].append(Pending(event: event, group: group))
            return isFirst
        }
        guard isFirst else { return }
        HostThread.startOrRun { [self] in
            var isLast = false
            while !isLast, let next = pending.withLock({ $0[vault.user]?.first }) {
                let effects = vault.handleInTurn(next.event)
                // Done before the completion, since the vault counts as free from here on.
                isLast = pending.withLock { pending in
                    pending[vault.user]?.removeFirst()
                    guard pending[vault.user]?.isEmpty == true else { return false }
                    pending[vault.user] = nil
                    return true
                }
                complete([(vault: vault, effects: effects)])
                next.group.leave()
            }
        }
    }
}

extension Vault {
    /// Handles an event and takes the effects, all under one lock, so that nothing else gets the vault in between. Returns nil if that must
    /// wait for another thread or for the disk.
    fileprivate func handleIfFree(_ event: VaultEvent) -> VaultEffects? {
        let effects = state.withLockIfAvailable { state -> VaultEffects? in
            state.retriesLoading ? nil : handle(event, &state)
        }
        return effects ?? nil
    }

    fileprivate func handleInTurn(_ event: VaultEvent) -> VaultEffects { state.withLock { handle(event, &$0) } }

    private func handle(_ event: VaultEvent, _ state: inout VaultState) -> VaultEffects {
        switch event {
        // Taking the effects applies the expirations.
        case .timePassed: break
        case .machineSleeps: handleSleep(&state)
        case .screenLocked: handleScreenLock(&state)
        case .screenUnlocked: handleScreenUnlock(&state)
        case .screenIsUnknown: forgetScreenLock(&state)
        case .readerIsGone: state.suspended = nil
        }
        return takeEffects(&state)
    }
}

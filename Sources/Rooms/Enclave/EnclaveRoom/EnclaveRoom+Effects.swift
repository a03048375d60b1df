// Applies the effects of a vault's expirations outside the vault: recalls leased keys, and sends the reader the key for unlocking.

import Enclave
import EnclaveWire
import Logging
import VaubanLinuxHost
internal import VaubanRoomHardening

extension EnclaveRoom {
    /// Applies a vault's expirations and their effects.
    func applyEffects(of vault: Vault) { applyEffects(of: [vault]) }

    /// Does the same for many vaults. First erases all keys here, then recalls all leases together, so that a keychaind that hangs causes
    /// one timeout, whatever the number of users. Watchers and the reader follow: a reader that hangs delays no recall, and a watcher that
    /// asks keychaind at once finds what the notice is about.
    func applyEffects(of vaults: [Vault]) { apply(vaults.map { (vault: $0, effects: $0.takeEffects()) }) }

    private func apply(_ handled: [VaultSweep.Handled]) {
        var recalls: [LeaseRecall] = []
        var ended: [(Vault, RecalledEpoch)] = []
        var isDueSooner = false
        for (vault, effects) in handled {
            if let due = effects.nextExpiration { isDueSooner = timer.isLater(than: due) || isDueSooner }
            if let epoch = effects.ended {
                ended.append((vault, epoch))
                recalls.append(LeaseRecall(user: vault.user, epoch: epoch.epoch, everything: epoch.everything))
                prompts.closeAll(of: vault.user)
                authorizations.end(of: vault.user)
                connectionKeys.end(of: vault.user, through: epoch.epoch)
                keyConnections.erase(vault.user, everything: epoch.everything)
            }
        }
        if !leases.recall(recalls) { log.warning("keychaind did not erase its leased keys in time and was disconnected") }
        // A recall that returned and a connection that ended both end the lease.
        for (vault, epoch) in ended { vault.confirmRecall(of: epoch) }
        for (vault, effects) in handled {
            if effects.environmentChanged { environmentNotifier.notify(vault.user) }
            if effects.readerMustErase { reader.drop(vault.user) }
            // Taken only now: an unlock during the recall has discarded it.
            guard effects.readerMustHold, let held = vault.takeHandOver() else { continue }
            if !reader.hold(vault.user, held) { vault.handleReaderDisconnect() }
        }
        // A lock wraps keys for the reader, and this thread may already have replied and be waiting for the next request.
        if !ended.isEmpty { ScratchMemory.scrubStack() }
        if isDueSooner { reschedule() }
    }

    /// Notifies watchers if the user's environment changed.
    func notifyEnvironmentChange(of vault: Vault) { if vault.takeEnvironmentChange() { environmentNotifier.notify(vault.user) } }

    /// Delivers an event to every vault and applies its effects. Waits at most `timeout` (nanoseconds) for busy vaults; a vault whose disk
    /// hangs follows later.
    func sweep(_ event: VaultEvent, timeout: UInt64 = EnclaveLimits.recallTimeout) {
        vaultSweep.deliver(event, to: loadedVaults, timeout: timeout) { [self] in complete($0) }
    }

    /// Does the same for one user, if their vault is loaded.
    func sweep(_ event: VaultEvent, of user: UInt32) {
        if let vault = knownVault(of: user) { vaultSweep.deliver(event, to: [vault]) { [self] in complete($0) } }
    }

    /// Applies the effects of an event, on the thread that delivered it, which may have been started for that.
    private func complete(_ handled: [VaultSweep.Handled]) {
        apply(handled)
        ScratchMemory.scrubStack()
    }

    /// Sets the timer to the earliest known expiration. Waits for no vault's lock; a busy vault is scheduled again when it is free.
    func reschedule() { timer.set(at: loadedVaults.filter { !vaultSweep.isPending($0.user) }.compactMap(\.nextExpiration).min()) }

    /// Starts the thread that locks vaults without a request: after a grace period, after the idle timeout, after a wake, and after reports
    /// of the fingerprint reader.
    func startExpirationThread(_ timer: DueTimer) {
        HostThread.startForLife { [self] in
            while true {
                timer.wait()
                sweep(.timePassed, timeout: 0)
                reschedule()
                ScratchMemory.scrubStack()
            }
        }
    }
}

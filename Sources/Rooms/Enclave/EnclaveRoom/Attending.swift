// What a vault's own time brings about: keys that it dropped are called back, and what a finger may bring back is handed
// to the reader.

import Enclave
import EnclaveWire
import Foundation
import Logging
import VaubanLinuxHost
internal import VaubanRoomHardening

extension EnclaveRoom {
    /// Lets time do its work on a vault, and completes what was ended there.
    func attend(to vault: Vault) { attend(to: [vault]) }

    /// The same for many in one sweep: first every key here is erased, then everything lent is asked back together, so
    /// that a keychaind that hangs costs the time of one recall, however many people there are.
    func attend(to vaults: [Vault]) {
        var recalls: [LeaseRecall] = []
        var ended: [(Vault, RecalledEpoch)] = []
        var isDueSooner = false
        for vault in vaults {
            let found = vault.attend()
            if let due = found.due { isDueSooner = timer.isLater(than: due) || isDueSooner }
            if let epoch = found.ended {
                ended.append((vault, epoch))
                recalls.append(LeaseRecall(user: vault.user, epoch: epoch.epoch, everything: epoch.everything))
                attention.closed(vault.user)
                authorizations.end(of: vault.user)
                keyLines.erase(vault.user, everything: epoch.everything)
            }
            if found.environmentHasChanged { changes.tell(of: vault.user) }
            if found.readerIsToDrop { reader.drop(vault.user) }
            if let held = found.handOver, !reader.hold(vault.user, held) { vault.readerIsGone() }
        }
        if !leases.recall(recalls) { log.warning("keychaind did not give back its keys in time and was cut off") }
        // Given back, or cut off from: both end what was lent.
        for (vault, epoch) in ended { vault.wasCalledBack(epoch) }
        if isDueSooner { reschedule() }
    }

    /// Where what the user could answer with is another than before, whoever watches hears of it.
    func tellChange(of vault: Vault) { if vault.takeEnvironmentChange() { changes.tell(of: vault.user) } }

    /// Tells every vault of an event and completes what it ended. A vault whose disk does not answer is completed when it can be.
    /// Waits for such vaults for at most `timeout` (nanoseconds).
    func sweep(_ event: VaultEvent, timeout: UInt64 = EnclaveLimits.recallTime) {
        sweeping.tell(event, to: loadedVaults, timeout: timeout) { [self] in attend(to: $0) }
    }

    /// The same for one user, if anything of theirs may be open.
    func sweep(_ event: VaultEvent, of user: UInt32) {
        if let vault = knownVault(of: user) { sweeping.tell(event, to: [vault]) { [self] in attend(to: $0) } }
    }

    /// Sets the timer for the vault that is due first, as each said last: whoever sets it waits for nobody's vault. One that is busy
    /// is looked at again when it can be had.
    func reschedule() { timer.set(at: loadedVaults.filter { !sweeping.isPending($0.user) }.compactMap(\.due).min()) }

    /// The thread on which vaults close by themselves: after a grace, after idleness, when the machine wakes, and
    /// when the reader reported something.
    func startAttending(_ timer: DueTimer) {
        let thread = Thread { [self] in
            while true {
                timer.wait()
                sweep(.timePassed, timeout: 0)
                reschedule()
                ScratchMemory.scrubStack()
            }
        }
        thread.stackSize = 512 * 1024
        thread.start()
    }
}

// The line of the watcher, who tells what happens to the machine. All that it can bring about is that something locks.

import Enclave
import EnclaveWire
import Logging
internal import Synchronization
import VaubanAccessPolicy
import VaubanDER
import VaubanLinuxHost

final class WatcherLine: Sendable {
    private struct State {
        var channel: Channel?
        var isWatching = false
    }

    private let state = Mutex(State())

    /// Whether somebody watches a login manager now, so that sleep locks before it begins.
    var isWatching: Bool { state.withLock { $0.isWatching } }

    /// Carries out one event after the other and answers each when what follows from it is complete.
    func serve(_ channel: Channel, in room: EnclaveRoom) {
        let old = state.withLock { state in
            defer { state = State(channel: channel) }
            return state.channel
        }
        old?.shutDown()
        defer { state.withLock { if $0.channel === channel { $0 = State() } } }
        while let message = try? channel.receive(.idle) {
            guard message.secret == nil, message.descriptors.isEmpty, let event = try? DeviceEvent(derBytes: message.header) else {
                room.log.warning("the watcher said what is not an event; its line ends")
                return
            }
            carryOut(event.kind, over: channel, in: room)
            guard let done = try? DeviceEventDone(number: event.number).encoded(), (try? channel.send(header: done)) != nil else { return }
        }
    }

    private func carryOut(_ event: DeviceEvent.Kind, over channel: Channel, in room: EnclaveRoom) {
        switch event {
        case .watching, .blind:
            // A line that was replaced meanwhile says nothing about what its successor sees.
            state.withLock { if $0.channel === channel { $0.isWatching = event == .watching } }
        case .sleeping:
            room.lockVaults(because: .slept) { _ in true }
        case .screenLocked(let person):
            room.lockVaults(because: .screenLocked) { $0.person == person && $0.locksWithScreen }
        case .woke, .screenUnlocked:
            // Nothing opens without the person.
            break
        }
    }
}

extension EnclaveRoom {
    /// Locks these people's vaults in one sweep: first every key here is erased, then everything lent is asked back together,
    /// so that a keychaind that hangs costs the time of one recall, however many people there are.
    fileprivate func lockVaults(because cause: DeviceStatus.Cause, where isMeant: (Vault) -> Bool) {
        var recalls: [LeaseRecall] = []
        // Who was never looked at has no open key; and where there is no passcode, nothing could unlock again.
        for vault in loadedVaults where isMeant(vault) && vault.status.passcodeIsSet {
            do throws(Refusal) {
                recalls.append(LeaseRecall(person: vault.person, epoch: try vault.lock(because: cause), everything: false))
            } catch {
                log.warning("a vault could not be locked: \(error)")
            }
        }
        if !leases.recall(recalls) { log.warning("keychaind did not give back its keys in time and was cut off") }
    }
}

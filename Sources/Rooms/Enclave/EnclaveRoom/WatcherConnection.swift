// The standing connection of the watcher, which reports device events. An event can only lock, or cancel a lock that waits for its grace
// period.

import Enclave
import EnclaveWire
import Logging
import VaubanDER
import VaubanLinuxHost
internal import VaubanRoomHardening

final class WatcherConnection: Sendable {
    private struct State {
        var channel: Channel?
        var isWatching = false
    }

    private let state = ThreadMutex(State())

    /// Whether the watcher follows a login manager, so that sleep locks before it begins.
    var isWatching: Bool { state.withLock { $0.isWatching } }

    /// Handles events one by one, and replies to each when its effects are complete.
    func serve(_ channel: Channel, in room: EnclaveRoom) {
        let old = state.withLock { state in
            defer { state = State(channel: channel) }
            return state.channel
        }
        old?.shutDown()
        defer {
            state.withLock { if $0.channel === channel { $0 = State() } }
            // Without a connection, the end of a screen lock is not reported.
            room.sweep(.screenIsUnknown, timeout: 0)
        }
        while let message = try? channel.receive(.idle) {
            guard message.secret == nil, message.descriptors.isEmpty, let event = try? DeviceEvent(derBytes: message.header) else {
                room.log.warning("the watcher sent something that is not an event; its connection is ended")
                return
            }
            handle(event.kind, over: channel, in: room)
            ScratchMemory.scrubStack()
            guard let done = try? DeviceEventDone(number: event.number).encoded(), (try? channel.send(header: done)) != nil else { return }
        }
    }

    private func handle(_ event: DeviceEvent.Kind, over channel: Channel, in room: EnclaveRoom) {
        switch event {
        case .watching, .blind:
            // A connection that was replaced meanwhile does not report what its successor observes.
            state.withLock { if $0.channel === channel { $0.isWatching = event == .watching } }
            // Until now the end of a screen lock could be missed. The sweep that follows waits for this one too.
            room.sweep(.screenIsUnknown, timeout: 0)
        case .sleeping:
            return room.sweep(.machineSleeps)
        // If the user's vault is not loaded, nothing is unlocked.
        case .screenLocked(let user):
            room.sweep(.screenLocked, of: user)
        case .screenUnlocked(let user):
            // Unlocks nothing; it only cancels a lock that waits for its grace period.
            room.sweep(.screenUnlocked, of: user)
        case .woke:
            break
        }
        // One more sweep, which is complete before the reply. Also done after a wake, since the machine slept.
        room.sweep(.timePassed)
    }
}

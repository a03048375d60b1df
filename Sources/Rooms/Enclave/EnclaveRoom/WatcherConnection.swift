// The line of the watcher, who tells what happens to the machine. All that it can bring about is that something locks, or
// that a lock which only waits for its grace does not come.

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
            ScratchMemory.scrubStack()
            guard let done = try? DeviceEventDone(number: event.number).encoded(), (try? channel.send(header: done)) != nil else { return }
        }
    }

    private func carryOut(_ event: DeviceEvent.Kind, over channel: Channel, in room: EnclaveRoom) {
        switch event {
        case .watching, .blind:
            // A line that was replaced meanwhile says nothing about what its successor sees.
            state.withLock { if $0.channel === channel { $0.isWatching = event == .watching } }
        case .sleeping:
            return room.sweep(.machineSleeps)
        // Who was not looked at since the start has nothing open that could close.
        case .screenLocked(let user):
            room.sweep(.screenLocked, of: user)
        case .screenUnlocked(let user):
            // Nothing opens without the user; a lock that only waited for its grace does not come.
            room.sweep(.screenUnlocked, of: user)
        case .woke:
            break
        }
        // In one sweep, and complete before it is answered: after a wake, too, since the machine slept.
        room.sweep(.timePassed)
    }
}

// The connection to the enclave, reestablished whenever it is lost. Events without a reply are sent again on the next one.

internal import EnclaveWire
internal import Logging
internal import Synchronization
internal import VaubanDER
internal import VaubanLinuxHost

/// One thread reports events, another serves the connection.
final class DeviceConnection: Sendable {
    private struct State {
        var channel: Channel?
        var number: Int64 = 0
        /// Whether a login manager is watched; reported first on every connection.
        var isWatching = false
        /// The events without a reply, in order.
        var unanswered: [DeviceEvent] = []

        mutating func event(_ kind: DeviceEvent.Kind) -> DeviceEvent {
            number += 1
            return DeviceEvent(number: number, kind)
        }
    }

    private let enclave: ServerAddress
    private let log: Logger
    private let state = Mutex(State())
    private let answered: Wakeup

    init(enclave: ServerAddress, log: Logger) throws(SystemError) {
        self.enclave = enclave
        self.log = log
        answered = try Wakeup()
    }

    /// Reports an event now, or as soon as the enclave can be reached.
    func report(_ kind: DeviceEvent.Kind) { _ = add(kind) }

    /// Reports an event and waits for the reply until the deadline (monotonic clock). Returns false if none came.
    func report(_ kind: DeviceEvent.Kind, until deadline: UInt64) -> Bool {
        let number = add(kind)
        return answered.wait(until: deadline) { state.withLock { !$0.unanswered.contains { $0.number == number } } }
    }

    private func add(_ kind: DeviceEvent.Kind) -> Int64 {
        state.withLock { state in
            let event = state.event(kind)
            switch kind {
            case .watching, .blind: state.isWatching = kind == .watching
            case .sleeping, .woke, .screenLocked, .screenUnlocked:
                // While nothing is being sent, an older equal event is redundant; without it the list stays short.
                if state.channel == nil { state.unanswered.removeAll { $0.kind == kind } }
                state.unanswered.append(event)
            }
            if state.unanswered.count > WatcherLimits.unansweredMax { state.channel?.shutDown() }
            Self.send(event, over: state.channel)
            return event.number
        }
    }

    /// Sends an event. A failure shuts the connection down; the receiving thread detects that and establishes the next one.
    private static func send(_ event: DeviceEvent, over channel: Channel?) {
        guard let channel, let header = try? event.encoded() else { return }
        _ = try? channel.send(header: header)
    }

    /// Serves until the process ends, and connects again whenever a connection is lost.
    func run() -> Never {
        StandingConnection(enclave, role: EnclaveRole.watcher.rawValue).keep(
            serve: { try serve($0) }, lost: { log.notice("the connection to the enclave is lost", metadata: ["why": "\($0)"]) })
    }

    private func serve(_ channel: Channel) throws -> Never {
        log.info("the connection to the enclave is open")
        state.withLock { state in
            var kept: [DeviceEvent] = []
            for event in state.unanswered.reversed() where !kept.contains(where: { $0.kind == event.kind }) { kept.insert(event, at: 0) }
            state.unanswered = kept
            state.channel = channel
            Self.send(state.event(state.isWatching ? .watching : .blind), over: channel)
            for event in kept { Self.send(event, over: channel) }
        }
        defer { state.withLock { $0.channel = nil } }
        while true {
            let message = try channel.receive(.idle)
            guard message.secret == nil, message.descriptors.isEmpty else {
                throw ChannelError.malformed("a reply carries a secret or a descriptor")
            }
            let done = try DeviceEventDone(derBytes: message.header)
            state.withLock { $0.unanswered.removeAll { $0.number == done.number } }
            answered.signal()
        }
    }
}

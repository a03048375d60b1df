import Glibc
internal import VaubanLinuxHost

/// The connection to the bus, shared by the bus thread and the threads of calls, which send their replies themselves. This spares waking
/// another thread for each reply.
final class SharedBus: Sendable {
    private struct State {
        let bus: BusConnection
        /// Why the connection is unusable. An error here ends the bus thread.
        var failure: SystemError?
    }

    private let state: ThreadMutex<State>
    /// Wakes the bus thread, which waits without holding the lock.
    private let wakeup: Wakeup

    init(_ bus: sending BusConnection) throws(SystemError) {
        wakeup = try Wakeup()
        state = ThreadMutex(State(bus: bus))
    }

    /// Sends a message. If the socket does not accept all of it, the bus thread sends the rest. A message that cannot be sent is dropped,
    /// since it must not end the service for all clients.
    func send(_ outgoing: BusOutgoing) {
        let mustWake = state.withLock { state in
            do throws(SystemError) { try state.bus.send(outgoing) } catch { printToStandardError("A message was not sent: \(error).") }
            do throws(SystemError) { return try state.bus.hasUnsent } catch {
                state.failure = error
                return true
            }
        }
        if mustWake { wakeup.signal() }
    }

    /// Returns the next event, or `nothing` if there is none at the moment.
    func next() throws(SystemError) -> BusConnection.Event {
        try state.withLock { state throws(SystemError) in try state.bus.next() }
    }

    func clientProcess(_ name: String) -> BusProcess? { state.withLock { $0.bus.clientProcess(name) } }

    /// Has the bus thread release the memory that a large call and its reply took. sd-bus keeps a reply until the socket accepts it.
    func endLargeCall() {
        state.withLock { $0.bus.hasEndedLargeCall = true }
        wakeup.signal()
    }

    /// Waits until the bus has input, or accepts what is unsent.
    func wait() throws(SystemError) {
        let releases = try state.withLock { state throws(SystemError) -> Bool in
            let now = MachineClock.monotonic
            // With a pause, so that a client that repeats large calls does not stop this thread at each.
            guard state.bus.hasEndedLargeCall, try !state.bus.hasUnsent, now >= state.bus.nextRelease else { return false }
            state.bus.hasEndedLargeCall = false
            state.bus.nextRelease = now + SecretServiceLimits.releasePause
            return true
        }
        if releases {
            MachineMemory.releaseFreePages()
            // By now also the first encrypted sessions and rare calls have mapped pages that later calls do not need.
            MachineMemory.releaseStartupPages()
        }
        let wait = try state.withLock { state throws(SystemError) in try state.bus.nextWait }
        if wait.untilSignal(on: wakeup.descriptor.number) { wakeup.clear() }
        if let failure = state.withLock({ $0.failure }) { throw failure }
    }
}

/// The loop of the bus thread. It queues calls and never waits for a keychain or a user.
struct BusLoop {
    private let bus: SharedBus
    private let objects: SecretServiceObjects
    private let queue: CallQueue
    private var clients: [String: BusClient] = [:]

    init(_ bus: sending BusConnection, _ service: Service, isShared: Bool) throws(SystemError) {
        let bus = try SharedBus(bus)
        self.bus = bus
        let bytes = CallBytes()
        let send: @Sendable (BusOutgoing) -> Void = { outgoing in
            bytes.sends(outgoing)
            bus.send(outgoing)
        }
        objects = SecretServiceObjects(service, isShared: isShared, send: send)
        queue = CallQueue(objects, bytes, endLargeCall: { bus.endLargeCall() }, send: send)
    }

    /// Serves until the bus closes the connection, and throws the error with which it closed.
    mutating func run() throws(SystemError) -> Never {
        while true {
            try handleEvents()
            try bus.wait()
        }
    }

    private mutating func handleEvents() throws(SystemError) {
        while true {
            switch try bus.next() {
            case .nothing: return
            case .call(let call): queue.add(call, from: client(call.sender))
            case .lost(SecretServiceProgram.name):
                printToStandardError("The bus took the name \(SecretServiceProgram.name) away. See vauban doctor.")
                exit(53)
            case .lost: continue
            case .gone(let name):
                guard let client = clients.removeValue(forKey: name) else { continue }
                queue.end(of: client)
                objects.end(of: client)
            }
        }
    }

    private mutating func client(_ name: String) -> BusClient {
        if let known = clients[name] { return known }
        let client = BusClient(name: name, process: bus.clientProcess(name))
        clients[name] = client
        objects.listeners.add(client)
        return client
    }
}

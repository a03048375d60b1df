internal import VaubanAuthenticationClient
internal import VaubanLinuxHost

/// The clients that have read a property that the lock changes, and what they know of the lock. There is a connection for notices of locks
/// and unlocks (Specs/environment.md) only while there is such a client.
final class LockReaders: Sendable {
    private struct State {
        var clients: Set<String> = []
        var listener: EnvironmentListener?
        /// The number of the last listener.
        var watch: UInt64 = 0
        /// How many changes were sent to clients.
        var changes: UInt64 = 0
    }

    /// The lock state that clients know, and the listener during which it was read. It says nothing about the clients of a later listener.
    private struct Known: Sendable {
        let watch: UInt64
        let isLocked: Bool
    }

    private let state = ThreadMutex(State())
    /// Held while the lock state is read and sent, so that states are sent in the order in which they were read.
    private let known = ThreadMutex<Known?>(nil)
    private let service: Service

    init(_ service: Service) { self.service = service }

    /// How many changes were sent to clients, including one that is being sent now.
    var changes: UInt64 { state.withLock { $0.changes } }

    /// The lock state that was last sent to clients, or would have been if there had been any; nil if unknown.
    var reportedState: Bool? { known.withLock { $0?.isLocked } }

    /// Returns the lock state for a reply: the last one that was sent to clients, since they are notified only when it changes. If none was
    /// sent, returns this one.
    func lastReported(else isLocked: Bool) -> Bool {
        known.withLock { known in
            let current = self.watch
            if let known, known.watch == current { return known.isLocked }
            known = current.map { Known(watch: $0, isLocked: isLocked) }
            return isLocked
        }
    }

    /// The number of the listener; nil if there is none.
    private var watch: UInt64? { state.withLock { state in state.listener == nil ? nil : state.watch } }

    /// Adds a client, and starts the listener, which calls `onChange`, with the first one. Returns whether the client is new. If the system
    /// has no thread for the listener, the client is not added, and its next read tries again.
    func add(_ client: BusClient, onChange: @escaping @Sendable (Bool) -> Bool) -> Bool {
        guard !state.withLock({ $0.clients.contains(client.name) }) else { return false }
        let service = service
        guard let listener = try? EnvironmentListener(service: { service }, onChange: onChange) else { return false }
        let isAdded = state.withLock { state -> Bool in
            if state.listener == nil {
                // Started before it is stored, so that no other client relies on a listener that could not start.
                guard (try? listener.start()) != nil else { return false }
                state.listener = listener
                state.watch += 1
            }
            return state.clients.insert(client.name).inserted
        }
        // The client may have left meanwhile, and nothing would remove it later.
        if client.cancellation.isCancelled { end(of: client.name) }
        return isAdded
    }

    /// Removes a client that left the bus. Does not wait for a change that is just being sent.
    func end(of client: String) {
        let listener: EnvironmentListener? = state.withLock { state in
            state.clients.remove(client)
            guard state.clients.isEmpty else { return nil }
            defer { state.listener = nil }
            return state.listener
        }
        listener?.end()
    }

    /// Reads the lock state, and sends it if clients know another one. If it is unknown what they know, sends it only if `isChanged`.
    /// `read` returns nil if the state cannot be read at the moment.
    func update(isChanged: Bool, read: () -> Bool?, notify: (Bool) -> Void) -> (wasRead: Bool, wasNotified: Bool) {
        known.withLock { known -> (wasRead: Bool, wasNotified: Bool) in
            guard let isLocked = read() else { return (false, false) }
            let current = self.watch
            let last = known?.watch == current ? known?.isLocked : nil
            known = current.map { Known(watch: $0, isLocked: isLocked) }
            guard last.map({ $0 != isLocked }) ?? isChanged else { return (true, false) }
            // Count the change before sending the signals, so that a reply that began earlier is made again.
            self.state.withLock { $0.changes += 1 }
            notify(isLocked)
            return (true, true)
        }
    }
}

/// Cancels a running call from another thread: shuts its connection down, which every room behind it notices at once.
package final class CallCancellation: Sendable {
    private let state = ThreadMutex<(channel: Channel?, isCancelled: Bool)>((nil, false))

    package init() {}

    package var isCancelled: Bool { state.withLock { $0.isCancelled } }

    package func cancel() {
        state.withLock { state in
            state.isCancelled = true
            // Under the lock: once `finish` has returned, another call may use the connection.
            state.channel?.shutDown()
        }
    }

    /// Sets the connection of the call to cancel.
    package func watch(_ channel: Channel) {
        state.withLock { state in
            state.channel = channel
            if state.isCancelled { channel.shutDown() }
        }
    }

    /// Forgets the connection before it is given back. Returns false if it was shut down and is of no further use.
    package func finish() -> Bool {
        state.withLock { state in
            state.channel = nil
            return !state.isCancelled
        }
    }
}

/// Cancels a running call from another thread by shutting down its connection, which every room behind it notices at once.
package final class CallCancellation: Sendable {
    private let state = ThreadMutex<(channel: Channel?, isCancelled: Bool)>((nil, false))

    package init() {}

    package var isCancelled: Bool { state.withLock { $0.isCancelled } }

    package func cancel() {
        state.withLock { state in
            state.isCancelled = true
            // Done under the lock, since another call may use the connection once `finish` has returned.
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

    /// Releases the connection before it is returned to its pool. Returns false if it was shut down and cannot be used again.
    package func finish() -> Bool {
        state.withLock { state in
            state.channel = nil
            return !state.isCancelled
        }
    }
}

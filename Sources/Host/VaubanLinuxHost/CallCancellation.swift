/// Ends one running call from another thread: its connection is shut down, which every room behind it sees at once.
package final class CallCancellation: Sendable {
    private let state = ThreadMutex<(channel: Channel?, isCancelled: Bool)>((nil, false))

    package init() {}

    package var isCancelled: Bool { state.withLock { $0.isCancelled } }

    package func cancel() {
        state.withLock { state in
            state.isCancelled = true
            // Under the lock: once `finish` has returned, the connection may be another call's.
            state.channel?.shutDown()
        }
    }

    /// Names the connection of the call that this ends.
    package func watch(_ channel: Channel) {
        state.withLock { state in
            state.channel = channel
            if state.isCancelled { channel.shutDown() }
        }
    }

    /// Forgets the connection, before it is given back. False where it was ended, and is of no use to anybody any more.
    package func finish() -> Bool {
        state.withLock { state in
            state.channel = nil
            return !state.isCancelled
        }
    }
}

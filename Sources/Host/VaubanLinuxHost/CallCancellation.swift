internal import Synchronization

/// Ends one running call from another thread: its connection is shut down, which every room behind it sees at once.
package final class CallCancellation: Sendable {
    private let state = Mutex<(channel: Channel?, isCancelled: Bool)>((nil, false))

    package init() {}

    package var isCancelled: Bool { state.withLock { $0.isCancelled } }

    package func cancel() {
        let channel = state.withLock { state in
            state.isCancelled = true
            return state.channel
        }
        channel?.shutDown()
    }

    /// Names the connection of the call that this ends.
    package func watch(_ channel: Channel) {
        let isCancelled = state.withLock { state in
            state.channel = channel
            return state.isCancelled
        }
        if isCancelled { channel.shutDown() }
    }
}

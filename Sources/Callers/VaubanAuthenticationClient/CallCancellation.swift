internal import Synchronization
import VaubanLinuxHost

/// Ends one running call from another thread: its connection is shut down, which authd and the enclave see at once.
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
    func watch(_ channel: Channel) {
        state.withLock { $0.channel = channel }
    }
}

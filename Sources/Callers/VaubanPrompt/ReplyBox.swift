import Synchronization
import VaubanAuthenticationClient
import VaubanLinuxHost
import VaubanSecretBytes

/// The user's response, passed from the thread that draws to the thread that waits for it.
final class ReplyBox: Sendable {
    private struct Reply: ~Copyable {
        let request: Int
        var response: PromptResponse
    }

    private let wakeup: Wakeup
    private let reply = Mutex<Reply?>(nil)

    init() throws(SystemError) { wakeup = try Wakeup() }

    /// A descriptor that is readable while there is a reply.
    var descriptor: Descriptor { wakeup.descriptor }

    func put(_ response: consuming PromptResponse, to request: Int) {
        // Passed through an optional, since a closure cannot consume what it captures.
        var handed: Reply? = Reply(request: request, response: response)
        reply.withLock { $0 = handed.take() }
        wakeup.signal()
    }

    /// Returns the reply to this prompt, if there is one. Discards a reply to another prompt.
    func take(_ request: Int) -> PromptResponse? {
        wakeup.clear()
        var taken: Reply?
        reply.withLock { taken = $0.take() }
        guard let reply = taken.take(), reply.request == request else { return nil }
        return reply.response
    }
}

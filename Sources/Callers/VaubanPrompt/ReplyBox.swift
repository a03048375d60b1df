import Glibc
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

    /// A descriptor that is readable while there is a reply.
    let descriptor: Descriptor
    private let bell: Descriptor
    private let reply = Mutex<Reply?>(nil)

    init() throws(SystemError) {
        var ends: [Int32] = [0, 0]
        try SystemError.check(pipe(&ends), "make a pipe")
        for end in ends {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
        descriptor = Descriptor(ends[0])
        bell = Descriptor(ends[1])
    }

    func put(_ response: consuming PromptResponse, to request: Int) {
        // Passed through an optional, since a closure cannot consume what it captures.
        var handed: Reply? = Reply(request: request, response: response)
        reply.withLock { $0 = handed.take() }
        var ring: UInt8 = 0
        _ = write(bell.number, &ring, 1)
    }

    /// Returns the reply to this prompt, if there is one. Discards a reply to another prompt.
    func take(_ request: Int) -> PromptResponse? {
        var rings = [UInt8](repeating: 0, count: 16)
        while read(descriptor.number, &rings, rings.count) > 0 {}
        var taken: Reply?
        reply.withLock { taken = $0.take() }
        guard let reply = taken.take(), reply.request == request else { return nil }
        return reply.response
    }
}

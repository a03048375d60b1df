import Glibc
internal import VaubanLinuxHost
internal import VaubanRoomHardening
internal import VaubanSSHWire
internal import VaubanSecretBytes

/// One client's connection: the message being read, and the session behind it.
///
/// `@unchecked Sendable`: the listener's thread reads until a request is complete, then passes the connection to one other thread, which
/// returns it. The two threads share only the cancellation, which has its own lock.
final class AgentConnection: @unchecked Sendable {
    enum Reading {
        case more
        case message
        case ended
    }

    let socket: Descriptor
    let handler: AgentRequestHandler
    private let cancellation = CallCancellation()
    /// A message may contain a private key, so secret memory holds it from its first byte. The first four bytes are its length.
    private var buffer = SecretBytes(count: 4) { _ in }
    private var filled = 0
    private var wanted = 4

    init(_ socket: Descriptor, _ handler: AgentRequestHandler) {
        self.socket = socket
        self.handler = handler
    }

    /// The process that connected.
    var process: Int32 { handler.requester.process }
    var isCancelled: Bool { cancellation.isCancelled }
    /// Cancels the request, since its client has disconnected.
    func cancel() {
        cancellation.cancel()
        handler.upstream?.end()
    }

    /// Reads the available bytes of the next message, and none of the message after it.
    func read() -> Reading {
        while true {
            if filled == wanted {
                guard wanted == 4 else { return .message }
                let length = buffer.withUnsafeBytes { $0[..<4].reduce(0) { $0 << 8 | Int($1) } }
                guard (1...SSHWireLimits.frameBytesMax).contains(length) else { return .ended }
                wanted = 4 + length
            }
            // The buffer grows with the data, so a large length alone allocates no memory.
            if filled == buffer.count { grow(to: min(wanted, max(2 * buffer.count, AgentLimits.firstBytes))) }
            let (start, space) = (filled, min(buffer.count, wanted) - filled)
            let got = buffer.withUnsafeMutableBytes { Glibc.read(socket.number, $0.baseAddress.map { $0 + start }, space) }
            if got < 0 && errno == EINTR { continue }
            if got < 0 && errno == EAGAIN { return .more }
            guard got > 0 else { return .ended }
            filled += got
        }
    }

    /// Waits briefly for the next message, and reads it.
    func readSoon() -> Reading {
        var poller = pollfd(fd: socket.number, events: Int16(POLLIN), revents: 0)
        return poll(&poller, 1, AgentLimits.nextMessageTime) > 0 ? read() : .more
    }

    private func grow(to count: Int) {
        buffer = buffer.withUnsafeBytes { old in
            SecretBytes(count: count) { UnsafeMutableRawBufferPointer(rebasing: $0[..<old.count]).copyMemory(from: old) }
        }
    }

    /// Serves the message, sends the reply, and prepares for the next message. Returns false if the connection is unusable.
    func answer() -> Bool {
        let message = buffer.part(4..<wanted)
        buffer = SecretBytes(count: 4) { _ in }
        (filled, wanted) = (0, 4)
        let reply = message.withUnsafeBytes { handler.answer($0, cancellation) }
        ScratchMemory.scrubStack()
        return !cancellation.isCancelled && send(reply.frame)
    }

    private func send(_ frame: [UInt8]) -> Bool {
        let deadline = MachineClock.monotonic + AgentLimits.writeTime
        var sent = 0
        while sent < frame.count {
            let count = frame[sent...].withUnsafeBytes { Glibc.send(socket.number, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            if count > 0 { sent += count; continue }
            guard errno == EAGAIN || errno == EINTR else { return false }
            let now = MachineClock.monotonic
            var poller = pollfd(fd: socket.number, events: Int16(POLLOUT), revents: 0)
            guard now < deadline else { return false }
            if poll(&poller, 1, MachineClock.pollTime(until: deadline, from: now)) < 0, errno != EINTR { return false }
        }
        return true
    }
}

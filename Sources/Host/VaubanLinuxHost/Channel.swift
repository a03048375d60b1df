// A connection as a pair of message streams. Each message is eight bytes of lengths, a DER header, and at most one secret section
// (Specs/connections.md). This layer does not interpret messages.

internal import CVaubanLinux
import Glibc
package import VaubanSecretBytes

/// A received message.
package struct Message: ~Copyable, Sendable {
    package let header: [UInt8]
    package var secret: SecretBytes?
    package let descriptors: [Descriptor]

    /// Takes the secret section; a second call returns nil.
    package mutating func takeSecret() -> SecretBytes? {
        secret.take()
    }
}

/// Why a connection returned no message or accepted none. The peer is to blame, except for `system`. After any of these except `deadline`,
/// the connection is unusable.
package enum ChannelError: Error, Sendable {
    /// The peer closed the connection between two messages.
    case closed
    /// The time for the message has passed.
    case deadline
    /// The watched connection ended.
    case watchedEnded
    case oversized
    case malformed(String)
    /// A process other than the one that connected wrote a message.
    case foreignSender
    case system(SystemError)
}

/// How long a receiver waits for a message to begin. Once begun, a message must end within the machine time.
package enum Timeout: Sendable {
    /// Without limit, for a server between two requests.
    case idle
    /// As `idle`, but for at most these nanoseconds, for a server that has something else to do then.
    case idleUntilDue(UInt64)
    /// Nanoseconds from now.
    case after(UInt64)

    package static let machine = Timeout.after(ConnectionLimits.machineTime)

    /// Whether the receiver waits for a request, so that no caller waits for the receiver.
    fileprivate var isIdle: Bool {
        switch self {
        case .idle, .idleUntilDue: true
        case .after: false
        }
    }
}

/// The sender that every message must have.
package enum ExpectedSender: Sendable {
    /// Identified by its descriptor if there is one, since process numbers are reused.
    case process(pid: Int32, uid: UInt32, held: Descriptor? = nil)
    case user(uid: UInt32)
}

package final class Channel: Sendable {
    package let socket: Descriptor
    private let expected: ExpectedSender
    /// How long one receive waits, in nanoseconds. A wait for a message with this timeout needs no other call.
    private let receiveTime: UInt64
    private let sending = ThreadMutex<Void>(())
    private let receiving: ThreadMutex<ReceiveBuffer>
    /// When the receiver began to wait for a message, in nanoseconds of the monotonic clock; nil while it does not wait.
    private let idle = ThreadMutex<UInt64?>(nil)

    /// Takes over a connected stream socket and enables credentials on each message.
    /// - Parameter receiveTime: The timeout of most waits for a message, in nanoseconds.
    package init(
        socket: Descriptor, expecting expected: ExpectedSender, receivingWithin receiveTime: UInt64 = ConnectionLimits.machineTime
    ) throws(SystemError) {
        self.socket = socket
        self.expected = expected
        self.receiveTime = receiveTime
        self.receiving = ThreadMutex(ReceiveBuffer())
        try SystemError.checkNegated(vauban_pass_credentials(socket.number), "ask for credentials")
        try Self.limit(SO_RCVTIMEO, of: socket, to: receiveTime)
        try Self.limit(SO_SNDTIMEO, of: socket, to: ConnectionLimits.machineTime)
    }

    /// Sets a time limit of the socket. Zero would mean none.
    private static func limit(_ option: Int32, of socket: Descriptor, to nanoseconds: UInt64) throws(SystemError) {
        let microseconds = max(Int(nanoseconds / 1000), 1)
        var time = timeval(tv_sec: microseconds / 1_000_000, tv_usec: microseconds % 1_000_000)
        try SystemError.check(
            setsockopt(socket.number, SOL_SOCKET, option, &time, socklen_t(MemoryLayout<timeval>.size)), "set a time limit")
    }

    /// Shuts down both directions, which wakes a receiver in another thread.
    package func shutDown() { shutdown(socket.number, Int32(SHUT_RDWR)) }

    /// When the connection began to wait for its next message, in nanoseconds of the monotonic clock; nil while it does not wait.
    package var idleSince: UInt64? { idle.withLock { $0 } }

    /// Receives only the messages that were sent before this call, then reports `closed`. A later send by the peer fails at once, so no
    /// message is lost silently.
    package func endWhenIdle() { shutdown(socket.number, Int32(SHUT_RD)) }

    // MARK: Sending

    /// Sends one message. Concurrent senders take turns.
    package func send(header: [UInt8], descriptors: [Descriptor] = []) throws(ChannelError) {
        try send(header: header, secretCount: 0, secret: UnsafeRawBufferPointer(start: nil, count: 0), descriptors)
    }

    /// Sends one message with a secret section, directly from the secret's memory.
    package func send(header: [UInt8], secret: borrowing SecretBytes, descriptors: [Descriptor] = []) throws(ChannelError) {
        try secret.withUnsafeBytes { bytes throws(ChannelError) in
            try send(header: header, secretCount: bytes.count, secret: bytes, descriptors)
        }
    }

    /// Sends two messages in one write, so that the receiver wakes once. A large secret is not copied for this.
    package func send(header: [UInt8], secret: borrowing SecretBytes?, followedBy next: [UInt8]) throws(ChannelError) {
        switch secret {
        case .none: try send(header: header, secretCount: 0, secret: UnsafeRawBufferPointer(start: nil, count: 0), [], followedBy: next)
        case .some(let secret) where secret.count > ConnectionLimits.copiedSecretBytesMax:
            try send(header: header, secret: secret)
            try send(header: next)
        case .some(let secret):
            let after = Self.front(next, secretCount: 0)
            let both = secret.withUnsafeBytes { bytes in
                SecretBytes(count: bytes.count + after.count) { target in
                    target.copyMemory(from: bytes)
                    UnsafeMutableRawBufferPointer(rebasing: target[bytes.count...]).copyBytes(from: after)
                }
            }
            let count = secret.count
            try both.withUnsafeBytes { bytes throws(ChannelError) in
                try send(header: header, secretCount: count, secret: bytes, [])
            }
        }
    }

    /// Returns the bytes before a secret section: the two lengths and the header.
    private static func front(_ header: [UInt8], secretCount: Int) -> [UInt8] {
        var front = [UInt8]()
        front.reserveCapacity(8 + header.count)
        withUnsafeBytes(of: UInt32(header.count).bigEndian) { front.append(contentsOf: $0) }
        withUnsafeBytes(of: UInt32(secretCount).bigEndian) { front.append(contentsOf: $0) }
        front.append(contentsOf: header)
        return front
    }

    /// Sends a message in one write. The first `secretCount` bytes of `secret` are its section; further bytes belong to the next message.
    private func send(
        header: [UInt8], secretCount: Int, secret: UnsafeRawBufferPointer, _ descriptors: [Descriptor], followedBy next: [UInt8]? = nil
    ) throws(ChannelError) {
        guard header.count <= ConnectionLimits.headerBytesMax, secretCount <= ConnectionLimits.secretBytesMax else { throw .oversized }
        var front = Self.front(header, secretCount: secretCount)
        if let next { front += Self.front(next, secretCount: 0) }
        try write(front: front, secret: secret, descriptors: descriptors)
    }

    /// Sends several messages without secret sections in one write, so that their receiver wakes once and not for each.
    package func send(headers: [[UInt8]]) throws(ChannelError) {
        guard headers.allSatisfy({ $0.count <= ConnectionLimits.headerBytesMax }) else { throw .oversized }
        try write(
            front: headers.flatMap { Self.front($0, secretCount: 0) }, secret: UnsafeRawBufferPointer(start: nil, count: 0), descriptors: []
        )
    }

    private func write(front: [UInt8], secret: UnsafeRawBufferPointer, descriptors: [Descriptor]) throws(ChannelError) {
        let numbers = descriptors.map(\.number)
        let problem: Int32 = sending.withLock { _ in
            front.withUnsafeBytes { Self.write($0, secret, descriptors: numbers, to: socket.number) }
        }
        // The descriptors must live until the kernel has taken its own references.
        withExtendedLifetime(descriptors) {}
        // After a partial message nothing more can be sent. The shutdown also limits a receiver that does not read to blocking a sender
        // once.
        if problem != 0 { shutDown() }
        if problem == EPIPE || problem == ECONNRESET { throw .closed }
        if problem != 0 { throw .system(SystemError("send a message", code: problem)) }
    }

    private static func write(
        _ first: UnsafeRawBufferPointer, _ second: UnsafeRawBufferPointer, descriptors: [Int32], to socket: Int32
    ) -> Int32 {
        var first = first, second = second, descriptors = descriptors
        while first.count + second.count > 0 {
            let sent = vauban_send(
                socket, first.baseAddress, first.count, second.baseAddress, second.count, descriptors, Int32(descriptors.count))
            if sent <= 0 { return sent == 0 ? EPIPE : Int32(-sent) }
            descriptors = []
            let ofFirst = min(sent, first.count)
            first = UnsafeRawBufferPointer(rebasing: first[ofFirst...])
            second = UnsafeRawBufferPointer(rebasing: second[(sent - ofFirst)...])
        }
        return 0
    }

    // MARK: Receiving

    /// Waits for the next message. `watching` is another connection, whose hang-up ends the wait with the error `watchedEnded`.
    package func receive(_ timeout: Timeout, watching: Descriptor? = nil) throws(ChannelError) -> Message {
        let result: Result<Received, ChannelError> = receiving.withLock { buffer in
            do throws(ChannelError) {
                return .success(try receive(into: &buffer, timeout, watching))
            } catch {
                return .failure(error)
            }
        }
        return try result.get().take()
    }

    private func receive(into buffer: inout ReceiveBuffer, _ timeout: Timeout, _ watching: Descriptor?) throws(ChannelError) -> Received {
        if buffer.isEmpty, timeout.isIdle { idle.withLock { $0 = MachineClock.monotonic } }
        defer { idle.withLock { $0 = nil } }
        if buffer.isEmpty { try wait(timeout, watching) }
        var isBeginning = buffer.isEmpty
        var began = MachineClock.monotonic
        while true {
            if let message = try buffer.nextMessage(continuing: { (target) throws(ChannelError) in try self.fill(target, since: began).count
            }) {
                return Received(message)
            }
            let space = buffer.space()
            let (count, descriptors): (Int, [Descriptor])
            do throws(ChannelError) {
                (count, descriptors) = try fill(space, since: isBeginning ? nil : began)
            } catch .deadline where isBeginning {
                guard case .idle = timeout else { throw .deadline }
                try wait(until: .max, watching)
                continue
            }
            try buffer.received(count, descriptors)
            if isBeginning {
                idle.withLock { $0 = nil }
                began = MachineClock.monotonic
            }
            isBeginning = false
        }
    }

    /// Receives once, and checks the sender before it uses a byte. `began` is when the message that this continues began: a message must
    /// arrive within the machine time, however slowly its bytes are sent. If nothing more is sent, that shows only when this receive ends:
    /// after the channel's receive time, which is longer in a client. A wait of its own would cost another call for each part.
    private func fill(_ target: UnsafeMutableRawBufferPointer, since began: UInt64?) throws(ChannelError) -> (
        count: Int, descriptors: [Descriptor]
    ) {
        var ancillary = vauban_ancillary()
        let count = vauban_receive(socket.number, target.baseAddress, target.count, &ancillary)
        let descriptors = ancillary.taken
        let isLate = began.map { MachineClock.monotonic - $0 > ConnectionLimits.machineTime } ?? false
        // The part that was received cannot be used, and so neither can the connection.
        if isLate || (count == -Int(EAGAIN) && began != nil) { throw .malformed("a message did not end in time") }
        if count == -Int(EAGAIN) { throw .deadline }
        if count == 0 || count == -Int(ECONNRESET) { throw began == nil ? .closed : .malformed("the connection ended within a message") }
        if count < 0 { throw .system(SystemError("receive a message", code: Int32(-count))) }
        if ancillary.truncated { throw .malformed("a message carries too many descriptors") }
        switch expected {
        case .process(let pid, let uid, let process):
            guard ancillary.has_credentials, ancillary.pid == pid, ancillary.uid == uid else { throw .foreignSender }
            // A running process keeps its number. The check follows the receive, so it proves that this process wrote the bytes.
            if let process, !ProcessDescriptor.isAlive(process) { throw .foreignSender }
        case .user(let uid):
            guard ancillary.has_credentials, ancillary.uid == uid else { throw .foreignSender }
        }
        return (count, descriptors)
    }

    /// Waits separately only to watch another connection or if the timeout differs from that of the blocking receive. On a watched
    /// connection only a hang-up counts, not a shutdown of this side's reads.
    private func wait(_ timeout: Timeout, _ watching: Descriptor?) throws(ChannelError) {
        var deadline: UInt64 = .max
        switch timeout {
        case .after(let time):
            if watching == nil && time == receiveTime { return }
            deadline = MachineClock.monotonic + time
        case .idleUntilDue(let time): deadline = MachineClock.monotonic + time
        case .idle: if watching == nil { return }
        }
        try wait(until: deadline, watching)
    }

    /// Waits for something to receive. Without a deadline nothing wakes the thread before that, so an idle connection wakes once, after the
    /// receive time, and then no more.
    private func wait(until deadline: UInt64, _ watching: Descriptor?) throws(ChannelError) {
        var pollers = [pollfd(fd: socket.number, events: Int16(POLLIN), revents: 0)]
        if let watching { pollers.append(pollfd(fd: watching.number, events: 0, revents: 0)) }
        while true {
            let now = MachineClock.monotonic
            if now >= deadline { throw .deadline }
            let ready = poll(&pollers, nfds_t(pollers.count), MachineClock.pollTime(until: deadline, from: now))
            if ready < 0 && errno != EINTR { throw .system(SystemError("wait for a message", code: errno)) }
            if pollers[0].revents != 0 { return }
            if pollers.count > 1 && pollers[1].revents != 0 { throw .watchedEnded }
        }
    }
}

/// Carries a message out of the scope of the receiver's lock.
private final class Received {
    private var message: Message?
    init(_ message: consuming Message) { self.message = consume message }
    func take() throws(ChannelError) -> Message {
        guard let message = message.take() else { throw .closed }
        return message
    }
}

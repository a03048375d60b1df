import Glibc

/// A socket between a program and one that it started, on which each message is its length in four bytes and that many bytes.
package final class FrameStream: Sendable {
    private let socket: Descriptor
    private let bytesMax: Int

    /// Takes ownership of a connected stream socket.
    package init(_ socket: Descriptor, bytesMax: Int) {
        self.socket = socket
        self.bytesMax = bytesMax
    }

    /// Returns the two ends of a new socket, close-on-exec.
    package static func pair() throws(SystemError) -> (Descriptor, Descriptor) {
        var numbers: [Int32] = [0, 0]
        try SystemError.check(
            socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0, &numbers), "make a pair of sockets")
        return (Descriptor(numbers[0]), Descriptor(numbers[1]))
    }

    /// Sends a message. `deadline` is by the monotonic clock, in nanoseconds.
    package func send(_ message: [UInt8], until deadline: UInt64) throws(ChannelError) {
        guard message.count <= bytesMax else { throw .oversized }
        let frame = withUnsafeBytes(of: UInt32(message.count).bigEndian) { Array($0) } + message
        var sent = 0
        while sent < frame.count {
            try wait(for: Int16(POLLOUT), until: deadline)
            let count = frame[sent...].withUnsafeBytes {
                Glibc.send(socket.number, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
            }
            if count < 0, errno == EINTR || errno == EAGAIN { continue }
            if count < 0, errno == EPIPE || errno == ECONNRESET { throw .closed }
            if count < 0 { throw .system(SystemError("send a message", code: errno)) }
            sent += count
        }
    }

    /// Waits for a message until the deadline, or without limit if there is none.
    package func receive(until deadline: UInt64?) throws(ChannelError) -> [UInt8] {
        let length = try bytes(4, until: deadline).reduce(0) { $0 << 8 | Int($1) }
        guard length <= bytesMax else { throw .oversized }
        return try bytes(length, until: deadline)
    }

    private func bytes(_ count: Int, until deadline: UInt64?) throws(ChannelError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        var read = 0
        while read < count {
            try wait(for: Int16(POLLIN), until: deadline)
            let got = bytes[read...].withUnsafeMutableBytes { recv(socket.number, $0.baseAddress, $0.count, Int32(MSG_DONTWAIT)) }
            if got < 0, errno == EINTR || errno == EAGAIN { continue }
            if got < 0, errno != ECONNRESET { throw .system(SystemError("receive a message", code: errno)) }
            guard got > 0 else { throw .closed }
            read += got
        }
        return bytes
    }

    private func wait(for events: Int16, until deadline: UInt64?) throws(ChannelError) {
        var poller = pollfd(fd: socket.number, events: events, revents: 0)
        while true {
            let ready = poll(&poller, 1, MachineClock.pollTime(until: deadline))
            if ready > 0 { return }
            if ready < 0, errno != EINTR { throw .system(SystemError("wait for a message", code: errno)) }
            if let deadline, MachineClock.monotonic >= deadline { throw .deadline }
        }
    }
}

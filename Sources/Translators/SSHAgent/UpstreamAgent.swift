// Another agent behind this one. Keys on security keys and smart cards stay with it, and requests for them are sent to it.

import Glibc
internal import Synchronization
internal import VaubanLinuxHost
internal import VaubanSSHWire

/// A connection to another agent for exactly one client's connection, since messages that bind the client's connection to SSH sessions also
/// bind this one.
final class UpstreamAgent: Sendable {
    private struct State {
        var socket: Descriptor?
        /// Whether the connection failed or the client has disconnected. It is never reopened, since a new connection would lack the
        /// bindings.
        var hasEnded = false
    }

    private let path: String
    private let state = Mutex(State())

    init(path: String) { self.path = path }

    /// Wakes a thread that waits for a reply, and ends the connection.
    func end() {
        state.withLock { state in
            state.hasEnded = true
            if let socket = state.socket { shutdown(socket.number, Int32(SHUT_RDWR)) }
        }
    }

    /// Sends a message and returns the other agent's reply, both without their lengths, or nil if there is no reply.
    ///
    /// - Parameter timeout: Nanoseconds; nil waits until `end()`, for example while the user must touch a security key.
    func answer(to message: UnsafeRawBufferPointer, timeout: UInt64?) -> [UInt8]? {
        // Connecting always has a deadline, even if waiting for the reply has none.
        guard let socket = connected(deadline: MachineClock.monotonic + (timeout ?? AgentLimits.upstreamTime)) else { return nil }
        let deadline = timeout.map { MachineClock.monotonic + $0 }
        let length = withUnsafeBytes(of: UInt32(message.count).bigEndian) { [UInt8]($0) }
        let isSent =
            length.withUnsafeBytes { Self.send($0, to: socket, deadline: deadline) } && Self.send(message, to: socket, deadline: deadline)
        guard isSent, let head = Self.receive(4, from: socket, deadline: deadline) else { return broken() }
        let count = head.reduce(0) { $0 << 8 | Int($1) }
        guard (1...SSHWireLimits.frameBytesMax).contains(count), let answer = Self.receive(count, from: socket, deadline: deadline) else {
            return broken()
        }
        return answer
    }

    private func broken() -> [UInt8]? {
        end()
        return nil
    }

    /// Returns the connection, which is established for the first message. `end()` does not wait for that.
    private func connected(deadline: UInt64) -> Descriptor? {
        let (known, hasEnded) = state.withLock { ($0.socket, $0.hasEnded) }
        if hasEnded { return nil }
        if let known { return known }
        let made = AgentSocket.connected(to: path, deadline: deadline) { state.withLock(\.hasEnded) }
        return state.withLock { state in
            if made == nil { state.hasEnded = true }
            guard !state.hasEnded else { return nil }
            state.socket = made
            return made
        }
    }

    private static func send(_ bytes: UnsafeRawBufferPointer, to socket: Descriptor, deadline: UInt64?) -> Bool {
        var sent = 0
        while sent < bytes.count {
            let count = Glibc.send(socket.number, bytes.baseAddress.map { $0 + sent }, bytes.count - sent, Int32(MSG_NOSIGNAL))
            if count > 0 { sent += count; continue }
            guard errno == EAGAIN || errno == EINTR, isReady(socket, for: POLLOUT, deadline: deadline) else { return false }
        }
        return true
    }

    private static func receive(_ count: Int, from socket: Descriptor, deadline: UInt64?) -> [UInt8]? {
        var bytes: [UInt8] = []
        var part = [UInt8](repeating: 0, count: min(count, AgentLimits.upstreamPartBytes))
        while bytes.count < count {
            let got = recv(socket.number, &part, min(part.count, count - bytes.count), 0)
            if got > 0 { bytes += part[..<got]; continue }
            guard got < 0, errno == EAGAIN || errno == EINTR, isReady(socket, for: POLLIN, deadline: deadline) else { return nil }
        }
        return bytes
    }

    /// Waits until the socket is ready; returns false after the deadline.
    private static func isReady(_ socket: Descriptor, for events: Int32, deadline: UInt64?) -> Bool {
        var poller = pollfd(fd: socket.number, events: Int16(events), revents: 0)
        while true {
            let now = MachineClock.monotonic
            if let deadline, now >= deadline { return false }
            let found = poll(&poller, 1, MachineClock.pollTime(until: deadline, from: now))
            if found > 0 { return true }
            guard found == 0 || errno == EINTR else { return false }
        }
    }
}

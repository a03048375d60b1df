import CVaubanLinux
import Dispatch
import Foundation
import Glibc
import TestSupport
import Testing
import VaubanLinuxHost
import VaubanSecretBytes

/// Two connected sockets, as `connect` and `accept` would return them. The kernel names this process at both ends. Both request credentials
/// from the beginning, since the kernel adds them to a message only if one end has requested them.
struct SocketPair {
    let first: Descriptor
    let second: Descriptor

    init() throws {
        var ends: [Int32] = [0, 0]
        try SystemError.check(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0, &ends), "make two sockets")
        first = Descriptor(ends[0])
        second = Descriptor(ends[1])
        for end in ends { try SystemError.checkNegated(vauban_pass_credentials(end), "ask for credentials") }
    }
}

extension Timeout {
    /// For a message that must come: a busy or halted machine may take longer than the machine time.
    static let hanging = Timeout.after(HangLimit.nanoseconds)
}

/// The other side of a connection, byte by byte, as a client that follows no rule.
struct RawPeer {
    let socket: Descriptor

    func send(_ bytes: [UInt8], descriptors: [Descriptor] = []) throws {
        let numbers = descriptors.map(\.number)
        let sent = bytes.withUnsafeBytes { vauban_send(socket.number, $0.baseAddress, $0.count, nil, 0, numbers, Int32(numbers.count)) }
        try #require(sent == bytes.count)
    }

    /// Sends one byte with any number of descriptors, beyond the limit of our own sender.
    func sendUnbounded(_ byte: UInt8, descriptors: [Descriptor]) throws {
        var byte = byte
        let length = 16 + 4 * descriptors.count
        var control = [UInt8](repeating: 0, count: (length + 7) & ~7)
        // struct cmsghdr of 64-bit Linux: length, SOL_SOCKET, SCM_RIGHTS, then the descriptors.
        control.withUnsafeMutableBytes { bytes in
            bytes.storeBytes(of: length, as: Int.self)
            bytes.storeBytes(of: SOL_SOCKET, toByteOffset: 8, as: Int32.self)
            bytes.storeBytes(of: 1, toByteOffset: 12, as: Int32.self)
            for (index, descriptor) in descriptors.enumerated() {
                bytes.storeBytes(of: descriptor.number, toByteOffset: 16 + 4 * index, as: Int32.self)
            }
        }
        let sent = withUnsafeMutablePointer(to: &byte) { pointer in
            var part = iovec(iov_base: pointer, iov_len: 1)
            return withUnsafeMutablePointer(to: &part) { parts in
                control.withUnsafeMutableBytes { bytes in
                    var message = msghdr()
                    message.msg_iov = parts
                    message.msg_iovlen = 1
                    message.msg_control = bytes.baseAddress
                    message.msg_controllen = bytes.count
                    return sendmsg(socket.number, &message, Int32(MSG_NOSIGNAL))
                }
            }
        }
        try #require(sent == 1)
    }

    /// Receives exactly this many bytes, or fewer at the end of the connection.
    func receive(_ count: Int) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        var filled = 0
        while filled < count {
            let got = bytes.withUnsafeMutableBytes { read(socket.number, $0.baseAddress?.advanced(by: filled), count - filled) }
            if got <= 0 { break }
            filled += got
        }
        return Array(bytes.prefix(filled))
    }

    /// Signals that nothing more follows.
    func finish() { shutdown(socket.number, Int32(SHUT_WR)) }
}

enum Frame {
    static func lengths(_ header: Int, _ secret: Int) -> [UInt8] {
        [header, secret].flatMap { number in withUnsafeBytes(of: UInt32(truncatingIfNeeded: number).bigEndian) { Array($0) } }
    }

    static func message(_ header: [UInt8], secret: [UInt8] = []) -> [UInt8] { lengths(header.count, secret.count) + header + secret }
}

/// Runs a blocking step on a separate thread; `value` waits for it.
final class Background<Value: Sendable>: @unchecked Sendable {
    // The value is written once before the semaphore is signaled and read only after.
    private var result: Result<Value, any Error>?
    private let done = DispatchSemaphore(value: 0)

    init(_ step: @escaping @Sendable () throws -> Value) {
        Thread { [self] in
            result = Result(catching: step)
            done.signal()
        }.start()
    }

    func value() throws -> Value {
        done.wait()
        defer { done.signal() }
        return try #require(result).get()
    }
}

/// A program that runs beside the test, with some of its descriptors as 3, 4, …
final class Child {
    let pid: pid_t

    init(_ script: String, descriptors: [Descriptor] = []) throws {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        // Moved away first, since a source may itself be one of the target numbers.
        let moved = try descriptors.map { Descriptor(try SystemError.check(fcntl($0.number, F_DUPFD_CLOEXEC, 100), "move a descriptor")) }
        for (index, descriptor) in moved.enumerated() { posix_spawn_file_actions_adddup2(&actions, descriptor.number, Int32(3 + index)) }
        var arguments: [UnsafeMutablePointer<CChar>?] = [strdup("sh"), strdup("-c"), strdup(script), nil]
        defer { for argument in arguments { free(argument) } }
        var pid: pid_t = 0
        let problem = withExtendedLifetime(moved) { posix_spawn(&pid, "/bin/sh", &actions, nil, &arguments, environ) }
        // An array may be released after its last use, but the descriptors must live until the program has its copies.
        withExtendedLifetime(moved) {}
        guard problem == 0 else { throw SystemError("start a program", code: problem) }
        self.pid = pid
    }

    /// Starts a program that writes these bytes to a connection that belongs to another process.
    static func writing(_ bytes: [UInt8], to socket: Descriptor) throws -> Child {
        let content = try SocketPair()
        try RawPeer(socket: content.first).send(bytes)
        RawPeer(socket: content.first).finish()
        return try Child("cat <&4 >&3", descriptors: [socket, content.second])
    }

    /// Waits for its end; returns its exit status.
    @discardableResult
    func wait() -> Int32 {
        var status: Int32 = 0
        while waitpid(pid, &status, 0) < 0 && errno == EINTR {}
        return (status >> 8) & 0xFF
    }
}

/// Returns the bytes of a secret, for a comparison; nil for nil.
func bytes(_ secret: consuming SecretBytes?) -> [UInt8]? {
    guard let secret else { return nil }
    return secret.withUnsafeBytes { Array($0) }
}

/// Returns the number of this process's descriptors of one kind; other tests in other threads hold descriptors too, so only one kind is
/// compared.
func descriptors(linkedTo target: String) -> Int {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
    return names.count { (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)"))?.hasPrefix(target) == true }
}

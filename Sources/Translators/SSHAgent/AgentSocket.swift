import Glibc
internal import VaubanLinuxHost

/// The socket on which the agent listens.
struct AgentSocket {
    let listener: Descriptor

    /// Returns the socket that systemd passed.
    static func inherited() throws(ServiceError) -> AgentSocket {
        let sockets = try InheritedSockets()
        do throws(ServiceError) { return AgentSocket(listener: try sockets.socket("ssh-agent")) } catch {
            return AgentSocket(listener: try sockets.socket("0"))
        }
    }

    /// Binds a new socket that only this user can use. Replaces a socket without a listener, but not the socket of a running agent.
    static func bound(to path: String) throws(SystemError) -> AgentSocket {
        guard var address = address(of: path) else {
            throw SystemError("listen at \(path): the path of a socket has at most 107 bytes", code: ENAMETOOLONG)
        }
        if isListening(&address) { throw SystemError("listen at \(path): another agent is already listening there", code: EADDRINUSE) }
        var kind = stat()
        if lstat(path, &kind) == 0 {
            guard kind.st_mode & S_IFMT == S_IFSOCK else {
                throw SystemError("listen at \(path): a file that is not a socket has this name", code: EEXIST)
            }
            unlink(path)
        }
        let listener = Descriptor(try SystemError.check(socket(AF_UNIX, made, 0), "make a socket"))
        // The room's umask denies access to other users.
        try SystemError.check(with(&address) { bind(listener.number, $0, $1) }, "listen at \(path)")
        try SystemError.check(listen(listener.number, ConnectionLimits.waitingMax), "listen at \(path)")
        return AgentSocket(listener: listener)
    }

    private static let made = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
    /// Non-blocking, since connecting to an agent that does not accept would block while its queue is full.
    private static let dialed = made | Int32(SOCK_NONBLOCK.rawValue)

    /// Returns a non-blocking connection to the agent at a path, which must run as this user. Returns nil if there is none before the
    /// deadline (monotonic clock, nanoseconds), or once `isOver` returns true.
    static func connected(to path: String, deadline: UInt64, unless isOver: () -> Bool) -> Descriptor? {
        guard var address = address(of: path) else { return nil }
        let number = socket(AF_UNIX, dialed, 0)
        guard number >= 0 else { return nil }
        let connection = Descriptor(number)
        var backoff = Backoff(from: AgentLimits.connectPauseMin, to: AgentLimits.connectPauseMax)
        while with(&address, { connect(connection.number, $0, $1) }) != 0 {
            // The queue of the other agent is full, and the kernel offers no event for that, so this tries again after a pause.
            guard errno == EAGAIN || errno == EINTR, MachineClock.monotonic < deadline, !isOver() else { return nil }
            poll(nil, 0, backoff.pause())
        }
        guard let peer = try? Peer(ofConnection: connection), peer.uid == geteuid() else { return nil }
        return connection
    }

    /// Returns the address; nil if the path is empty or too long for a socket.
    private static func address(of path: String) -> sockaddr_un? {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        guard !bytes.isEmpty, bytes.count < MemoryLayout.size(ofValue: address.sun_path) else { return nil }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        return address
    }

    private static func isListening(_ address: inout sockaddr_un) -> Bool {
        let number = socket(AF_UNIX, dialed, 0)
        guard number >= 0 else { return false }
        let probe = Descriptor(number)
        // A full queue has a listener too.
        return with(&address) { connect(probe.number, $0, $1) } == 0 || errno == EAGAIN
    }

    private static func with(_ address: inout sockaddr_un, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
        withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_un>.size)) }
        }
    }
}

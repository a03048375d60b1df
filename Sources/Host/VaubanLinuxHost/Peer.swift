import Glibc
internal import CVaubanLinux

/// Who is at the other end of a connection, in the kernel's words, read once when the connection was accepted.
package struct Peer: Sendable {
    package let pid: Int32
    package let uid: UInt32
    /// The process itself, whatever becomes of its number. Absent until the client's own descriptor came, on kernels
    /// without `SO_PEERPIDFD`.
    package let process: Descriptor?

    package init(pid: Int32, uid: UInt32, process: Descriptor?) {
        self.pid = pid
        self.uid = uid
        self.process = process
    }

    /// Reads `SO_PEERCRED` and, where `usePeerDescriptor` and the kernel allow, `SO_PEERPIDFD`.
    package init(ofConnection socket: Descriptor, usePeerDescriptor: Bool = true) throws(SystemError) {
        var pid: Int32 = 0
        var uid: UInt32 = 0
        try SystemError.checkNegated(vauban_peer_credentials(socket.number, &pid, &uid), "read the peer's credentials")
        let process = usePeerDescriptor ? vauban_peer_pidfd(socket.number) : -ENOPROTOOPT
        self.init(pid: pid, uid: uid, process: process >= 0 ? Descriptor(process) : nil)
    }

    /// The same peer, held by a descriptor that it sent.
    package func held(by process: Descriptor) -> Peer { Peer(pid: pid, uid: uid, process: process) }

    /// Whether the process still runs. A process descriptor becomes readable when its process ends.
    package var isAlive: Bool {
        guard let process else { return kill(pid, 0) == 0 || errno == EPERM }
        var poller = pollfd(fd: process.number, events: Int16(POLLIN), revents: 0)
        return poll(&poller, 1, 0) == 0
    }
}

package enum ProcessDescriptor {
    /// A descriptor for the calling process, which only it can make of itself without naming a number.
    package static func ofSelf() throws(SystemError) -> Descriptor {
        Descriptor(try SystemError.checkNegated(vauban_pidfd_open(getpid()), "open a descriptor of this process"))
    }

    /// A descriptor for the process that has this number now. Whose number it is has to be asked again once it is held.
    package static func open(_ pid: Int32) throws(SystemError) -> Descriptor {
        Descriptor(try SystemError.checkNegated(vauban_pidfd_open(pid), "open a descriptor of process \(pid)"))
    }

    /// Whether the process still runs: a process descriptor becomes readable when its process ends.
    package static func isAlive(_ process: Descriptor) -> Bool {
        var poller = pollfd(fd: process.number, events: Int16(POLLIN), revents: 0)
        return poll(&poller, 1, 0) == 0
    }

    /// The process number that a process descriptor names, or nil if it is not one or its process has been reaped.
    /// The kernel writes it as `Pid:` into the descriptor's information file.
    package static func pid(of descriptor: Descriptor) -> Int32? {
        guard let text = SmallFile.text(path: "/proc/self/fdinfo/\(descriptor.number)", max: 4096) else { return nil }
        for line in text.split(separator: "\n") where line.hasPrefix("Pid:") {
            guard let pid = Int32(line.dropFirst(4).drop { $0 == " " || $0 == "\t" }), pid > 0 else { return nil }
            return pid
        }
        return nil
    }
}

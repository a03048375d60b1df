import Glibc
internal import CVaubanLinux

/// The peer of a connection, as the kernel reported it when the connection was accepted.
package struct Peer: Sendable {
    package let pid: Int32
    package let uid: UInt32
    /// A descriptor of the process, which stays valid even if its number is reused. On kernels without `SO_PEERPIDFD` it is nil until the
    /// client's own descriptor has arrived.
    package let process: Descriptor?

    package init(pid: Int32, uid: UInt32, process: Descriptor?) {
        self.pid = pid
        self.uid = uid
        self.process = process
    }

    /// Reads `SO_PEERCRED` and, if `usePeerDescriptor` is set and the kernel has it, `SO_PEERPIDFD`.
    package init(ofConnection socket: Descriptor, usePeerDescriptor: Bool = true) throws(SystemError) {
        var pid: Int32 = 0
        var uid: UInt32 = 0
        try SystemError.checkNegated(vauban_peer_credentials(socket.number, &pid, &uid), "read the peer's credentials")
        let process = usePeerDescriptor ? vauban_peer_pidfd(socket.number) : -ENOPROTOOPT
        self.init(pid: pid, uid: uid, process: process >= 0 ? Descriptor(process) : nil)
    }

    /// Returns the same peer, identified by a descriptor that it sent.
    package func held(by process: Descriptor) -> Peer { Peer(pid: pid, uid: uid, process: process) }

    /// Whether the process still runs. A process descriptor becomes readable when its process ends.
    package var isAlive: Bool {
        guard let process else { return kill(pid, 0) == 0 || errno == EPERM }
        var poller = pollfd(fd: process.number, events: Int16(POLLIN), revents: 0)
        return poll(&poller, 1, 0) == 0
    }
}

package enum ProcessDescriptor {
    /// Opens a descriptor for the calling process.
    package static func ofSelf() throws(SystemError) -> Descriptor {
        Descriptor(try SystemError.checkNegated(vauban_pidfd_open(getpid()), "open a descriptor of this process"))
    }

    /// Opens a descriptor for the process that has this number now. The caller must then check that it is the expected process.
    package static func open(_ pid: Int32) throws(SystemError) -> Descriptor {
        Descriptor(try SystemError.checkNegated(vauban_pidfd_open(pid), "open a descriptor of process \(pid)"))
    }

    /// Returns whether the process still runs: a process descriptor becomes readable when its process ends.
    package static func isAlive(_ process: Descriptor) -> Bool {
        var poller = pollfd(fd: process.number, events: Int16(POLLIN), revents: 0)
        return poll(&poller, 1, 0) == 0
    }

    /// Returns when a process started, in clock ticks since the boot (field 22 of `/proc/PID/stat`); nil if there is no such process.
    /// Fields are counted from the last parenthesis, since the second field, a name in parentheses, may contain anything.
    package static func start(of pid: Int32) -> String? {
        guard let bytes = SmallFile.bytes(path: "/proc/\(pid)/stat", max: 4096), let name = bytes.lastIndex(of: UInt8(ascii: ")")) else {
            return nil
        }
        let fields = bytes[(name + 1)...].split(separator: UInt8(ascii: " "))
        return fields.count > 19 ? String(validating: fields[19], as: UTF8.self) : nil
    }

    /// Returns the process number of a process descriptor; nil if it is not one or its process has been reaped. The kernel writes it as
    /// `Pid:` into the descriptor's information file.
    package static func pid(of descriptor: Descriptor) -> Int32? {
        guard let text = SmallFile.text(path: "/proc/self/fdinfo/\(descriptor.number)", max: 4096) else { return nil }
        for line in text.split(separator: "\n") where line.hasPrefix("Pid:") {
            guard let pid = Int32(line.dropFirst(4).drop { $0 == " " || $0 == "\t" }), pid > 0 else { return nil }
            return pid
        }
        return nil
    }
}

internal import Glibc
internal import VaubanLinuxHost
internal import VaubanPlainText

/// The process at the other end of a connection, as the kernel names it.
struct Requester: Sendable {
    let process: Int32
    /// The kernel's name of the process: the beginning of its executable's file name, unless it renamed itself.
    let name: String
    /// The requester's connection, by which the enclave identifies the process.
    let connection: Descriptor

    init(_ peer: Peer, _ connection: Descriptor) {
        process = peer.pid
        self.connection = connection
        let said = SmallFile.bytes(path: "/proc/\(peer.pid)/comm", max: 64).map { String(decoding: $0, as: UTF8.self) } ?? ""
        name = PlainLine.of(said, charactersMax: 16)
    }

    /// The leader of the requester's session; nil if it has ended. A session contains only processes that its own processes started, so no
    /// other program can join it.
    var sessionLeader: Descriptor? {
        let session = getsid(process)
        guard session > 0, let leader = try? ProcessDescriptor.open(session), getsid(process) == session else { return nil }
        return leader
    }

    var description: String { "\(name.isEmpty ? "a program" : name) (process \(process))" }
}

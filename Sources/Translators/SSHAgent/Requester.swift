internal import Glibc
internal import VaubanLinuxHost
internal import VaubanPlainText

/// The process at the other end of a connection, as the kernel names it.
struct Requester: Sendable {
    let process: Int32
    /// The kernel's name of the process: the beginning of its executable's file name, unless it renamed itself.
    let name: String
    /// Its connection, from which the enclave reads who it is.
    let connection: Descriptor

    init(_ peer: Peer, _ connection: Descriptor) {
        process = peer.pid
        self.connection = connection
        let said = SmallFile.bytes(path: "/proc/\(peer.pid)/comm", max: 64).map { String(decoding: $0, as: UTF8.self) } ?? ""
        name = PlainLine.of(said, charactersMax: 16)
    }

    /// The process that leads the requester's session; nil if it has ended. Only processes that the session's own processes started are in
    /// it, so that no other program can join it.
    var sessionLeader: Descriptor? {
        let session = getsid(process)
        guard session > 0, let leader = try? ProcessDescriptor.open(session), getsid(process) == session else { return nil }
        return leader
    }

    var description: String { "\(name.isEmpty ? "a program" : name) (process \(process))" }
}

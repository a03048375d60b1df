internal import VaubanLinuxHost
internal import VaubanPlainText

/// The process at the other end of a connection, as the kernel names it.
struct Requester: Sendable {
    let process: Int32
    /// The kernel's name of the process: the beginning of its executable's file name, unless it renamed itself.
    let name: String

    init(_ peer: Peer) {
        process = peer.pid
        let said = SmallFile.bytes(path: "/proc/\(peer.pid)/comm", max: 64).map { String(decoding: $0, as: UTF8.self) } ?? ""
        name = PlainLine.of(said, charactersMax: 16)
    }

    var description: String { "\(name.isEmpty ? "a program" : name) (process \(process))" }
}

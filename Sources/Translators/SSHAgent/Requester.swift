internal import VaubanLinuxHost
internal import VaubanPlainText

/// The process at the other end of a connection, in the kernel's words.
struct Requester: Sendable {
    let process: Int32
    /// What the kernel calls it: the beginning of the name of the file that it executes, unless it named itself otherwise.
    let name: String

    init(_ peer: Peer) {
        process = peer.pid
        let said = SmallFile.bytes(path: "/proc/\(peer.pid)/comm", max: 64).map { String(decoding: $0, as: UTF8.self) } ?? ""
        name = PlainLine.of(said, charactersMax: 16)
    }

    var words: String { "\(name.isEmpty ? "a program" : name) (process \(process))" }
}

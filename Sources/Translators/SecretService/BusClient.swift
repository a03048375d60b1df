internal import VaubanLinuxHost
internal import VaubanPlainText

/// A client on the bus.
final class BusClient: Sendable {
    /// The unique name, which the bus never gives twice.
    let name: String
    let process: Int32?
    /// What the kernel calls the process: its own choice, so good for the eye alone.
    let program: String
    /// Ends what is done for the client when it leaves the bus.
    let cancellation = CallCancellation()

    init(name: String, process: Int32?) {
        self.name = name
        self.process = process
        let said = process.flatMap { SmallFile.bytes(path: "/proc/\($0)/comm", max: 64) }.map { String(decoding: $0, as: UTF8.self) } ?? ""
        program = PlainLine.of(said, charactersMax: 16)
    }

    var words: String { "\(program.isEmpty ? "a program" : program)\(process.map { " (process \($0))" } ?? "")" }
}

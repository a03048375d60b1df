import Foundation
import TestSupport
import Testing

/// A device with the rooms as they are shipped, a keychain of its own, and its user at a shell and at terminals with prompts.
final class Device {
    static let passcode = "winter-apple-7"
    /// The longest wait for the steps at a terminal, which only a test that hangs reaches.
    private static let seconds = 240
    private static let vauban = Program("vauban")

    private let home: TemporaryFolder
    private let files: TemporaryFolder

    /// A device whose keychain has no passcode yet.
    init() throws {
        home = try TemporaryFolder()
        files = try TemporaryFolder()
        try check("setup creates the keychain", Self.vauban("setup", "--no-input"), says: "No passcode is set")
    }

    deinit { _ = try? run(Self.vauban("stop")) }

    func setPasscode() throws {
        try check(
            "setup sets the passcode", Self.vauban("setup", "--passcode-fd", "0", input: Self.passcode), says: "The passcode is set")
    }

    // MARK: Commands

    /// Checks that the command exits with the status and that its output contains the text. It has neither a terminal nor a prompt agent.
    @discardableResult func check(
        _ what: String, _ command: Command, exits status: Int32 = 0, says text: String, sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> StartedProgram.Output {
        let output = try run(command)
        judge(what, shown: command.shown, (output.status, output.out + output.err), status: status, text: text, at: sourceLocation)
        return output
    }

    /// Checks the same on a terminal with prompts, where the user follows the steps of `pty-play`.
    func user(
        _ what: String, _ command: Command, exits status: Int32 = 0, says text: String, steps: String = "",
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let terminal = try PlayedTerminal(
            [Self.vauban.path, "approve", "--"] + command.words, home: home, steps: steps, seconds: Self.seconds)
        let (ended, shown) = try terminal.ended()
        judge(what, shown: "vauban approve -- \(command.shown)", (ended, shown), status: status, text: text, at: sourceLocation)
    }

    /// Runs a command without a terminal.
    func run(_ command: Command) throws -> StartedProgram.Output {
        let environment = ["VAUBAN_HOME": home.path, "HOME": home.path, "PATH": "/usr/local/bin:/usr/bin:/bin"]
        let input = command.input.isEmpty ? "" : "\(command.input)\n"
        return try StartedProgram(["/usr/bin/setsid", "--wait"] + command.words, environment: environment, input: input).ended()
    }

    // MARK: Files

    func path(_ file: String) -> String { "\(files.path)/\(file)" }

    func read(_ file: String) throws -> String { try String(contentsOfFile: path(file), encoding: .utf8) }

    func write(_ text: String, to file: String) throws { try write(Array(text.utf8), to: file) }

    func write(_ bytes: [UInt8], to file: String) throws { try Data(bytes).write(to: URL(fileURLWithPath: path(file))) }

    /// Writes 32 random bytes, such as a key or a challenge.
    func writeRandom(to file: String) throws { try write((0..<32).map { _ in UInt8.random(in: 0...255) }, to: file) }

    /// Writes a script that the user may run.
    func writeScript(_ text: String, to file: String) throws { try ProgramFile.write(Array(text.utf8), to: path(file)) }

    func rename(_ file: String, to other: String) throws { try FileManager.default.moveItem(atPath: path(file), toPath: path(other)) }

    func remove(_ file: String) throws { try FileManager.default.removeItem(atPath: path(file)) }

    // MARK: Results

    private func judge(
        _ what: String, shown: String, _ result: (status: Int32, text: String), status: Int32, text: String, at location: SourceLocation
    ) {
        #expect(
            result.status == status && result.text.contains(text), "\(what): status \(result.status)\n\(result.text)",
            sourceLocation: location)
        guard Self.showsTranscript else { return }
        let output = result.text.isEmpty || result.text.hasSuffix("\n") ? result.text : "\(result.text)\n"
        FileHandle.standardOutput.write(Data("\n# \(what)\n$ \(shown)\n\(output)".utf8))
    }

    /// `make examples` shows what the programs print.
    private static let showsTranscript = ProcessInfo.processInfo.environment["VAUBAN_SHOWS_EXAMPLES"] != nil
}

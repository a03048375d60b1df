import Foundation
import Glibc
import VaubanDER
import VaubanLinuxHost
import VaubanUserModel

/// The command line of this build on a terminal that `pty-play` plays, connected to a room of the test. A step `run printf . >$BELL` tells
/// the test that the play has reached it, and `run read line <$LEAVE` waits until the test lets it continue.
final class PlayedTerminal {
    private let process = Process()
    private let output = Pipe()
    private let home: TestFolder
    private let bell: Descriptor
    private let leave: Descriptor

    init(before address: ServerAddress, _ arguments: [String], steps: String) throws {
        home = try TestFolder()
        try FileManager.default.createSymbolicLink(atPath: "\(home.path)/run", withDestinationPath: address.folder)
        bell = try Self.namedPipe("\(home.path)/bell")
        leave = try Self.namedPipe("\(home.path)/leave")
        let input = Pipe()
        process.executableURL = URL(fileURLWithPath: "\(Self.programs)/pty-play")
        process.arguments = ["--", "\(Self.programs)/vauban"] + arguments
        process.environment = [
            "VAUBAN_HOME": home.path, "BELL": "\(home.path)/bell", "LEAVE": "\(home.path)/leave", "TERM": "xterm", "PATH": "/usr/bin:/bin",
        ]
        process.standardInput = input
        process.standardOutput = output
        process.standardError = output
        try process.run()
        try input.fileHandleForWriting.write(contentsOf: Data(steps.utf8))
        try input.fileHandleForWriting.close()
    }

    /// Waits until the play signals.
    func heard() throws {
        var poller = pollfd(fd: bell.number, events: Int16(POLLIN), revents: 0)
        guard poll(&poller, 1, 20_000) == 1 else { throw Unexpected(what: "the play does not ring; \(try ended().shown)") }
        var ring: UInt8 = 0
        _ = read(bell.number, &ring, 1)
    }

    func goOn() {
        var line: UInt8 = 0x0A
        _ = write(leave.number, &line, 1)
    }

    /// Creates a named pipe and opens it for reading and writing, so that neither end waits for the other.
    private static func namedPipe(_ path: String) throws(SystemError) -> Descriptor {
        try SystemError.check(mkfifo(path, 0o600), "make a pipe")
        return Descriptor(try SystemError.check(open(path, O_RDWR | O_CLOEXEC), "open the pipe"))
    }

    /// Returns the command's exit status and what the terminal showed.
    func ended() throws -> (status: Int32, shown: String) {
        let shown = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return (process.terminationStatus, String(decoding: shown, as: UTF8.self))
    }

    private static let programs = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent().path
}

extension FakeEnclave {
    /// Returns a key card to which agents can seal, although nobody has the private key: the base point of the curve (RFC 7748, section
    /// 4.1).
    static func realKeyCard() throws -> Descriptor {
        try SealedMemory.make(EnclaveKeyCard(publicKey: [9] + [UInt8](repeating: 0, count: 31)).encoded())
    }
}

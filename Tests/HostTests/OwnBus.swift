import Foundation
import Glibc
import TestSupport
import Testing
import VaubanLinuxHost

/// A separate system bus for a test, with a played login manager (Tests/Scripts/lib/played-logind.py).
final class OwnBus {
    let address: String
    private let folder: TestFolder
    private let daemon: PlayedProgram
    private var logind: PlayedProgram?

    /// Cancels the test if no bus is available.
    init() throws {
        try Self.cancelWhereThereIsNone()
        folder = try TestFolder()
        address = "unix:path=\(folder.path)/socket"
        let allowed =
            ["user", "own", "send_destination", "receive_sender"].map { "<allow \($0)=\"*\"/>" }
            + ["signal", "method_call", "method_return", "error"].map { "<allow receive_type=\"\($0)\"/>" }
            + ["method_return", "error"].map { "<allow send_requested_reply=\"true\" send_type=\"\($0)\"/>" }
        let config =
            "<busconfig><type>system</type><listen>\(address)</listen><auth>EXTERNAL</auth>"
            + "<policy context=\"default\">\(allowed.joined())<allow send_type=\"signal\"/></policy></busconfig>"
        try Data(config.utf8).write(to: URL(fileURLWithPath: "\(folder.path)/config"))
        daemon = try PlayedProgram(
            "/usr/bin/dbus-daemon", ["--config-file=\(folder.path)/config", "--nofork", "--nopidfile", "--print-address=1"])
        _ = try daemon.line()
    }

    private static func cancelWhereThereIsNone() throws {
        let python = try? BuiltPrograms.run("/usr/bin/python3", ["-c", "import dbus, gi"])
        if python?.status == 0 && access("/usr/bin/dbus-daemon", X_OK) == 0 { return }
        try Test.cancel("there is no dbus-daemon, python3-dbus or python3-gi here")
    }

    /// Starts the login manager, with one session of this user.
    func startLogind(sessionOf user: UInt32) throws {
        let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("Scripts/lib/played-logind.py").path
        let logind = try PlayedProgram("/usr/bin/python3", [script, address, "\(user)"])
        try logind.expect("playing")
        self.logind = logind
    }

    /// Stops it; the bus announces that its name has no owner.
    func stopLogind() { logind = nil }

    func logind(_ command: String) throws { try #require(logind).writeLine(command) }
    func expect(_ line: String) throws { try #require(logind).expect(line) }
}

/// A program that reads and writes lines.
final class PlayedProgram {
    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()

    init(_ program: String, _ arguments: [String]) throws {
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = arguments
        process.standardInput = input
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        BrokenPipe.endsNoTests()
        try process.run()
    }

    deinit {
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    func writeLine(_ line: String) throws { try input.fileHandleForWriting.write(contentsOf: Data("\(line)\n".utf8)) }

    /// Waits until the program writes this line; skips earlier ones.
    func expect(_ expected: String) throws { while try line() != expected {} }

    /// Returns the program's next line; throws if the program hangs.
    func line() throws -> String {
        var bytes: [UInt8] = []
        let number = output.fileHandleForReading.fileDescriptor
        while true {
            var poller = pollfd(fd: number, events: Int16(POLLIN), revents: 0)
            guard poll(&poller, 1, HangLimit.milliseconds) == 1 else { throw SystemError("hear a played program", code: ETIMEDOUT) }
            var byte: UInt8 = 0
            guard read(number, &byte, 1) == 1 else { throw SystemError("hear a played program", code: EPIPE) }
            if byte == UInt8(ascii: "\n") { return String(decoding: bytes, as: UTF8.self) }
            bytes.append(byte)
        }
    }
}

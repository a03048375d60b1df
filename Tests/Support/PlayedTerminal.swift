internal import Foundation
internal import Glibc

/// A command on a new terminal that `pty-play` plays by steps. A step `run printf . >$BELL` signals to the test that the play has reached
/// it, and `run read line <$LEAVE` waits until the test calls `resume`.
public final class PlayedTerminal {
    private let home: TemporaryFolder
    private let pipes: TemporaryFolder
    private let bell: FileHandle
    private let leave: FileHandle
    private let play: StartedProgram

    /// - Parameters:
    ///   - home: The keychain's folder, which stays as long as the terminal.
    ///   - seconds: The longest wait for each step, which only a test that hangs reaches.
    public init(_ command: [String], home: TemporaryFolder, steps: String, seconds: Int = Int(HangLimit.seconds)) throws {
        self.home = home
        pipes = try TemporaryFolder()
        bell = try Self.namedPipe("\(pipes.path)/bell")
        leave = try Self.namedPipe("\(pipes.path)/leave")
        let environment = [
            "VAUBAN_HOME": home.path, "BELL": "\(pipes.path)/bell", "LEAVE": "\(pipes.path)/leave", "TERM": "xterm",
            "HOME": home.path, "PATH": "/usr/bin:/bin",
        ]
        play = try StartedProgram(
            ["\(BuiltPrograms.folder)/pty-play", "--seconds", "\(seconds)", "--"] + command, environment: environment, input: "\(steps)\n")
    }

    public struct Silence: Error, CustomStringConvertible {
        public let description: String
    }

    /// Waits until the play has reached a step that signals.
    public func awaitBell() throws {
        var poller = pollfd(fd: bell.fileDescriptor, events: Int16(POLLIN), revents: 0)
        guard poll(&poller, 1, HangLimit.milliseconds) == 1 else {
            throw Silence(description: "the play does not ring; \(try ended().shown)")
        }
        var ring: UInt8 = 0
        _ = read(bell.fileDescriptor, &ring, 1)
    }

    public func resume() {
        var line: UInt8 = 0x0A
        _ = write(leave.fileDescriptor, &line, 1)
    }

    /// Waits until the command ends; returns its exit status and what the terminal showed, or which step failed.
    public func ended() throws -> (status: Int32, shown: String) {
        let output = try play.ended()
        return (output.status, output.out + output.err)
    }

    /// Creates a named pipe and opens it for reading and writing, so that neither end waits for the other.
    private static func namedPipe(_ path: String) throws -> FileHandle {
        guard mkfifo(path, 0o600) == 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
        let number = open(path, O_RDWR | O_CLOEXEC)
        guard number >= 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
        return FileHandle(fileDescriptor: number, closeOnDealloc: true)
    }
}

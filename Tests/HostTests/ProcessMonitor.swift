internal import CVaubanLinux
import Foundation
import Glibc
import TestSupport
import VaubanLinuxHost

/// Waits for the end of a process that need not be a child of this one.
struct ProcessMonitor {
    let process: Descriptor

    init(_ pid: Int32) throws {
        process = Descriptor(try SystemError.checkNegated(vauban_pidfd_open(pid), "open a process"))
    }

    func ends() -> Bool {
        var poller = pollfd(fd: process.number, events: Int16(POLLIN), revents: 0)
        return poll(&poller, 1, HangLimit.milliseconds) == 1
    }
}

/// A program that runs until it is released.
final class Waiter {
    let pid: Int32
    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()

    init(_ program: String, _ arguments: [String] = [], environment: [String: String]? = nil) throws {
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = arguments
        if let environment { process.environment = environment }
        process.standardInput = input
        process.standardOutput = output
        // A program that could not start reads nothing.
        BrokenPipe.endsNoTests()
        try process.run()
        pid = process.processIdentifier
    }

    /// Returns the next line that it writes, which shows how far it has come.
    func line() throws -> String {
        var line: [UInt8] = []
        while let byte = try output.fileHandleForReading.read(upToCount: 1)?.first, byte != 0x0A { line.append(byte) }
        return String(decoding: line, as: UTF8.self)
    }

    /// Has `cat`, under any name, answer a line: then it has loaded everything that it loads.
    func answers() throws -> Bool {
        guard (try? writeLine("there")) != nil else { return false }
        return try line() == "there"
    }

    func writeLine(_ line: String) throws { try input.fileHandleForWriting.write(contentsOf: Data("\(line)\n".utf8)) }

    deinit { end() }

    func end() {
        guard process.isRunning else { return }
        // Killed, since it inherited the signals that this thread has blocked. Foundation waits until no process holds the descriptors that
        // it gave to the program, so the program's children have to end first.
        for child in Self.children(of: pid) { kill(child, SIGKILL) }
        kill(pid, SIGKILL)
        process.waitUntilExit()
    }

    /// Returns the children of a process and their children, the youngest first.
    static func children(of pid: Int32) -> [Int32] {
        let text = SmallFile.text(path: "/proc/\(pid)/task/\(pid)/children", max: 4096) ?? ""
        let children = text.split(separator: " ").compactMap { Int32($0) }
        return children.flatMap { Self.children(of: $0) + [$0] }
    }
}

internal import CVaubanLinux
import Foundation
import Glibc
import VaubanLinuxHost

/// Waits for the end of a process that may be nobody's child here.
struct ProcessWatch {
    let process: Descriptor

    init(_ pid: Int32) throws {
        process = Descriptor(try SystemFault.checkNegated(vauban_pidfd_open(pid), "open a process"))
    }

    func ends() -> Bool {
        var poller = pollfd(fd: process.number, events: Int16(POLLIN), revents: 0)
        return poll(&poller, 1, 10_000) == 1
    }
}

/// A program that runs until it is let go.
final class Waiter {
    let pid: Int32
    private let process = Process()
    private let input = Pipe()

    init(_ program: String) throws {
        process.executableURL = URL(fileURLWithPath: program)
        process.standardInput = input
        process.standardOutput = Pipe()
        try process.run()
        pid = process.processIdentifier
    }

    deinit { end() }

    func end() {
        guard process.isRunning else { return }
        // Not asked to end: it inherited the signals that this thread has blocked.
        kill(pid, SIGKILL)
        process.waitUntilExit()
    }
}

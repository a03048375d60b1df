import CVaubanLinux
import Glibc
import VaubanLinuxHost

/// The terminal of a played command, from the user's side.
final class Stage {
    private var master: Descriptor?
    private let slave: Descriptor
    private let process: Descriptor
    private let pid: pid_t
    /// When the current step must be done.
    var deadline: UInt64
    private var shown: [UInt8] = []
    /// The end of the output that was already expected.
    private var seen = 0

    // Constants of <asm-generic/ioctls.h>, which the Glibc module does not import.
    private static let unlockTerminal: UInt = 0x4004_5431  // TIOCSPTLCK
    private static let openPeer: UInt = 0x5441  // TIOCGPTPEER

    init(_ command: [String], size: winsize, deadline: UInt64) throws {
        self.deadline = deadline
        let master = Descriptor(try SystemError.check(open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC), "open a new terminal"))
        var locked: Int32 = 0
        try SystemError.check(ioctl(master.number, Self.unlockTerminal, &locked), "unlock the new terminal")
        slave = Descriptor(
            try SystemError.check(ioctl(master.number, Self.openPeer, O_RDWR | O_NOCTTY | O_CLOEXEC), "open the new terminal's other side"))
        self.master = master
        var size = size
        _ = ioctl(slave.number, UInt(TIOCSWINSZ), &size)
        var arguments: [UnsafeMutablePointer<CChar>?] = command.map { strdup($0) } + [nil]
        defer { for argument in arguments { free(argument) } }
        pid = try SystemError.checkNegated(vauban_spawn_on_terminal(&arguments, slave.number), "start the command")
        process = Descriptor(try SystemError.checkNegated(vauban_pidfd_open(pid), "hold the command"))
        _ = fcntl(master.number, F_SETFL, O_NONBLOCK)
    }

    func expect(_ text: String) throws {
        let wanted = Array(text.utf8)
        while true {
            if let end = position(of: wanted, from: seen) { seen = end; return }
            if try !waitForOutput() { throw Failure("the command ended without it; it showed: \(tail)") }
        }
    }

    func hasShown(_ text: String) -> Bool {
        take()
        return position(of: Array(text.utf8), from: 0) != nil
    }

    /// Whether the terminal would display input now.
    var hasEcho: Bool {
        var mode = termios()
        return tcgetattr(slave.number, &mode) != 0 || mode.c_lflag & tcflag_t(ECHO) != 0
    }

    func type(_ bytes: [UInt8]) throws {
        guard let master else { throw Failure("the terminal is closed") }
        guard write(master.number, bytes, bytes.count) == bytes.count else { throw Failure("the terminal takes no keys") }
    }

    func resize(_ size: winsize) {
        var size = size
        if let master { _ = ioctl(master.number, UInt(TIOCSWINSZ), &size) }
    }

    func hangUp() { master = nil }

    /// Runs a shell command beside the played one and returns its wait status. Throws if it does not end by the deadline.
    func run(_ command: String) throws -> Int32 {
        let words = ["sh", "-c", command]
        var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
        defer { for argument in arguments { free(argument) } }
        var shell: pid_t = 0
        let problem = posix_spawn(&shell, "/bin/sh", nil, nil, &arguments, environ)
        guard problem == 0 else { throw SystemError("start a shell", code: problem) }
        let shellEnd = Descriptor(try SystemError.checkNegated(vauban_pidfd_open(shell), "hold the shell"))
        var status: Int32 = 0
        while try SystemError.check(waitpid(shell, &status, WNOHANG), "wait for the shell") == 0 {
            let now = MachineClock.monotonic
            guard now < deadline else {
                kill(shell, SIGTERM)
                throw Failure("it did not end in time; the terminal showed: \(tail)")
            }
            var pollers = [
                pollfd(fd: master?.number ?? -1, events: Int16(POLLIN), revents: 0),
                pollfd(fd: shellEnd.number, events: Int16(POLLIN), revents: 0),
            ]
            _ = poll(&pollers, nfds_t(pollers.count), MachineClock.pollTime(until: deadline, from: now))
            take()
        }
        return status
    }

    /// Waits until the command ends.
    func exitCode() throws -> Int32 {
        while try waitForOutput() {}
        take()
        var status: Int32 = 0
        while waitpid(pid, &status, 0) < 0 && errno == EINTR {}
        let signal = status & 0x7F
        return signal == 0 ? (status >> 8) & 0xFF : 128 + signal
    }

    /// Ends the command after a failed step.
    func end() {
        take()
        kill(-pid, SIGTERM)
        kill(pid, SIGTERM)
    }

    /// Prints what a user would have read: an overwritten line only in its last state, without colors and cursor movements.
    func printTranscript() {
        let text = Self.readable(shown)
        text.withUnsafeBytes { bytes in
            var rest = bytes
            while !rest.isEmpty {
                let count = write(STDOUT_FILENO, rest.baseAddress, rest.count)
                guard count > 0 else { return }
                rest = UnsafeRawBufferPointer(rebasing: rest[count...])
            }
        }
    }

    /// Control characters that show nothing.
    private static let shiftIn: UInt8 = 0x0F, cancel: UInt8 = 0x18

    private static func readable(_ bytes: [UInt8]) -> [UInt8] {
        var text: [UInt8] = []
        var lineStart = 0
        var index = 0
        while index < bytes.count {
            let byte = bytes[index]
            index += 1
            if byte == 0x1B, index < bytes.count, bytes[index] == 0x5B {
                index += 1
                while index < bytes.count, !(0x40...0x7E).contains(bytes[index]) { index += 1 }
                index += 1
            } else if byte == 0x1B, index < bytes.count, (0x20...0x2F).contains(bytes[index]) {
                // The choice of a character set.
                index = (bytes[index...].firstIndex { !(0x20...0x2F).contains($0) } ?? bytes.count - 1) + 1
            } else if byte == shiftIn || byte == cancel {
                continue
            } else if byte == 0x0D {
                // Several carriage returns before a line end count as one: the terminal of a terminal proxy adds its own.
                let next = bytes[index...].first { $0 != 0x0D }
                if next != 0x0A { text.removeSubrange(lineStart...) }
            } else {
                text.append(byte)
                if byte == 0x0A { lineStart = text.count }
            }
        }
        return text
    }

    /// Waits for more output; returns false if the command has ended and there is no more.
    private func waitForOutput() throws -> Bool {
        let before = shown.count
        take()
        let now = MachineClock.monotonic
        guard now < deadline else { end(); throw Failure("the time is over; it showed: \(tail)") }
        if shown.count > before { return true }
        var pollers = [
            pollfd(fd: master?.number ?? -1, events: Int16(POLLIN), revents: 0),
            pollfd(fd: process.number, events: Int16(POLLIN), revents: 0),
        ]
        _ = poll(&pollers, nfds_t(pollers.count), MachineClock.pollTime(until: deadline, from: now))
        take()
        return shown.count > before || pollers[1].revents == 0
    }

    private func take() {
        guard let master else { return }
        var chunk = [UInt8](repeating: 0, count: 65536)
        while true {
            let count = read(master.number, &chunk, chunk.count)
            guard count > 0 else { return }
            shown.append(contentsOf: chunk[0..<count])
        }
    }

    /// Returns the end of the text in the output, or nil if the output does not contain it.
    private func position(of text: [UInt8], from start: Int) -> Int? {
        guard !text.isEmpty else { return start }
        var index = start
        while index + text.count <= shown.count {
            if shown[index] == text[0] && shown[index..<index + text.count].elementsEqual(text) { return index + text.count }
            index += 1
        }
        return nil
    }

    /// The last of what the terminal has displayed.
    var tail: String { String(decoding: shown.suffix(400), as: UTF8.self) }
}

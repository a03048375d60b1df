// The process that `vauban get --copy` leaves running: it fills the clipboard and clears it after a delay, unless something else was copied
// in the meantime.

import ArgumentParser
import CVaubanLinux
import Glibc
import VaubanLinuxHost
import VaubanRefusal
import VaubanSecretBytes

struct ClipboardHolder {
    let tool: ClipboardTool
    let seconds: Int64
    private static let filled = "filled"
    private static let outputSecondsMax = 3

    /// Starts the process, passes it the secret, and returns when the clipboard contains it.
    func start(with secret: borrowing SecretBytes) throws {
        signal(SIGPIPE, SIG_IGN)
        var line = try Pipe()
        var answer = try Pipe()
        let words = ["vauban", HoldClipboard.name, "--tool", tool.rawValue, "--seconds", String(seconds)]
        try ChildCommand.spawn(
            "/proc/self/exe", words, input: line.reading.number, output: answer.writing?.number, inItsOwnSession: true)
        answer.endWriting()
        if let end = line.writing?.number { _ = secret.withUnsafeBytes { writeAll($0, to: end) } }
        line.endWriting()
        let said = try SecretReader.everything(from: answer.reading.number, max: 64, keepsNewline: true)
        guard said.withUnsafeBytes({ $0.elementsEqual(Self.filled.utf8) }) else {
            throw Refusal(
                .unavailable,
                "\(tool.rawValue) could not set the clipboard, so nothing was copied; check whether \(tool.rawValue) works by itself"
            )
        }
    }

    /// Fills the clipboard with standard input, confirms that on standard output, and stays until the delay is over.
    func run() throws {
        let secret = try SecretReader.everything(from: STDIN_FILENO, max: SecretSource.bytesMax, keepsNewline: true)
        // Makes this process the parent of processes that the tool leaves running, so that it can detect whether they still run.
        try SystemError.checkNegated(vauban_adopt_orphans(), "stay with the clipboard")
        // A tool that ends early is detected by its exit status.
        signal(SIGPIPE, SIG_IGN)
        guard try give(secret, to: tool.copying(isMarked: canMark())) == 0, try contains(secret) else { throw ExitCode(1) }
        // Added before any other process can paste the secret: from here on, a signal clears the clipboard.
        let duty = Interruption.add { try? clear() }
        // The parent process reads this to the end.
        writeText(Self.filled, to: STDOUT_FILENO)
        close(STDOUT_FILENO)
        try wait(until: MachineClock.boot + UInt64(seconds) * 1_000_000_000)
        Interruption.remove(duty)
        if try holds(secret) { try clear() }
    }

    /// Waits until the clipboard contains the secret, and returns whether it does. xclip and xsel return before the X server has registered
    /// the process that offers it, so for a moment a paste still returns the previous content. If something else was copied since, this is
    /// no failure: the clipboard did contain the secret.
    private func contains(_ secret: borrowing SecretBytes) throws -> Bool {
        guard !tool.returnsWhenSet else { return true }
        let end = MachineClock.boot + 10 * 1_000_000_000
        while MachineClock.boot < end {
            if let content = try? output(of: tool.pasting, max: secret.count), content.equals(secret) { return true }
            if !offers() { return true }
            try wait(until: MachineClock.boot + 10_000_000)
        }
        return false
    }

    private func wait(until end: UInt64) throws(SystemError) {
        let timer = try DueTimer()
        timer.set(at: end)
        while MachineClock.boot < end { timer.wait() }
    }

    /// Whether the clipboard still contains the secret: either the process that offers it still runs, or one that took it over, such as a
    /// clipboard manager, returns the same bytes.
    private func holds(_ secret: borrowing SecretBytes) throws -> Bool {
        if offers() { return true }
        guard let content = try? output(of: tool.pasting, max: secret.count) else { return false }
        return content.equals(secret)
    }

    /// Whether the process that offers the secret still runs; it ends when something else is copied.
    private func offers() -> Bool {
        while true {
            let ended = waitpid(-1, nil, WNOHANG)
            if ended <= 0 { return ended == 0 }
        }
    }

    private func clear() throws { _ = try give(SecretBytes(count: 0) { _ in }, to: tool.clearing) }

    private func canMark() -> Bool {
        guard let listing = tool.listing, let text = try? output(of: listing, max: 1 << 16) else { return false }
        return text.withUnsafeBytes { String(decoding: $0, as: UTF8.self).contains("--sensitive") }
    }

    /// Runs a tool with these bytes on its standard input and returns its exit status.
    private func give(_ bytes: borrowing SecretBytes, to command: [String]) throws(SystemError) -> Int32 {
        var line = try Pipe()
        let pid = try ChildCommand.spawn(command[0], command, input: line.reading.number)
        if let end = line.writing?.number { _ = bytes.withUnsafeBytes { writeAll($0, to: end) } }
        line.endWriting()
        return ChildCommand.waitForEnd(of: pid)
    }

    /// Returns the output of a tool; throws if it exceeds a limit. Output that arrives later than some seconds is left out: the program
    /// that offers the clipboard's content may not answer.
    private func output(of command: [String], max: Int) throws -> SecretBytes {
        var line = try Pipe()
        let nothing = Descriptor(try SystemError.check(open("/dev/null", O_RDONLY | O_CLOEXEC), "open /dev/null"))
        let words = ["timeout", "--foreground", String(Self.outputSecondsMax)] + command
        let pid = try ChildCommand.spawn(words[0], words, input: nothing.number, output: line.writing?.number)
        line.endWriting()
        defer { ChildCommand.waitForEnd(of: pid) }
        return try SecretReader.everything(from: line.reading.number, max: max, keepsNewline: true)
    }
}

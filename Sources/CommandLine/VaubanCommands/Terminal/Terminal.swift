import Glibc
import VaubanLinuxHost

/// The user's terminal: the controlling terminal as the kernel names it, never a descriptor that another program passed.
final class Terminal: Sendable {
    let descriptor: Descriptor
    /// The terminal's name without its folder, as in "pts/3".
    let name: String

    private init(_ descriptor: Descriptor) {
        self.descriptor = descriptor
        name = Self.nameOfControlling()
    }

    /// Returns the controlling terminal if this process is in its foreground; a background job must not prompt.
    static func inForeground() -> Terminal? {
        let number = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)
        guard number >= 0 else { return nil }
        let descriptor = Descriptor(number)
        guard tcgetpgrp(number) == getpgrp() else { return nil }
        return Terminal(descriptor)
    }

    /// The size of the window, or nil if the terminal does not report it.
    var size: winsize? {
        var size = winsize()
        return ioctl(descriptor.number, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0 ? size : nil
    }

    /// Whether the terminal has an alternate screen for prompts.
    static var hasAlternateScreen: Bool {
        guard let type = getenv("TERM").map({ String(cString: $0) }) else { return false }
        return !["", "dumb", "unknown"].contains(type)
    }

    func write(_ text: String) { writeText(text, to: descriptor.number) }

    func write(_ bytes: UnsafeRawBufferPointer) { writeAll(bytes, to: descriptor.number) }

    /// Returns the name of the controlling terminal for the kernel's device number.
    private static func nameOfControlling() -> String {
        // Field 7 of proc_pid_stat(5). Field 2, the program's name, may contain anything, but it ends at the last parenthesis.
        guard let text = SmallFile.text(path: "/proc/self/stat", max: 8192), let end = text.lastIndex(of: ")") else { return "terminal" }
        let fields = text[text.index(after: end)...].split(separator: " ")
        guard fields.count > 4, let device = Int(fields[4]) else { return "terminal" }
        let major = (device >> 8) & 0xFFF
        let minor = (device & 0xFF) | ((device >> 12) & 0xFFF00)
        switch major {
        case 136...143: return "pts/\(minor + (major - 136) * 256)"
        case 4 where minor < 64: return "tty\(minor)"
        default: return "terminal"
        }
    }
}

/// Writes as many bytes as the other side accepts and returns whether it accepted all of them.
@discardableResult
func writeAll(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) -> Bool {
    var rest = bytes
    while !rest.isEmpty {
        let count = Glibc.write(descriptor, rest.baseAddress, rest.count)
        if count < 0 && errno == EINTR { continue }
        guard count > 0 else { return false }
        rest = UnsafeRawBufferPointer(rebasing: rest[count...])
    }
    return true
}

/// Writes text and returns whether all of it was written.
@discardableResult
func writeText(_ text: String, to descriptor: Int32) -> Bool {
    var text = text
    return text.withUTF8 { writeAll(UnsafeRawBufferPointer($0), to: descriptor) }
}

/// Synchronizes standard output, if it is a file, with its disk. Returns false if what was written may be lost.
func syncOutput() -> Bool {
    // Terminals and pipes cannot be synchronized.
    fsync(STDOUT_FILENO) == 0 || [EINVAL, EROFS, EOPNOTSUPP].contains(errno)
}

/// Writes a message to the user on standard error, apart from the command's output.
func say(_ text: String) { writeText(text + "\n", to: STDERR_FILENO) }

/// Returns a count with its noun, in the plural unless the count is one.
func count(_ number: some BinaryInteger, _ noun: String) -> String { "\(number) \(noun)\(number == 1 ? "" : "s")" }

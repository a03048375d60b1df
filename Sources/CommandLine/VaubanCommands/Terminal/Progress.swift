import Glibc

/// A line that says how far a command has come, for a terminal alone.
struct Progress {
    private let isTerminal = isatty(STDERR_FILENO) == 1

    func show(_ text: String) {
        if isTerminal { writeText("\r\(text)", to: STDERR_FILENO) }
    }

    /// To be called before anything else is written, and at the end.
    func clear() {
        if isTerminal { writeText("\r\u{1B}[K", to: STDERR_FILENO) }
    }
}

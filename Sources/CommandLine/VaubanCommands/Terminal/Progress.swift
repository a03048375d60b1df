import Glibc

/// A progress line, which is shown only on a terminal.
struct Progress {
    private let isTerminal = isatty(STDERR_FILENO) == 1

    func show(_ text: String) {
        if isTerminal { writeText("\r\(text)", to: STDERR_FILENO) }
    }

    /// Clears the line. Call this before any other output and at the end.
    func clear() {
        if isTerminal { writeText("\r\u{1B}[K", to: STDERR_FILENO) }
    }
}

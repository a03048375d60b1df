internal import Glibc

/// Writes to a pipe or a socket that nobody reads any more, such as the input of a program that has ended.
public enum BrokenPipe {
    /// Handled, not ignored: a program that a test starts would inherit that a signal is ignored.
    private static let handler: Void = { _ = signal(SIGPIPE) { _ in } }()

    /// From now on such a write throws or returns an error, and does not end the test program.
    public static func endsNoTests() { handler }
}

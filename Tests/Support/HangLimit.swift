/// How long a test waits for one event before it counts as hanging: longer than a busy or halted machine takes.
public enum HangLimit {
    public static let seconds = 120.0
    public static let milliseconds: Int32 = 120_000
    public static let nanoseconds: UInt64 = 120_000_000_000
}

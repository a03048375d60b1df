import Glibc

/// The limits of the launcher. Times in nanoseconds, sizes in bytes.
enum LauncherLimits {
    /// A room that ran for a shorter time counts as a quick failure.
    static let quickDeath: UInt64 = 1_000_000_000
    /// Quick failures in a row after which a room is still restarted at once.
    static let restartsAtOnce = 3
    /// The first pause after further failures, and the longest one, which doubling approaches.
    static let restartPauseMin: UInt64 = 100_000_000
    static let restartPauseMax: UInt64 = 5_000_000_000
    /// How long rooms may take to exit before they are killed.
    static let stopTime: UInt64 = 2_000_000_000
    /// The head start of the rooms that answer applications.
    static let headStart: UInt64 = 40_000_000
    /// The pause between two checks of another launcher's progress, in milliseconds.
    static let checkPause: Int32 = 10
    /// A log larger than this at the start is truncated.
    static let logBytesMax: off_t = 1 << 20
}

import Glibc

/// The limits of the launcher. Times in nanoseconds, sizes in bytes.
enum LauncherLimits {
    /// A room that lived shorter than this died quickly.
    static let quickDeath: UInt64 = 1_000_000_000
    /// Quick deaths in a row after which a room is still started again at once.
    static let restartsAtOnce = 3
    /// The pauses after more of them: the first, and the longest that doubling comes to.
    static let restartPauseMin: UInt64 = 100_000_000
    static let restartPauseMax: UInt64 = 5_000_000_000
    /// How long rooms have to end by themselves.
    static let stopTime: UInt64 = 2_000_000_000
    /// Between two looks at what another launcher has come to, in milliseconds.
    static let lookPause: Int32 = 10
    /// A log that is larger at the start begins anew.
    static let logBytesMax: off_t = 1 << 20
}

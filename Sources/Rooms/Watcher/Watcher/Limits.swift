/// The limits of the watcher. Times in milliseconds if poll takes them, otherwise in nanoseconds.
enum WatcherLimits {
    /// How long sleep is delayed for the enclave's reply; less than a login manager allows (InhibitDelayMaxSec, 5 s).
    static let sleepDelayMax: UInt64 = 4_000_000_000
    /// How long the bus and the login manager may take to reply.
    static let busAnswerMax: UInt64 = 5_000_000_000
    /// The pause before a refused inhibitor is requested again.
    static let inhibitorPause: UInt64 = 30_000_000_000
    /// The pauses before the bus is tried again, doubled each time up to the longest.
    static let busPauseMin: Int32 = 100
    static let busPauseMax: Int32 = 30_000
    /// Events being sent to the enclave at once; an enclave that replies to so few hangs.
    static let unansweredMax = 64
}

/// The limits of the watcher. Times in milliseconds if poll takes them, otherwise in nanoseconds.
enum WatcherLimits {
    /// The longest delay of sleep for the enclave's reply; less than a login manager allows (InhibitDelayMaxSec, 5 s).
    static let sleepDelayMax: UInt64 = 4_000_000_000
    /// The longest time for a reply of the bus or the login manager.
    static let busAnswerMax: UInt64 = 5_000_000_000
    /// The pause before a refused inhibitor is requested again.
    static let inhibitorPause: UInt64 = 30_000_000_000
    /// The pauses before the bus is tried again, doubled each time up to the longest.
    static let busPauseMin: Int32 = 100
    static let busPauseMax: Int32 = 30_000
    /// The most events being sent to the enclave at once; an enclave that leaves more of them without a reply hangs.
    static let unansweredMax = 64
}

/// The limits of the watcher. Times in milliseconds where they are given to poll, otherwise in nanoseconds.
enum WatcherLimits {
    /// How long sleep is held up for the enclave's answer; less than what a login manager allows (InhibitDelayMaxSec, 5 s).
    static let sleepDelayMax: UInt64 = 4_000_000_000
    /// How long the bus and the login manager may take to answer a question.
    static let busAnswerMax: UInt64 = 5_000_000_000
    /// Before an inhibitor that was refused is asked for again.
    static let inhibitorPause: UInt64 = 30_000_000_000
    /// Pauses before the bus is tried again, doubled each time up to the longest.
    static let busPauseMin: Int32 = 100
    static let busPauseMax: Int32 = 30_000
    /// Events on their way to the enclave at once; an enclave that answers so few hangs.
    static let unansweredMax = 64
}

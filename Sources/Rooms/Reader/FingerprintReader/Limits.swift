/// The limits of the fingerprint reader. Times in milliseconds where they are given to poll, otherwise in nanoseconds.
enum ReaderLimits {
    /// How long the bus and fprintd may take to answer.
    static let answerMax: UInt64 = 5_000_000_000
    /// The same where polkit may first ask the user at their desktop.
    static let permissionMax: UInt64 = 60_000_000_000
    /// Before a sensor that another program uses is asked for again: fprintd says nothing when it is free.
    static let busyPause: UInt64 = 500_000_000
    /// Before a sensor that failed is looked for again.
    static let faultPause: UInt64 = 5_000_000_000
    /// Before a sensor is looked for where there is none: one that comes while fprintd is not running tells nobody.
    static let lookPause: UInt64 = 300_000_000_000
    /// How long an fprintd that refuses an unclaimed sensor is left alone: it ends 30 s after its last client went.
    static let leavePause: UInt64 = 35_000_000_000
    /// Faults of the sensor for one question, after which it counts as not there.
    static let faultsMax = 3
    /// Questions that wait at once; beyond that the oldest is dropped.
    static let questionsMax = 64
    /// What a question may take: the user's time.
    static let questionMax: UInt64 = 300_000_000_000
    static let busPauseMin: Int32 = 100
    static let busPauseMax: Int32 = 30_000
    static let stateBytesMax = 1 << 18
    static let peopleMax = 4096
}

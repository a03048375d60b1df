/// The limits of the fingerprint reader. Times in milliseconds if poll takes them, otherwise in nanoseconds.
enum ReaderLimits {
    /// The longest time for a reply of the bus, or of fprintd if polkit decides nothing.
    static let answerMax: UInt64 = 5_000_000_000
    /// The longest time for a reply if polkit decides by its rules. polkit 122 can take 15 s for a rule (RUNAWAY_KILLER_TIMEOUT).
    static let ruleMax: UInt64 = 20_000_000_000
    /// The longest time for a reply if polkit may first prompt the user at the desktop.
    static let permissionMax: UInt64 = 60_000_000_000
    /// The pause before a sensor that another program uses is claimed again: fprintd does not announce when it is free.
    static let busyPause: UInt64 = 500_000_000
    /// The pause before a failed sensor is looked for again.
    static let faultPause: UInt64 = 5_000_000_000
    /// The pause before a missing sensor is looked for again: one that is plugged in while fprintd is not running is not announced.
    static let searchPause: UInt64 = 300_000_000_000
    /// The time for which not to contact an fprintd that refuses an unclaimed sensor: it exits 30 s after its last client.
    static let leavePause: UInt64 = 35_000_000_000
    /// Failures of the sensor for one request after which it counts as missing.
    static let faultsMax = 3
    /// The most requests that wait at once; beyond that the oldest of the user with the most is dropped.
    static let requestsMax = 64
    /// The time without a touch after which a user's turn at the sensor ends if another user waits.
    static let turnTime: UInt64 = 15_000_000_000
    /// The longest time for a request: the user's timeout.
    static let requestMax: UInt64 = 300_000_000_000
    static let busPauseMin: Int32 = 100
    static let busPauseMax: Int32 = 30_000
    static let stateBytesMax = 1 << 18
    static let usersMax = 4096
}

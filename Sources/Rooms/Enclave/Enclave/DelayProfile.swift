/// How long the enclave delays the next attempt after a number of failures, as a table (C-142, C-143).
package struct DelayProfile: Sendable {
    /// The number of failures without a delay.
    package let freeAttempts: Int64
    /// Seconds to wait after the failure that uses up the free attempts, and after each further one. The last entry repeats.
    package let seconds: [Int64]

    package init(freeAttempts: Int64, seconds: [Int64]) {
        self.freeAttempts = freeAttempts
        self.seconds = seconds
    }

    /// Five attempts, then delays of 1, 5, 15, 30 and 60 minutes, and 60 minutes after that.
    package static let rolling = DelayProfile(freeAttempts: 5, seconds: [60, 300, 900, 1800, 3600])

    /// Returns the seconds that must pass after this many failures in a row.
    package func delay(afterFailures failures: Int64) -> Int64 {
        guard failures >= freeAttempts, let last = seconds.last else { return 0 }
        let step = Int(failures - freeAttempts)
        return step < seconds.count ? seconds[step] : last
    }

    /// Returns the attempts left before the next delay.
    package func attemptsLeft(afterFailures failures: Int64) -> Int64 { max(0, freeAttempts - failures) }
}

/// When the next try is allowed after how many failures: a table, so that a policy is data (C-142, C-143).
package struct DelayProfile: Sendable {
    /// Failures that cost nothing.
    package let freeTries: Int64
    /// Seconds to wait after the failure that ends the free tries, and after each further one; the last repeats.
    package let seconds: [Int64]

    package init(freeTries: Int64, seconds: [Int64]) {
        self.freeTries = freeTries
        self.seconds = seconds
    }

    /// Document 003: five tries, then 1, 5, 15, 30, 60 minutes, continuing.
    package static let rolling = DelayProfile(freeTries: 5, seconds: [60, 300, 900, 1800, 3600])

    /// Seconds that must pass after this many failures in a row.
    package func delay(afterFailures failures: Int64) -> Int64 {
        guard failures >= freeTries, let last = seconds.last else { return 0 }
        let step = Int(failures - freeTries)
        return step < seconds.count ? seconds[step] : last
    }

    /// Tries that are left before the next delay.
    package func triesLeft(afterFailures failures: Int64) -> Int64 { max(0, freeTries - failures) }
}

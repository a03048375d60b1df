// Measures how long the machine has slept, with clocks that cannot be set.

internal import VaubanLinuxHost

/// The clock that includes sleep and the one that does not, as parameters so that tests can control time.
package struct SleepClock: Sendable {
    private let boot: @Sendable () -> UInt64
    private let monotonic: @Sendable () -> UInt64

    /// Creates a sleep clock from two clocks in nanoseconds since start.
    package init(boot: @escaping @Sendable () -> UInt64, monotonic: @escaping @Sendable () -> UInt64) {
        self.boot = boot
        self.monotonic = monotonic
    }

    package static let ofThisMachine = SleepClock(boot: { MachineClock.boot }, monotonic: { MachineClock.monotonic })

    /// Returns the nanoseconds since the boot, including sleep.
    func sinceBoot() -> UInt64 { boot() }

    /// Returns how many nanoseconds the machine has slept since the boot.
    func slept() -> Int64 { Int64(bitPattern: boot()) &- Int64(bitPattern: monotonic()) }
}

// How long the machine has slept, which no one can set.

internal import VaubanLinuxHost

/// The clock that runs while the machine sleeps, and the one that does not. A parameter, so that a test can let time go by.
package struct SleepClock: Sendable {
    private let boot: @Sendable () -> UInt64
    private let monotonic: @Sendable () -> UInt64

    /// Both in nanoseconds since start.
    package init(boot: @escaping @Sendable () -> UInt64, monotonic: @escaping @Sendable () -> UInt64) {
        self.boot = boot
        self.monotonic = monotonic
    }

    package static let ofThisMachine = SleepClock(boot: { MachineClock.boot }, monotonic: { MachineClock.monotonic })

    /// Nanoseconds asleep since start.
    func slept() -> Int64 { Int64(bitPattern: boot()) &- Int64(bitPattern: monotonic()) }
}

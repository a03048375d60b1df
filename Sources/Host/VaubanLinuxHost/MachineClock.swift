import Glibc

/// The clocks of this machine.
package enum MachineClock {
    /// Nanoseconds since the boot, including sleep. This clock cannot be set.
    package static var boot: UInt64 { read(CLOCK_BOOTTIME) }
    /// Nanoseconds since the boot, without sleep. Deadlines between processes use this clock.
    package static var monotonic: UInt64 { read(CLOCK_MONOTONIC) }
    /// Microseconds since 2001-01-01 00:00 UTC, the keychain's date format.
    package static var referenceMicroseconds: Int64 {
        Int64(read(CLOCK_REALTIME) / 1000) - 978_307_200_000_000
    }

    private static func read(_ clock: clockid_t) -> UInt64 {
        var time = timespec()
        clock_gettime(clock, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }
}

extension MachineClock {
    /// Returns the time until a deadline of the monotonic clock (nanoseconds) as poll takes it: in milliseconds, rounded up so that no wait
    /// ends just before the deadline; 0 if the deadline has passed, and -1 (no limit) if there is none.
    package static func pollTime(until deadline: UInt64?, from now: UInt64 = MachineClock.monotonic) -> Int32 {
        guard let deadline else { return -1 }
        return now < deadline ? Int32(clamping: (deadline - now) / 1_000_000 + 1) : 0
    }
}

// The time by which deleted items expire (Specs/history.md, "How long a deleted item is kept").

/// A time that follows the wall clock, but hardly moves with a wall clock that is wrong for a while. All values are in microseconds: those
/// of the wall clock since the reference date, those of the boot clock since the boot.
package struct RetentionTime: Hashable, Sendable {
    /// The most that the start of a process adds, and how long both clocks must agree before the wall clock is trusted.
    package static let dayMicroseconds: Int64 = 24 * 3600 * 1_000_000
    /// How far the clocks may differ and still agree.
    package static let differenceMicrosecondsMax: Int64 = 60 * 1_000_000

    /// The present time. It goes back only after the clocks have agreed for `HistoryLimits.deletedMicroseconds`, or by `skip`: a wall clock
    /// that is behind only stops it.
    package private(set) var time: Int64
    /// The boot clock at the last call.
    private var boot: Int64
    /// Both clocks when they began to agree.
    private var agreed: Clocks

    private struct Clocks: Hashable {
        let now: Int64
        let boot: Int64
    }

    /// Continues with a stored time at the first call of a process, or begins at the wall clock.
    package init(stored: Int64?, now: Int64, boot: Int64) {
        // A number that no clock shows was not written by keychaind.
        let stored = stored.flatMap { $0.magnitude < 1 << 60 ? $0 : nil } ?? now
        time = max(stored, min(stored + Self.dayMicroseconds, now))
        self.boot = boot
        agreed = Clocks(now: now, boot: boot)
    }

    /// Moves the time toward the wall clock: by at most what has passed since the last call, or to it once the clocks have agreed for a
    /// day.
    package mutating func advance(now: Int64, boot: Int64) {
        let passed = max(0, boot - self.boot)
        self.boot = boot
        let difference = (now - agreed.now) - (boot - agreed.boot)
        if difference.magnitude > Self.differenceMicrosecondsMax { agreed = Clocks(now: now, boot: boot) }
        let agreement = boot - agreed.boot
        if now > time {
            time = agreement >= Self.dayMicroseconds ? now : time + min(passed, now - time)
        } else if agreement >= HistoryLimits.deletedMicroseconds {
            time = now
        }
    }

    /// Moves the time to the wall clock, if that is later or both clocks have agreed for a day. Only for a database without deleted items.
    package mutating func skip(to now: Int64) { time = boot - agreed.boot >= Self.dayMicroseconds ? now : max(time, now) }
}

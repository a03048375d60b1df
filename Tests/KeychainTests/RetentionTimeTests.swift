import KeychainStore
import Testing

/// The time by which deleted items expire, under clocks that are wrong (Specs/history.md).
@Suite struct RetentionTimeTests {
    private static let day = RetentionTime.dayMicroseconds
    private static let start: Int64 = 800_000_000_000_000

    /// A wall clock, a boot clock and the time that follows them.
    private struct Machine {
        var now: Int64
        var boot: Int64 = 7_000_000
        var retention: RetentionTime

        init(now: Int64 = RetentionTimeTests.start, stored: Int64? = nil) {
            self.now = now
            retention = RetentionTime(stored: stored, now: now, boot: boot)
        }

        /// Lets time pass on both clocks.
        mutating func pass(_ microseconds: Int64) {
            boot += microseconds
            set(now + microseconds)
        }

        /// Sets the wall clock.
        mutating func set(_ now: Int64) {
            self.now = now
            retention.advance(now: now, boot: boot)
        }

        /// Starts the process again, after a boot.
        mutating func restart() {
            boot = 1_000_000
            retention = RetentionTime(stored: retention.time, now: now, boot: boot)
        }
    }

    @Test("The time begins at the wall clock and passes with it") func follows() {
        var machine = Machine()
        #expect(machine.retention.time == Self.start)
        for _ in 0..<100 {
            machine.pass(Self.day / 10)
            #expect(machine.retention.time == machine.now)
        }
    }

    @Test("A jump ahead for less than a day adds only what has passed") func jumpAhead() {
        var machine = Machine()
        machine.set(Self.start + 40 * Self.day)
        #expect(machine.retention.time == Self.start)
        machine.pass(60_000_000)
        #expect(machine.retention.time == Self.start + 60_000_000)
        machine.set(machine.now - 40 * Self.day)
        #expect(machine.retention.time == Self.start + 60_000_000)
        machine.pass(2 * Self.day)
        #expect(machine.retention.time == machine.now)
    }

    @Test("A wall clock that stays ahead for a day is trusted") func staysAhead() {
        var machine = Machine()
        machine.set(Self.start + 40 * Self.day)
        machine.pass(Self.day - 1)
        #expect(machine.retention.time == Self.start + Self.day - 1)
        machine.pass(1)
        #expect(machine.retention.time == machine.now)
    }

    @Test("A wall clock that is behind stops the time, and the time is never ahead of the wall clock otherwise") func jumpBack() {
        var machine = Machine()
        machine.set(Self.start - 30 * Self.day)
        #expect(machine.retention.time == Self.start)
        machine.pass(10 * Self.day)
        #expect(machine.retention.time == Self.start)
        machine.set(Self.start + 10 * Self.day)
        #expect(machine.retention.time == Self.start)
        machine.pass(1000)
        #expect(machine.retention.time == Self.start + 1000)
        // By the boot clock more has passed than until the wall clock.
        machine.boot += 60 * Self.day
        machine.set(machine.now)
        #expect(machine.retention.time == machine.now)
    }

    @Test("A time that is ahead returns to a wall clock that was right for thirty days") func returns() {
        var machine = Machine(now: Self.start, stored: Self.start + 4000 * Self.day)
        #expect(machine.retention.time == Self.start + 4000 * Self.day)
        machine.pass(30 * Self.day - 1)
        #expect(machine.retention.time == Self.start + 4000 * Self.day)
        machine.pass(1)
        #expect(machine.retention.time == machine.now)
    }

    @Test("Each start of the process adds a day at most, so that a machine that runs for an hour a day keeps up") func dailyStarts() {
        var machine = Machine()
        for _ in 0..<90 {
            machine.now += 23 * Self.day / 24
            machine.restart()
            machine.pass(Self.day / 24)
            #expect(machine.retention.time == machine.now)
        }
        machine.now += 300 * Self.day
        let before = machine.retention.time
        machine.restart()
        #expect(machine.retention.time == before + Self.day)
    }

    @Test("After a first start in 1970 the time reaches the wall clock within a day") func firstStartIn1970() {
        var machine = Machine(now: -978_307_200_000_000)
        #expect(machine.retention.time == machine.now)
        machine.pass(30_000_000)
        machine.set(Self.start)
        #expect(machine.retention.time == -978_307_170_000_000)
        machine.pass(Self.day)
        #expect(machine.retention.time == machine.now)
    }

    @Test("The wall clock is not trusted while it is set again and again") func neverAgrees() {
        var machine = Machine()
        machine.set(Self.start + 40 * Self.day)
        for number in 1...48 {
            machine.pass(Self.day / 24)
            machine.set(machine.now + (number.isMultiple(of: 2) ? 120_000_000 : -120_000_000))
            #expect(machine.retention.time == Self.start + Int64(number) * Self.day / 24)
        }
    }

    @Test("A stored number that is no time counts as none, and a database without deleted items needs no earlier time") func others() {
        #expect(Machine(stored: Int64.max).retention.time == Self.start)
        #expect(Machine(stored: Int64.min).retention.time == Self.start)
        var machine = Machine(stored: Self.start - 100 * Self.day)
        #expect(machine.retention.time == Self.start - 99 * Self.day)
        machine.retention.skip(to: Self.start)
        #expect(machine.retention.time == Self.start)
        machine.retention.skip(to: Self.start - Self.day)
        #expect(machine.retention.time == Self.start)
    }
}

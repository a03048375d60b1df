import Testing
import VaubanLinuxHost

@Suite struct PollTimeTests {
    @Test(
        "A wait takes at least the time until its deadline",
        arguments: [
            (5, 5, 0), (9, 5, 0), (0, 1, 1), (0, 999_999, 1), (0, 1_000_000, 2), (7, 2_500_007, 3), (0, .max, .max),
        ] as [(UInt64, UInt64, Int32)])
    func timeIsRoundedUp(now: UInt64, deadline: UInt64, milliseconds: Int32) {
        #expect(MachineClock.pollTime(until: deadline, from: now) == milliseconds)
    }

    @Test("A wait without a deadline has no limit") func noDeadlineIsNoLimit() {
        let time = MachineClock.pollTime(until: nil)
        #expect(time == -1)
    }
}

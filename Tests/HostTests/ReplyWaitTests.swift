import Testing
import VaubanLinuxHost

@Suite struct ReplyWaitTests {
    /// Returns the nanoseconds until the wait ends; nil if it does not.
    private static func time(_ wait: ReplyWait) -> UInt64? { if case .after(let time) = wait.timeout { time } else { nil } }

    @Test("A reply takes a machine's time, and from a prompt on a user's") func waitFollowsProgress() {
        var wait = ReplyWait()
        #expect(Self.time(wait) == ConnectionLimits.machineTime && !wait.userWasPrompted)
        wait.userIsPrompted()
        // The prompt ends in time for its reply to arrive.
        #expect(Self.time(wait) == ConnectionLimits.userTimeout + ConnectionLimits.machineTime && wait.userWasPrompted)
    }

    @Test("A wait can begin with another time") func waitBeginsOtherwise() { #expect(Self.time(ReplyWait(.after(7))) == 7) }
}

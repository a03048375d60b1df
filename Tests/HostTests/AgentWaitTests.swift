import SecretService
import Testing

/// How long the Secret Service waits for something that can show its prompt.
@Suite struct AgentWaitTests {
    private static let second: UInt64 = 1_000_000_000

    @Test("The wait ends before libsecret stops waiting for the reply, counted from the call's arrival")
    func waitEndsBeforeTheClientGivesUp() {
        let wait = AgentWait(since: 100 * Self.second)
        let end = 100 * Self.second + AgentWait.time
        #expect(AgentWait.time >= 10 * Self.second && AgentWait.time <= 22 * Self.second)
        #expect(wait.nextRequest(after: 100 * Self.second) == end)
        #expect(wait.nextRequest(after: end - 1) == end)
        #expect(wait.nextRequest(after: end) == nil)
    }

    @Test("A delay after wrong passcodes is waited for within this time") func delayIsWaitedFor() {
        let wait = AgentWait(since: 0)
        #expect(wait.nextRequest(after: Self.second, delaySeconds: 5) == 6 * Self.second)
        #expect(wait.nextRequest(after: Self.second, delaySeconds: 1_000_000) == AgentWait.time)
        #expect(wait.nextRequest(after: Self.second, delaySeconds: 0) == AgentWait.time)
        #expect(wait.nextRequest(after: AgentWait.time, delaySeconds: 5) == nil)
    }

    @Test("A prompt whose agent ended while it was shown waits for another one anew") func waitBeginsAnewAfterAPrompt() {
        var wait = AgentWait(since: 0)
        wait.restart(at: 60 * Self.second)
        #expect(wait.nextRequest(after: 61 * Self.second) == 60 * Self.second + AgentWait.time)
        #expect(wait.nextRequest(after: 60 * Self.second + AgentWait.time) == nil)
    }
}

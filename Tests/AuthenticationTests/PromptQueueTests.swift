import Authentication
import EnclaveWire
import TestSupport
import Testing
import VaubanAccessPolicy
import VaubanAuthenticationWire
import VaubanRefusal
import VaubanUserModel

/// The prompt queue without a socket: events in, effects out.
@Suite struct PromptQueueTests {
    private let first = AgentID(1)
    private let second = AgentID(2)

    @Test("A prompt is shown, answered and ended") func promptIsShownAnsweredAndResolved() {
        var queue = PromptQueue([Sample.approveTerminal()])
        let request = Sample.request(1)
        #expect(queue.handle(.asked(request)) == [.show(first, request), .shown(request, "vauban approve")])
        #expect(queue.answer(from: first, request, Sample.passcode) == [.answer(request, Sample.passcode)])
        #expect(queue.handle(.resolved(prompt: request.prompt, .accepted)) == [.resolve(first, prompt: request.prompt, .accepted)])
        #expect(!queue.holds(request.prompt))
    }

    @Test("Without an agent a prompt fails at once") func promptWithoutAnAgentFailsAtOnce() {
        var queue = PromptQueue()
        let request = Sample.request(1)
        #expect(queue.handle(.asked(request)) == [.answer(request, .nobody)])
        #expect(queue.handle(.agentArrived(first, Sample.approveTerminal())) == [.welcome(first)])
        #expect(!queue.holds(request.prompt))
    }

    @Test("A forwarder receives prompts only if no agent here can show them, and none for credentials or for fingerprints alone")
    func forwarderReceivesPromptsLast() {
        var queue = PromptQueue([Sample.ownAgent(), Sample.forwarder()])
        #expect(queue.places(user: Sample.alice, caller: 50) == ["own terminal", "elsewhere"])
        let own = Sample.request(1, caller: 50)
        #expect(queue.handle(.asked(own)) == [.show(first, own), .shown(own, "own terminal")])
        _ = queue.handle(.resolved(prompt: own.prompt, .accepted))
        let request = Sample.request(2, caller: 51)
        #expect(queue.handle(.asked(request)) == [.show(second, request), .shown(request, "elsewhere")])
        #expect(queue.answer(from: second, request, Sample.passcode) == [.answer(request, Sample.passcode)])
        _ = queue.handle(.resolved(prompt: request.prompt, .accepted))
        let change = Sample.request(3, caller: 51, change: .changePasscode)
        #expect(queue.handle(.asked(change)) == [.answer(change, .nobody)])
        let finger = Sample.request(4, caller: 51, methods: .finger)
        #expect(queue.handle(.asked(finger)) == [.answer(finger, .nobody)])
        let either = Sample.request(5, caller: 51, methods: [.finger, .passcode])
        #expect(queue.handle(.asked(either)) == [.show(second, either), .shown(either, "elsewhere")])
    }

    @Test("A user sees one prompt at a time, in order") func onePromptAtATimeInOrder() {
        var queue = PromptQueue([Sample.approveTerminal()])
        let requests = [Sample.request(1, caller: 50), Sample.request(2, caller: 51), Sample.request(3, caller: 52)]
        _ = queue.handle(.asked(requests[0]))
        // Queued prompts are reported at once with the place where they will appear, since their callers wait for the user from now on.
        // That they are shown is reported when they are.
        #expect(queue.handle(.asked(requests[1])) == [.waiting(requests[1], "vauban approve")])
        #expect(queue.handle(.asked(requests[2])) == [.waiting(requests[2], "vauban approve")])
        #expect(
            queue.handle(.resolved(prompt: requests[0].prompt, .cancelled)) == [
                .resolve(first, prompt: requests[0].prompt, .cancelled), .show(first, requests[1]), .shown(requests[1], "vauban approve"),
            ])
        // A prompt that leaves the middle of the queue was on no screen.
        #expect(queue.handle(.resolved(prompt: requests[2].prompt, .callerGone)) == [])
        #expect(
            queue.handle(.resolved(prompt: requests[1].prompt, .accepted)) == [.resolve(first, prompt: requests[1].prompt, .accepted)])
    }

    @Test("After a prompt of one process, the oldest of another process is shown") func processesTakeTurns() {
        var queue = PromptQueue([Sample.approveTerminal()])
        let callers: [Int64] = [50, 50, 50, 51, 52, 51]
        let requests = callers.enumerated().map { Sample.request(UInt8($0.offset), caller: $0.element) }
        for request in requests { _ = queue.handle(.asked(request)) }
        var shown = [requests[0]]
        for _ in requests.dropFirst() {
            let ended = shown[shown.count - 1].prompt
            for case .show(_, let request) in queue.handle(.resolved(prompt: ended, .cancelled)) { shown.append(request) }
        }
        #expect(shown == [0, 3, 1, 4, 2, 5].map { requests[$0] })
        // One that ends while it is queued changes nothing about the order.
        queue = PromptQueue([Sample.approveTerminal()])
        for request in requests { _ = queue.handle(.asked(request)) }
        #expect(queue.handle(.resolved(prompt: requests[1].prompt, .callerGone)) == [])
        let effects = queue.handle(.resolved(prompt: requests[0].prompt, .cancelled))
        #expect(effects.contains(.show(first, requests[3])))
    }

    /// A queued prompt is sent again, or its agents change: it still appears on no screen.
    @Test("A queued prompt is never shown early") func queuedPromptIsNotShown() {
        var queue = PromptQueue([Sample.approveTerminal(at: "old"), Sample.approveTerminal(at: "new")])
        let (before, inLine) = (Sample.request(1, caller: 50), Sample.request(2, caller: 51))
        _ = queue.handle(.asked(before))
        #expect(queue.handle(.asked(inLine)) == [.waiting(inLine, "new")])
        let again = Sample.request(2, caller: 51, attempt: 2)
        #expect(queue.handle(.asked(again)) == [])
        // The first prompt moves to another agent, which alone is shown it again.
        #expect(queue.handle(.agentLeft(second)) == [.show(first, before), .shown(before, "old")])
        #expect(queue.handle(.agentArrived(AgentID(3), Sample.approveTerminal(at: "old"))) == [.welcome(AgentID(3))])
        #expect(queue.answer(from: first, before, .cancelled) == [.answer(before, .cancelled)])
        #expect(
            queue.handle(.resolved(prompt: before.prompt, .cancelled)) == [
                .resolve(first, prompt: before.prompt, .cancelled), .show(AgentID(3), again), .shown(again, "old"),
            ])
        // At another agent of the same place it is shown once more, and this is reported.
        #expect(queue.handle(.agentLeft(AgentID(3))) == [.show(first, again), .shown(again, "old")])
    }

    @Test("Users do not wait for each other's prompts") func usersDoNotWaitForEachOther() {
        var queue = PromptQueue([Sample.approveTerminal(of: Sample.alice), Sample.approveTerminal(of: Sample.bob)])
        let ofAlice = Sample.request(1, of: Sample.alice)
        let ofBob = Sample.request(2, of: Sample.bob)
        #expect(queue.handle(.asked(ofAlice)) == [.show(first, ofAlice), .shown(ofAlice, "vauban approve")])
        #expect(queue.handle(.asked(ofBob)) == [.show(second, ofBob), .shown(ofBob, "vauban approve")])
    }

    @Test("A retry goes to the same agent") func aRetryGoesToTheSameAgent() {
        var queue = PromptQueue([Sample.approveTerminal(at: "old")])
        let request = Sample.request(1)
        _ = queue.handle(.asked(request))
        _ = queue.answer(from: first, request, Sample.passcode)
        // A newer agent would be the first choice for a new prompt.
        _ = queue.handle(.agentArrived(second, Sample.approveTerminal(at: "new")))
        let again = Sample.request(1, attempt: 2)
        #expect(queue.handle(.asked(again)) == [.show(first, again)])
        #expect(queue.answer(from: first, again, .cancelled) == [.answer(again, .cancelled)])
    }

    @Test("A retry whose agent has ended goes to the next one") func retryWhoseAgentHasEndedGoesToTheNext() {
        var queue = PromptQueue([Sample.approveTerminal(at: "old"), Sample.approveTerminal(at: "new")])
        let request = Sample.request(1)
        _ = queue.handle(.asked(request))
        _ = queue.answer(from: second, request, Sample.passcode)
        #expect(queue.handle(.agentLeft(second)) == [])
        let again = Sample.request(1, attempt: 2)
        #expect(queue.handle(.asked(again)) == [.show(first, again), .shown(again, "old")])
    }

    @Test("A made recovery key goes to no other agent than the one that made it", arguments: [false, true])
    func madeRecoveryKeyGoesToNoOtherAgent(isShown: Bool) {
        var queue = PromptQueue([Sample.approveTerminal(at: "old"), Sample.approveTerminal(at: "new")])
        let request = Sample.request(1, change: .makeRecoveryKey)
        let made = Sample.request(1, attempt: 2, change: .makeRecoveryKey, isMade: true)
        _ = queue.handle(.asked(request))
        _ = queue.answer(from: second, request, Sample.passcode)
        if isShown {
            #expect(queue.handle(.asked(made)) == [.show(second, made)])
            #expect(queue.handle(.agentLeft(second)) == [.answer(made, .nobody)])
        } else {
            #expect(queue.handle(.agentLeft(second)) == [])
            #expect(queue.handle(.asked(made)) == [.answer(made, .nobody)])
        }
        #expect(!queue.holds(made.prompt))
    }

    @Test("The prompt of an agent that ends moves to the next one until no agent is left") func promptMovesToTheNextAgentUntilNoneIsLeft() {
        var queue = PromptQueue([Sample.approveTerminal(at: "old"), Sample.approveTerminal(at: "new")])
        let request = Sample.request(1)
        #expect(queue.handle(.asked(request)) == [.show(second, request), .shown(request, "new")])
        #expect(queue.handle(.agentLeft(second)) == [.show(first, request), .shown(request, "old")])
        #expect(queue.handle(.agentLeft(first)) == [.answer(request, .nobody)])
        #expect(!queue.holds(request.prompt))
    }

    @Test("When the last agent ends, all queued prompts fail") func endOfTheLastAgentFailsAllQueuedPrompts() {
        var queue = PromptQueue([Sample.approveTerminal()])
        let requests = [Sample.request(1), Sample.request(2)]
        for request in requests { _ = queue.handle(.asked(request)) }
        #expect(queue.handle(.agentLeft(first)) == requests.map { .answer($0, .nobody) })
    }

    @Test("A queued prompt fails when the only agent that could show it ends") func queuedPromptWithoutAPossibleAgentFails() {
        var queue = PromptQueue([Sample.ownAgent(pid: 50), Sample.ownAgent(pid: 51)])
        let shown = Sample.request(1, caller: 50)
        let inLine = Sample.request(2, caller: 51)
        _ = queue.handle(.asked(shown))
        _ = queue.handle(.asked(inLine))
        #expect(queue.handle(.agentLeft(second)) == [.answer(inLine, .nobody)])
        #expect(queue.holds(shown.prompt))
    }

    @Test("An answered prompt waits for the enclave even if its agent ends") func answeredPromptWaitsForTheEnclave() {
        var queue = PromptQueue([Sample.approveTerminal()])
        let request = Sample.request(1)
        _ = queue.handle(.asked(request))
        _ = queue.answer(from: first, request, Sample.passcode)
        #expect(queue.handle(.agentLeft(first)) == [])
        #expect(queue.handle(.resolved(prompt: request.prompt, .accepted)) == [])
    }

    @Test("Losing the enclave ends its prompts and keeps the agents") func theEnclavesEndEndsItsPromptsAndKeepsTheAgents() {
        var queue = PromptQueue([Sample.approveTerminal()])
        let requests = [Sample.request(1), Sample.request(2)]
        for request in requests { _ = queue.handle(.asked(request)) }
        #expect(queue.handle(.enclaveLost) == [.resolve(first, prompt: requests[0].prompt, .expired)])
        #expect(queue.places(user: Sample.alice, caller: 50) == ["vauban approve"])
        let next = Sample.request(3)
        #expect(queue.handle(.asked(next)) == [.show(first, next), .shown(next, "vauban approve")])
    }

    @Test("Prompts and agents are limited") func promptsAndAgentsAreLimited() {
        var queue = PromptQueue([Sample.approveTerminal()])
        for number in 0..<64 { _ = queue.handle(.asked(Sample.request(UInt8(number)))) }
        let surplus = Sample.request(64)
        #expect(queue.handle(.asked(surplus)) == [.answer(surplus, .nobody)])

        queue = PromptQueue(Array(repeating: Sample.approveTerminal(), count: 32))
        let effects = queue.handle(.agentArrived(AgentID(33), Sample.approveTerminal(at: "surplus")))
        guard case .dismiss(AgentID(33), let refusal)? = effects.first else {
            Issue.record("the agent was let in")
            return
        }
        #expect(refusal.reason == .notAllowedHere)
        #expect(queue.places(user: Sample.alice, caller: 50).count == 32)
    }
}

import Authentication
import EnclaveWire
import TestSupport
import Testing
import VaubanAuthenticationWire
import VaubanRefusal
import VaubanUserModel

/// What agents may see and send: routing as a table, and every message that is not a valid answer.
@Suite struct AgentConductTests {
    struct Route: Sendable, CustomTestStringConvertible {
        let agents: [Agent]
        let places: [String]
        let testDescription: String
    }

    static let routes = [
        Route(agents: [], places: [], testDescription: "no agent"),
        Route(agents: [Sample.approveTerminal(at: "a")], places: ["a"], testDescription: "vauban approve takes every caller"),
        Route(
            agents: [Sample.approveTerminal(at: "a"), Sample.approveTerminal(at: "b")], places: ["b", "a"],
            testDescription: "the newest vauban approve first"),
        Route(
            agents: [Sample.approveTerminal(at: "a"), Sample.ownAgent(at: "o"), Sample.approveTerminal(at: "b")], places: ["b", "a", "o"],
            testDescription: "vauban approve before the caller's own terminal"),
        Route(agents: [Sample.ownAgent(pid: 50, at: "o")], places: ["o"], testDescription: "the caller's own terminal"),
        Route(agents: [Sample.ownAgent(pid: 51)], places: [], testDescription: "another process's own terminal"),
        Route(
            agents: [Sample.approveTerminal(of: Sample.bob), Sample.ownAgent(of: Sample.bob, pid: 50)], places: [],
            testDescription: "agents of another user"),
    ]

    @Test("Prompts go to the preferred agent", arguments: routes) func promptsGoToThePreferredAgent(_ route: Route) {
        var queue = PromptQueue(route.agents)
        #expect(queue.places(user: Sample.alice, caller: 50) == route.places)
        let request = Sample.request(1, of: Sample.alice, caller: 50)
        let effects = queue.handle(.asked(request))
        if let best = route.places.first {
            #expect(effects.last == .shown(request, best))
        } else {
            #expect(effects == [.answer(request, .nobody)])
        }
    }

    /// Such a terminal would answer it with its own refusal.
    @Test("A program's own terminal shows no prompt for consent") func consentIsNotPromptedOnTheProgramsOwnTerminal() {
        var queue = PromptQueue([Sample.programsOwnAgent()])
        let request = Sample.request(1)
        #expect(queue.handle(.asked(request)).last == .shown(request, "own terminal"))
        let consent = Sample.request(2, consent: Consent(.acceptBuild, offered: .once, program: "/home/a/x"))
        #expect(queue.handle(.asked(consent)) == [.answer(consent, .nobody)])
        _ = queue.handle(.agentArrived(second, Sample.approveTerminal()))
        #expect(queue.handle(.asked(consent)) == [.waiting(consent, "vauban approve")])
    }

    @Test("A program's own terminal shows no prompt for a change") func changeIsNotPromptedOnTheProgramsOwnTerminal() {
        var queue = PromptQueue([Sample.programsOwnAgent()])
        let change = Sample.request(1, change: .forgetFingers)
        #expect(queue.handle(.asked(change)) == [.answer(change, .nobody)])
        _ = queue.handle(.agentArrived(second, Sample.approveTerminal()))
        #expect(queue.handle(.asked(change)).last == .shown(change, "vauban approve"))
    }

    @Test("Vauban's own terminal shows prompts for consent") func consentIsPromptedOnVaubansOwnTerminal() {
        var queue = PromptQueue([Sample.ownAgent()])
        let consent = Sample.request(1, consent: Consent(.acceptBuild, offered: .once, program: "/home/a/x"))
        #expect(queue.handle(.asked(consent)).last == .shown(consent, "own terminal"))
    }

    private let first = AgentID(1)
    private let second = AgentID(2)

    @Test("An answer to another prompt disconnects the agent") func answerToAnUnknownPromptDisconnectsTheAgent() {
        let request = Sample.request(1)
        let strange: [(prompt: [UInt8], challenge: [UInt8])] = [
            (Sample.prompt(2), request.challenge.nonce), (request.prompt, Sample.nonce(99)), (Sample.prompt(2), Sample.nonce(99)),
        ]
        for (prompt, challenge) in strange {
            var queue = PromptQueue([Sample.approveTerminal()])
            _ = queue.handle(.asked(request))
            let effects = queue.handle(.answered(first, prompt: prompt, challenge: challenge, Sample.passcode))
            expectDismissed(first, effects)
            // The prompt's place on the screen disappears with the agent.
            #expect(effects.last == .answer(request, .nobody))
        }
    }

    @Test("Only the agent that was asked can answer") func onlyThePromptedAgentCanAnswer() {
        var queue = PromptQueue([Sample.approveTerminal(at: "old"), Sample.approveTerminal(at: "new")])
        let request = Sample.request(1)
        _ = queue.handle(.asked(request))
        expectDismissed(first, queue.answer(from: first, request, Sample.passcode))
        #expect(queue.answer(from: second, request, .fallback) == [.answer(request, .fallback)])
    }

    @Test("Another user's agent can never answer") func anotherUsersAgentNeverAnswers() {
        var queue = PromptQueue([Sample.approveTerminal(of: Sample.alice), Sample.approveTerminal(of: Sample.bob)])
        let request = Sample.request(1, of: Sample.alice)
        _ = queue.handle(.asked(request))
        expectDismissed(second, queue.answer(from: second, request, .cancelled))
        #expect(queue.holds(request.prompt))
    }

    @Test("An agent cannot report that no agent exists") func agentCannotReportThatNoAgentExists() {
        var queue = PromptQueue([Sample.approveTerminal(at: "old"), Sample.approveTerminal(at: "new")])
        let request = Sample.request(1)
        _ = queue.handle(.asked(request))
        let effects = queue.answer(from: second, request, .nobody)
        expectDismissed(second, effects)
        #expect(effects.dropFirst() == [.show(first, request), .shown(request, "old")])
    }

    @Test("An answer counts once, and a late one is ignored") func lateAnswersAreIgnored() {
        var queue = PromptQueue([Sample.approveTerminal()])
        let request = Sample.request(1)
        _ = queue.handle(.asked(request))
        #expect(queue.answer(from: first, request, Sample.passcode).count == 1)
        #expect(queue.answer(from: first, request, .cancelled) == [])
        // The answer to the first attempt does not count for the second.
        _ = queue.handle(.asked(Sample.request(1, attempt: 2)))
        #expect(queue.answer(from: first, request, Sample.passcode) == [])
        _ = queue.handle(.resolved(prompt: request.prompt, .expired))
        #expect(queue.answer(from: first, Sample.request(1, attempt: 2), Sample.passcode) == [])
        #expect(queue.places(user: Sample.alice, caller: 50) == ["vauban approve"])
    }

    @Test("A dismissed agent receives no more prompts") func dismissedAgentReceivesNoMorePrompts() {
        var queue = PromptQueue([Sample.approveTerminal()])
        expectDismissed(first, queue.answer(from: first, Sample.request(9), .cancelled))
        #expect(queue.answer(from: first, Sample.request(9), .cancelled) == [])
        #expect(queue.handle(.agentLeft(first)) == [])
        #expect(queue.places(user: Sample.alice, caller: 50) == [])
    }

    private func expectDismissed(_ agent: AgentID, _ effects: [PromptQueueEffect], sourceLocation: SourceLocation = #_sourceLocation) {
        guard case .dismiss(agent, let refusal)? = effects.first else {
            Issue.record("the agent was not dismissed", sourceLocation: sourceLocation)
            return
        }
        #expect(refusal.reason == .notAllowedHere, sourceLocation: sourceLocation)
    }
}

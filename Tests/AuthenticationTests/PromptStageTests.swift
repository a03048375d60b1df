import Authentication
import EnclaveWire
import Testing
import VaubanAuthenticationWire
import VaubanUserModel

/// Every step from every stage: a prompt takes the transitions of the table and no others.
@Suite struct PromptStageTests {
    private static let (one, two) = (AgentID(1), AgentID(2))
    private static let stages: [PromptStage] = [.asked, .shown(one), .answering(one), .retry(one)]
    private static let steps: [PromptStage.Step] = [
        .reaches(one), .reaches(two), .answeredBy(one), .answeredBy(two), .promptedAgain, .agentLeft(one), .agentLeft(two),
    ]

    @Test("Only the steps of the table change a prompt's stage") func onlyTheStepsOfTheTableChangeAStage() {
        var table: [PromptStage: [PromptStage.Step: PromptStage]] = [:]
        table[.asked] = [.reaches(Self.one): .shown(Self.one), .reaches(Self.two): .shown(Self.two), .promptedAgain: .asked]
        table[.shown(Self.one)] = [
            .answeredBy(Self.one): .answering(Self.one), .promptedAgain: .shown(Self.one), .agentLeft(Self.one): .asked,
        ]
        table[.answering(Self.one)] = [.promptedAgain: .retry(Self.one), .agentLeft(Self.one): .answering(Self.one)]
        table[.retry(Self.one)] = [
            .answeredBy(Self.one): .answering(Self.one), .promptedAgain: .retry(Self.one), .agentLeft(Self.one): .asked,
        ]
        for stage in Self.stages {
            for step in Self.steps { #expect(stage.after(step) == table[stage]?[step], "\(stage) \(step)") }
        }
    }

    /// An answer counts once, from the agent that has the prompt on its screen.
    @Test("Only the agent that shows a prompt can answer it") func onlyTheAgentThatShowsAPromptCanAnswer() {
        let counting = Self.stages.filter { $0.takesAnswer(of: Self.one) }
        #expect(counting == [.shown(Self.one), .retry(Self.one)])
        #expect(Self.stages.allSatisfy { !$0.takesAnswer(of: Self.two) })
    }
}

/// The updates that an open prompt receives, and the order in which places are tried.
@Suite struct PromptUpdateTests {
    @Test("An update goes to the agent that shows the prompt") func updateGoesToTheAgentThatShowsThePrompt() {
        var queue = PromptQueue([Sample.approveTerminal(pid: 10), Agent(user: Sample.alice, pid: 11, scope: .sheet, place: "the sheet")])
        let (first, second) = (Sample.request(1), Sample.request(2))
        // The sheet comes before vauban approve, regardless of the order in which they registered.
        #expect(queue.handle(.asked(first)) == [.show(AgentID(2), first), .shown(first, "the sheet")])
        #expect(queue.handle(.asked(second)) == [.waiting(second, "the sheet")])
        let update = PromptUpdate(.tryAgain, fingersLeft: 4)
        #expect(queue.handle(.updated(prompt: first.prompt, update)) == [.update(AgentID(2), prompt: first.prompt, update)])
        // A queued prompt has no picture yet, and an unknown one has none.
        #expect(queue.handle(.updated(prompt: second.prompt, update)) == [])
        #expect(queue.handle(.updated(prompt: Sample.prompt(9), update)) == [])
    }
}

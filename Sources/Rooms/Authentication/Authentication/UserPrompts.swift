// One user has one attention: their prompts stand in line, and only the first is before them.

import EnclaveWire
import VaubanRefusal
import VaubanUserModel

/// The agents and the prompts of one user. How a prompt goes from step to step is `PromptStage`'s; here is whose turn it is.
struct UserPrompts: Sendable {
    private struct Prompt {
        var question: PromptQuestion
        var stage = PromptStage.asked
        /// The agent that the enclave was last told has it on the screen.
        var reported: AgentID?

        /// Takes a step; one that is none from here changes nothing.
        mutating func take(_ step: PromptStage.Step) { stage = stage.after(step) ?? stage }
    }

    private struct PresentAgent {
        let number: AgentID
        let agent: Agent
        /// Prompts and challenges that it was lately shown.
        var shown: [Showing] = []
    }

    private struct Showing: Equatable {
        let prompt: [UInt8]
        let challenge: [UInt8]
    }

    /// Best place first: by scope, then the newest.
    private var attendants: [PresentAgent] = []
    private var prompts: [Prompt] = []

    var isEmpty: Bool { attendants.isEmpty && prompts.isEmpty }

    // MARK: Agents

    mutating func arrived(_ number: AgentID, _ agent: Agent) -> [PromptQueueEffect] {
        guard attendants.count < AuthenticationLimits.agentsPerUserMax else {
            return [.dismiss(number, Refusal(.notAllowedHere, "there are too many prompt agents already"))]
        }
        let place = attendants.firstIndex { $0.agent.scope.rank >= agent.scope.rank } ?? attendants.endIndex
        attendants.insert(PresentAgent(number: number, agent: agent), at: place)
        return [.welcome(number)]
    }

    /// Its prompt, if one was shown there, goes to the next agent. One that it has answered is the enclave's to settle.
    mutating func left(_ number: AgentID) -> [PromptQueueEffect] {
        guard let index = attendants.firstIndex(where: { $0.number == number }) else { return [] }
        attendants.remove(at: index)
        if !prompts.isEmpty { prompts[0].take(.agentLeft(number)) }
        return unreachable() + advance()
    }

    /// Where prompts of this caller would appear, best first.
    func places(forCaller caller: Int64) -> [String] { attendants.map(\.agent).filter { $0.takes(caller: caller) }.map(\.place) }

    private func candidates(for question: PromptQuestion) -> [PresentAgent] { attendants.filter { $0.agent.takes(question) } }

    // MARK: Prompts

    func holds(_ prompt: [UInt8]) -> Bool { prompts.contains { $0.question.prompt == prompt } }

    /// A new prompt, or a known one with another challenge, which stays with the agent that has it.
    mutating func asked(_ question: PromptQuestion) -> [PromptQueueEffect] {
        if let index = prompts.firstIndex(where: { $0.question.prompt == question.prompt }) {
            prompts[index].question = question
            guard let agent = prompts[index].stage.agent else { return [] }
            prompts[index].take(.askedAnew)
            if let attendant = attendants.first(where: { $0.number == agent }) { return show(index, at: attendant) }
            prompts[index].take(.agentLeft(agent))
            return advance()
        }
        guard prompts.count < AuthenticationLimits.promptsPerUserMax, let best = candidates(for: question).first else {
            return [.nobody(for: question)]
        }
        prompts.append(Prompt(question: question))
        if prompts.count == 1 { return advance() }
        // From here on the caller waits for the user, so it is told at once where, and not only when its turn comes.
        return [.report(.waiting(prompt: question.prompt, place: best.agent.place))]
    }

    mutating func settled(_ prompt: [UInt8], _ outcome: PromptOutcome) -> [PromptQueueEffect] {
        guard let index = prompts.firstIndex(where: { $0.question.prompt == prompt }) else { return [] }
        return end(index, outcome) + advance()
    }

    /// For whoever has it on the screen; what stands in line has nothing that could change.
    func updated(_ prompt: [UInt8], _ update: PromptUpdate) -> [PromptQueueEffect] {
        guard let agent = prompts.first(where: { $0.question.prompt == prompt })?.stage.agent,
            attendants.contains(where: { $0.number == agent })
        else { return [] }
        return [.update(agent, prompt: prompt, update)]
    }

    /// The enclave that asked is gone, and with it every challenge.
    mutating func enclaveLost() -> [PromptQueueEffect] {
        var effects: [PromptQueueEffect] = []
        while !prompts.isEmpty { effects += end(0, .expired) }
        return effects
    }

    /// An agent's word counts for exactly the question that it was shown, once.
    mutating func answered(_ number: AgentID, prompt: [UInt8], challenge: [UInt8], _ answer: PromptAnswer) -> [PromptQueueEffect] {
        guard let attendant = attendants.first(where: { $0.number == number }) else { return [] }
        guard answer != .nobody else { return dismiss(number, "an agent does not say that nobody is there") }
        if let first = prompts.first, first.stage.takesAnswer(of: number), first.question.prompt == prompt,
            first.question.challenge.nonce == challenge
        {
            prompts[0].take(.answeredBy(number))
            return [.report(.answered(prompt: prompt, challenge: challenge, answer))]
        }
        // The answer and the settlement may have crossed on their ways.
        if attendant.shown.contains(Showing(prompt: prompt, challenge: challenge)) { return [] }
        return dismiss(number, "this question was not asked here")
    }

    private mutating func dismiss(_ number: AgentID, _ why: String) -> [PromptQueueEffect] {
        [.dismiss(number, Refusal(.notAllowedHere, why))] + left(number)
    }

    // MARK: The line

    /// Puts the first prompt before the user, if none is.
    private mutating func advance() -> [PromptQueueEffect] {
        guard let first = prompts.first, first.stage == .asked else { return [] }
        if let best = candidates(for: first.question).first {
            prompts[0].take(.reaches(best.number))
            return show(0, at: best)
        }
        prompts.removeFirst()
        return [.nobody(for: first.question)] + advance()
    }

    /// Takes out the prompts for which no agent is left: a prompt never waits for an agent of the future.
    private mutating func unreachable() -> [PromptQueueEffect] {
        let lost = prompts.filter { $0.stage.agent == nil && candidates(for: $0.question).isEmpty }.map(\.question)
        prompts.removeAll { lost.contains($0.question) }
        return lost.map(PromptQueueEffect.nobody)
    }

    private mutating func show(_ index: Int, at attendant: PresentAgent) -> [PromptQueueEffect] {
        let question = prompts[index].question
        for place in attendants.indices where attendants[place].number == attendant.number {
            attendants[place].shown.append(Showing(prompt: question.prompt, challenge: question.challenge.nonce))
            attendants[place].shown = Array(attendants[place].shown.suffix(AuthenticationLimits.shownRememberedMax))
        }
        return [.show(attendant.number, question)] + report(index, at: attendant)
    }

    /// Tells the enclave that the user has a prompt before them, once for each agent that it is shown at.
    private mutating func report(_ index: Int, at attendant: PresentAgent) -> [PromptQueueEffect] {
        guard prompts[index].reported != attendant.number else { return [] }
        prompts[index].reported = attendant.number
        return [.report(.shown(prompt: prompts[index].question.prompt, place: attendant.agent.place))]
    }

    private mutating func end(_ index: Int, _ outcome: PromptOutcome) -> [PromptQueueEffect] {
        let prompt = prompts.remove(at: index)
        guard let agent = prompt.stage.agent, attendants.contains(where: { $0.number == agent }) else { return [] }
        return [.settle(agent, prompt: prompt.question.prompt, outcome)]
    }
}

// The prompts of one user are queued; only the first is shown.

import EnclaveWire
import VaubanRefusal
import VaubanUserModel

/// The agents and the prompts of one user. `PromptStage` has the steps of one prompt; this type decides which prompt is shown, and where.
struct UserPrompts: Sendable {
    private struct Prompt {
        var request: PromptRequest
        var stage = PromptStage.asked
        /// The agent that was last reported to the enclave as showing it.
        var reported: AgentID?

        /// Applies a step; an impossible step has no effect.
        mutating func apply(_ step: PromptStage.Step) { stage = stage.after(step) ?? stage }
    }

    private struct RegisteredAgent {
        let number: AgentID
        let agent: Agent
        /// Recently shown prompts with their challenges.
        var shown: [ShownPrompt] = []
        /// The recovery key that the agent shows until the user has it, whatever the prompt's outcome.
        var showing: ShownPrompt?
    }

    private struct ShownPrompt: Equatable {
        let prompt: [UInt8]
        let challenge: [UInt8]
    }

    /// Best place first: by scope, then the newest.
    private var agents: [RegisteredAgent] = []
    private var prompts: [Prompt] = []

    var isEmpty: Bool { agents.isEmpty && prompts.isEmpty }

    // MARK: Agents

    mutating func handleAgentArrival(_ number: AgentID, _ agent: Agent) -> [PromptQueueEffect] {
        guard agents.count < AuthenticationLimits.agentsPerUserMax else {
            return [.dismiss(number, Refusal(.notAllowedHere, "There are too many prompt agents already; end one of them"))]
        }
        let place = agents.firstIndex { $0.agent.scope.rank >= agent.scope.rank } ?? agents.endIndex
        agents.insert(RegisteredAgent(number: number, agent: agent), at: place)
        return [.welcome(number)]
    }

    /// Removes an agent. A prompt shown there moves to the next agent; one that it has answered is left to the enclave.
    mutating func handleAgentDeparture(_ number: AgentID) -> [PromptQueueEffect] {
        guard let index = agents.firstIndex(where: { $0.number == number }) else { return [] }
        agents.remove(at: index)
        if !prompts.isEmpty { prompts[0].apply(.agentLeft(number)) }
        return removeUnreachable() + advance()
    }

    /// Returns where prompts of this caller would appear, best place first.
    func places(forCaller caller: Int64) -> [String] {
        agents.filter { isFree($0) && $0.agent.takes(caller: caller) }.map(\.agent.place)
    }

    /// The agents that a prompt can go to. A recovery key that is made goes to none but the agent that made it, which has the prompt
    /// already: another one could confirm a key that nobody has seen.
    private func candidates(for request: PromptRequest) -> [RegisteredAgent] {
        request.isMade ? [] : agents.filter { isFree($0) && $0.agent.takes(request) }
    }

    /// Whether an agent can show prompts. One that still shows the recovery key of a prompt that has ended shows nothing else: a prompt
    /// reported as shown there would not be visible.
    private func isFree(_ agent: RegisteredAgent) -> Bool { agent.showing.map { holds($0.prompt) } ?? true }

    // MARK: Prompts

    func holds(_ prompt: [UInt8]) -> Bool { prompts.contains { $0.request.prompt == prompt } }

    /// Adds a prompt, or replaces one that is sent again with another challenge; it stays with its agent.
    mutating func handleRequest(_ request: PromptRequest) -> [PromptQueueEffect] {
        if let index = prompts.firstIndex(where: { $0.request.prompt == request.prompt }) {
            prompts[index].request = request
            guard let agent = prompts[index].stage.agent else { return [] }
            prompts[index].apply(.promptedAgain)
            if let registered = agents.first(where: { $0.number == agent }) { return show(index, at: registered) }
            prompts[index].apply(.agentLeft(agent))
            return advance()
        }
        guard prompts.count < AuthenticationLimits.promptsPerUserMax, let best = candidates(for: request).first else {
            return [.nobody(for: request)]
        }
        prompts.append(Prompt(request: request))
        if prompts.count == 1 { return advance() }
        // The caller waits for the user from here on, so the place is reported at once, not only when the prompt is shown.
        return [.report(.waiting(prompt: request.prompt, place: best.agent.place))]
    }

    mutating func handleOutcome(_ prompt: [UInt8], _ outcome: PromptOutcome) -> [PromptQueueEffect] {
        guard let index = prompts.firstIndex(where: { $0.request.prompt == prompt }) else { return [] }
        return end(index, outcome) + advance()
    }

    /// Passes an update to the agent that shows the prompt. A queued prompt needs none.
    func handleUpdate(_ prompt: [UInt8], _ update: PromptUpdate) -> [PromptQueueEffect] {
        guard let agent = prompts.first(where: { $0.request.prompt == prompt })?.stage.agent,
            agents.contains(where: { $0.number == agent })
        else { return [] }
        return [.update(agent, prompt: prompt, update)]
    }

    /// Ends all prompts: the enclave's connection is lost, and their challenges with it.
    mutating func handleEnclaveDisconnect() -> [PromptQueueEffect] {
        var effects: [PromptQueueEffect] = []
        while !prompts.isEmpty { effects += end(0, .expired) }
        return effects
    }

    /// Handles an answer. It counts for exactly the prompt and challenge that this agent shows, once.
    mutating func handleAnswer(_ number: AgentID, prompt: [UInt8], challenge: [UInt8], _ answer: PromptAnswer) -> [PromptQueueEffect] {
        guard let registered = agents.first(where: { $0.number == number }) else { return [] }
        guard answer != .nobody else { return dismiss(number, "an agent cannot answer that nobody is there") }
        let shown = ShownPrompt(prompt: prompt, challenge: challenge)
        for index in agents.indices where agents[index].number == number && agents[index].showing == shown { agents[index].showing = nil }
        if let first = prompts.first, first.stage.takesAnswer(of: number), first.request.prompt == prompt,
            first.request.challenge.nonce == challenge
        {
            prompts[0].apply(.answeredBy(number))
            return [.report(.answered(prompt: prompt, challenge: challenge, answer))]
        }
        // The answer may have been sent before the notice of the prompt's end arrived.
        if registered.shown.contains(shown) { return [] }
        return dismiss(number, "This agent was not sent this prompt")
    }

    private mutating func dismiss(_ number: AgentID, _ why: String) -> [PromptQueueEffect] {
        [.dismiss(number, Refusal(.notAllowedHere, why))] + handleAgentDeparture(number)
    }

    // MARK: Queue

    /// Shows the first prompt, if none is shown.
    private mutating func advance() -> [PromptQueueEffect] {
        guard let first = prompts.first, first.stage == .asked else { return [] }
        if let best = candidates(for: first.request).first {
            prompts[0].apply(.reaches(best.number))
            return show(0, at: best)
        }
        prompts.removeFirst()
        return [.nobody(for: first.request)] + advance()
    }

    /// Removes the prompts that no agent accepts any longer: a prompt never waits for a future agent.
    private mutating func removeUnreachable() -> [PromptQueueEffect] {
        let lost = prompts.filter { $0.stage.agent == nil && candidates(for: $0.request).isEmpty }.map(\.request)
        prompts.removeAll { lost.contains($0.request) }
        return lost.map(PromptQueueEffect.nobody)
    }

    private mutating func show(_ index: Int, at registered: RegisteredAgent) -> [PromptQueueEffect] {
        let request = prompts[index].request
        for place in agents.indices where agents[place].number == registered.number {
            agents[place].shown.append(ShownPrompt(prompt: request.prompt, challenge: request.challenge.nonce))
            agents[place].shown = Array(agents[place].shown.suffix(AuthenticationLimits.recentPromptsPerAgentMax))
            if request.isMade { agents[place].showing = agents[place].shown.last }
        }
        return [.show(registered.number, request)] + report(index, at: registered)
    }

    /// Reports to the enclave that the user sees a prompt, once for each agent that shows it.
    private mutating func report(_ index: Int, at registered: RegisteredAgent) -> [PromptQueueEffect] {
        guard prompts[index].reported != registered.number else { return [] }
        prompts[index].reported = registered.number
        return [.report(.shown(prompt: prompts[index].request.prompt, place: registered.agent.place))]
    }

    private mutating func end(_ index: Int, _ outcome: PromptOutcome) -> [PromptQueueEffect] {
        let prompt = prompts.remove(at: index)
        // A process that requests prompt after prompt keeps no other process's prompt from the screen.
        if index == 0, let next = prompts.firstIndex(where: { $0.request.caller.pid != prompt.request.caller.pid }) {
            prompts.insert(prompts.remove(at: next), at: 0)
        }
        guard let agent = prompt.stage.agent, agents.contains(where: { $0.number == agent }) else { return [] }
        return [.resolve(agent, prompt: prompt.request.prompt, outcome)]
    }
}

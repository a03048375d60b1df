package import EnclaveWire
package import VaubanRefusal
package import VaubanUserModel

/// An event from the enclave's connection or from an agent.
package enum PromptQueueEvent: Hashable, Sendable {
    case agentArrived(AgentID, Agent)
    case agentLeft(AgentID)
    case asked(PromptRequest)
    case resolved(prompt: [UInt8], PromptOutcome)
    case updated(prompt: [UInt8], PromptUpdate)
    case answered(AgentID, prompt: [UInt8], challenge: [UInt8], PromptAnswer)
    case enclaveLost
}

/// The effects of an event, in this order.
package enum PromptQueueEffect: Hashable, Sendable {
    case welcome(AgentID)
    case show(AgentID, PromptRequest)
    case resolve(AgentID, prompt: [UInt8], PromptOutcome)
    case update(AgentID, prompt: [UInt8], PromptUpdate)
    /// Refuses the agent and ends its connection; the queue has removed it already.
    case dismiss(AgentID, Refusal)
    /// Reports to the enclave where a prompt is, or what the user answered. A report of `shown` follows its `show`, and is sent only if
    /// that reached the agent.
    case report(PromptReport)

    static func nobody(for request: PromptRequest) -> PromptQueueEffect {
        .report(.answered(prompt: request.prompt, challenge: request.challenge.nonce, .nobody))
    }
}

/// The prompts of all users, apart from every connection: events in, effects out. Whatever an agent sends, only a `PromptAnswer` leaves,
/// and none of them grants anything.
package struct PromptQueue: Sendable {
    private var promptsByUser: [UInt32: UserPrompts] = [:]
    private var users: [AgentID: UInt32] = [:]

    package init() {}

    package mutating func handle(_ event: PromptQueueEvent) -> [PromptQueueEffect] {
        switch event {
        case .agentArrived(let number, let agent):
            users[number] = agent.user
            return withPrompts(of: agent.user) { $0.handleAgentArrival(number, agent) }
        case .agentLeft(let number):
            guard let user = users.removeValue(forKey: number) else { return [] }
            return withPrompts(of: user) { $0.handleAgentDeparture(number) }
        case .asked(let request):
            return withPrompts(of: request.user) { $0.handleRequest(request) }
        case .resolved(let prompt, let outcome):
            guard let user = promptsByUser.first(where: { $0.value.holds(prompt) })?.key else { return [] }
            return withPrompts(of: user) { $0.handleOutcome(prompt, outcome) }
        case .updated(let prompt, let update):
            guard let user = promptsByUser.first(where: { $0.value.holds(prompt) })?.key else { return [] }
            return withPrompts(of: user) { $0.handleUpdate(prompt, update) }
        case .answered(let number, let prompt, let challenge, let answer):
            guard let user = users[number] else { return [] }
            return withPrompts(of: user) { $0.handleAnswer(number, prompt: prompt, challenge: challenge, answer) }
        case .enclaveLost:
            return promptsByUser.keys.sorted().flatMap { withPrompts(of: $0) { $0.handleEnclaveDisconnect() } }
        }
    }

    /// Returns where prompts of this caller would appear now, best place first.
    package func places(user: UInt32, caller: Int32) -> [String] { promptsByUser[user]?.places(forCaller: Int64(caller)) ?? [] }

    /// Returns whether the prompt is shown or queued.
    package func holds(_ prompt: [UInt8]) -> Bool { promptsByUser.values.contains { $0.holds(prompt) } }

    private mutating func withPrompts(of user: UInt32, _ body: (inout UserPrompts) -> [PromptQueueEffect]) -> [PromptQueueEffect] {
        var prompts = promptsByUser[user] ?? UserPrompts()
        let effects = body(&prompts)
        promptsByUser[user] = prompts.isEmpty ? nil : prompts
        for case .dismiss(let number, _) in effects { users[number] = nil }
        return effects
    }
}

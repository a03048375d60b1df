package import EnclaveWire
package import VaubanRefusal
package import VaubanUserModel

/// What happens to the queue: from the enclave's standing connection and from the agents' connections.
package enum PromptQueueEvent: Hashable, Sendable {
    case agentArrived(AgentID, Agent)
    case agentLeft(AgentID)
    case asked(PromptQuestion)
    case settled(prompt: [UInt8], PromptOutcome)
    case updated(prompt: [UInt8], PromptUpdate)
    case answered(AgentID, prompt: [UInt8], challenge: [UInt8], PromptAnswer)
    case enclaveLost
}

/// What is to be done about it, in this order.
package enum PromptQueueEffect: Hashable, Sendable {
    case welcome(AgentID)
    case show(AgentID, PromptQuestion)
    case settle(AgentID, prompt: [UInt8], PromptOutcome)
    case update(AgentID, prompt: [UInt8], PromptUpdate)
    /// Says why and ends the agent's connection; the queue has forgotten it already.
    case dismiss(AgentID, Refusal)
    /// Tells the enclave where a prompt is, or what came of it. That it is shown comes right behind `show`, and is said only
    /// if that reached the agent.
    case report(PromptReport)

    static func nobody(for question: PromptQuestion) -> PromptQueueEffect {
        .report(.answered(prompt: question.prompt, challenge: question.challenge.nonce, .nobody))
    }
}

/// The queue for the attention of each user, apart from every connection: events in, effects out. Whatever an agent
/// says, the only answers that leave are those of `PromptAnswer`, and none of them is a yes.
package struct PromptQueue: Sendable {
    private var lines: [UInt32: UserPrompts] = [:]
    private var users: [AgentID: UInt32] = [:]

    package init() {}

    package mutating func handle(_ event: PromptQueueEvent) -> [PromptQueueEffect] {
        switch event {
        case .agentArrived(let number, let agent):
            users[number] = agent.user
            return inLine(of: agent.user) { $0.arrived(number, agent) }
        case .agentLeft(let number):
            guard let user = users.removeValue(forKey: number) else { return [] }
            return inLine(of: user) { $0.left(number) }
        case .asked(let question):
            return inLine(of: question.user) { $0.asked(question) }
        case .settled(let prompt, let outcome):
            guard let user = lines.first(where: { $0.value.holds(prompt) })?.key else { return [] }
            return inLine(of: user) { $0.settled(prompt, outcome) }
        case .updated(let prompt, let update):
            guard let user = lines.first(where: { $0.value.holds(prompt) })?.key else { return [] }
            return inLine(of: user) { $0.updated(prompt, update) }
        case .answered(let number, let prompt, let challenge, let answer):
            guard let user = users[number] else { return [] }
            return inLine(of: user) { $0.answered(number, prompt: prompt, challenge: challenge, answer) }
        case .enclaveLost:
            return lines.keys.sorted().flatMap { inLine(of: $0) { $0.enclaveLost() } }
        }
    }

    /// Where prompts of this caller would appear now, best first.
    package func places(user: UInt32, caller: Int32) -> [String] { lines[user]?.places(forCaller: Int64(caller)) ?? [] }

    /// Whether the prompt is shown or in line.
    package func holds(_ prompt: [UInt8]) -> Bool { lines.values.contains { $0.holds(prompt) } }

    private mutating func inLine(of user: UInt32, _ body: (inout UserPrompts) -> [PromptQueueEffect]) -> [PromptQueueEffect] {
        var line = lines[user] ?? UserPrompts()
        let effects = body(&line)
        lines[user] = line.isEmpty ? nil : line
        for case .dismiss(let number, _) in effects { users[number] = nil }
        return effects
    }
}

package import EnclaveWire
package import VaubanAccessPolicy

/// What happens to the queue: from the enclave's standing connection and from the agents' connections.
package enum AttentionEvent: Hashable, Sendable {
    case agentArrived(AgentNumber, Agent)
    case agentLeft(AgentNumber)
    case asked(PromptQuestion)
    case settled(prompt: [UInt8], PromptOutcome)
    case updated(prompt: [UInt8], PromptUpdate)
    case answered(AgentNumber, prompt: [UInt8], challenge: [UInt8], PromptAnswer)
    case enclaveLost
}

/// What is to be done about it, in this order.
package enum AttentionEffect: Hashable, Sendable {
    case welcome(AgentNumber)
    case show(AgentNumber, PromptQuestion)
    case settle(AgentNumber, prompt: [UInt8], PromptOutcome)
    case update(AgentNumber, prompt: [UInt8], PromptUpdate)
    /// Says why and ends the agent's connection; the queue has forgotten it already.
    case dismiss(AgentNumber, Refusal)
    /// Tells the enclave where a prompt is, or what came of it. That it is shown comes right behind `show`, and is said only
    /// if that reached the agent.
    case report(AttentionReport)

    static func nobody(for question: PromptQuestion) -> AttentionEffect {
        .report(.answered(prompt: question.prompt, challenge: question.challenge.nonce, .nobody))
    }
}

/// The queue for the attention of each person, apart from every connection: events in, effects out. Whatever an agent
/// says, the only answers that leave are those of `PromptAnswer`, and none of them is a yes.
package struct AttentionQueue: Sendable {
    private var lines: [UInt32: PersonLine] = [:]
    private var persons: [AgentNumber: UInt32] = [:]

    package init() {}

    package mutating func handle(_ event: AttentionEvent) -> [AttentionEffect] {
        switch event {
        case .agentArrived(let number, let agent):
            persons[number] = agent.person
            return inLine(of: agent.person) { $0.arrived(number, agent) }
        case .agentLeft(let number):
            guard let person = persons.removeValue(forKey: number) else { return [] }
            return inLine(of: person) { $0.left(number) }
        case .asked(let question):
            return inLine(of: question.person) { $0.asked(question) }
        case .settled(let prompt, let outcome):
            guard let person = lines.first(where: { $0.value.holds(prompt) })?.key else { return [] }
            return inLine(of: person) { $0.settled(prompt, outcome) }
        case .updated(let prompt, let update):
            guard let person = lines.first(where: { $0.value.holds(prompt) })?.key else { return [] }
            return inLine(of: person) { $0.updated(prompt, update) }
        case .answered(let number, let prompt, let challenge, let answer):
            guard let person = persons[number] else { return [] }
            return inLine(of: person) { $0.answered(number, prompt: prompt, challenge: challenge, answer) }
        case .enclaveLost:
            return lines.keys.sorted().flatMap { inLine(of: $0) { $0.enclaveLost() } }
        }
    }

    /// Where prompts of this caller would appear now, best first.
    package func places(person: UInt32, caller: Int32) -> [String] { lines[person]?.places(forCaller: Int64(caller)) ?? [] }

    /// Whether the prompt is shown or in line.
    package func holds(_ prompt: [UInt8]) -> Bool { lines.values.contains { $0.holds(prompt) } }

    private mutating func inLine(of person: UInt32, _ body: (inout PersonLine) -> [AttentionEffect]) -> [AttentionEffect] {
        var line = lines[person] ?? PersonLine()
        let effects = body(&line)
        lines[person] = line.isEmpty ? nil : line
        for case .dismiss(let number, _) in effects { persons[number] = nil }
        return effects
    }
}

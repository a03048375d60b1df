internal import EnclaveWire
internal import Synchronization
internal import VaubanAuthenticationWire
internal import VaubanDER
internal import VaubanLinuxHost
internal import VaubanUserModel

/// The queue with its connections: the one place where an effect becomes a message. All of it under one lock, so that
/// messages leave in the order in which the queue decided them.
final class PromptDispatcher: Sendable {
    private struct State {
        var queue = PromptQueue()
        var agents: [AgentID: Channel] = [:]
        /// The enclave's key card of each prompt, as it came.
        var keyCards: [[UInt8]: Descriptor] = [:]
        var enclave: Channel?
        var lastNumber: UInt64 = 0
    }

    private let state = Mutex(State())

    init() {}

    // MARK: The enclave's side

    func enclaveArrived(_ line: Channel) { state.withLock { $0.enclave = line } }

    /// The enclave's prompts end with its line; the agents stay.
    func enclaveLost() {
        state.withLock { state in
            state.enclave = nil
            Self.carryOut(.enclaveLost, &state)
        }
    }

    func ask(_ question: PromptQuestion, keyCard: Descriptor) {
        state.withLock { state in
            state.keyCards[question.prompt] = keyCard
            Self.carryOut(.asked(question), &state)
        }
    }

    func settle(_ prompt: [UInt8], _ outcome: PromptOutcome) {
        state.withLock { Self.carryOut(.settled(prompt: prompt, outcome), &$0) }
    }

    func update(_ prompt: [UInt8], _ update: PromptUpdate) {
        state.withLock { Self.carryOut(.updated(prompt: prompt, update), &$0) }
    }

    // MARK: The agents' side

    func arrive(_ agent: Agent, on channel: Channel) -> AgentID {
        state.withLock { state in
            state.lastNumber += 1
            let number = AgentID(state.lastNumber)
            state.agents[number] = channel
            Self.carryOut(.agentArrived(number, agent), &state)
            return number
        }
    }

    func leave(_ number: AgentID) {
        state.withLock { state in
            state.agents[number] = nil
            Self.carryOut(.agentLeft(number), &state)
        }
    }

    func answer(_ number: AgentID, prompt: [UInt8], challenge: [UInt8], _ answer: PromptAnswer) {
        state.withLock { Self.carryOut(.answered(number, prompt: prompt, challenge: challenge, answer), &$0) }
    }

    // MARK: What callers may know

    func places(user: UInt32, caller: Int32) -> [String] {
        state.withLock { $0.queue.places(user: user, caller: caller) }
    }

    // MARK: Effects

    /// An agent that a message did not reach has left, which may have effects of its own; what it did not get was not shown.
    private static func carryOut(_ event: PromptQueueEvent, _ state: inout State) {
        var events = [event]
        while !events.isEmpty {
            var missed: [[UInt8]] = []
            for effect in state.queue.handle(events.removeFirst()) {
                if case .report(.shown(let prompt, _)) = effect, missed.contains(prompt) { continue }
                guard let unreached = perform(effect, &state) else { continue }
                events.append(.agentLeft(unreached))
                if case .show(_, let question) = effect { missed.append(question.prompt) }
            }
        }
        let queue = state.queue
        state.keyCards = state.keyCards.filter { queue.holds($0.key) }
    }

    private static func perform(_ effect: PromptQueueEffect, _ state: inout State) -> AgentID? {
        switch effect {
        case .welcome(let agent):
            return tell(agent, .registered, &state)
        case .show(let agent, let question):
            return tell(agent, .ask(question), &state, with: state.keyCards[question.prompt].map { [$0] } ?? [])
        case .settle(let agent, let prompt, let outcome):
            return tell(agent, .settled(prompt: prompt, outcome), &state)
        case .update(let agent, let prompt, let update):
            return tell(agent, .update(prompt: prompt, update), &state)
        case .dismiss(let agent, let refusal):
            let channel = state.agents[agent]
            _ = tell(agent, .refused(refusal), &state)
            state.agents[agent] = nil
            // Its thread, which waits for the next message, sees the end and closes.
            channel?.shutDown()
            return nil
        case .report(let report):
            do {
                try state.enclave?.send(header: report.encoded())
            } catch {
                state.enclave?.shutDown()
            }
            return nil
        }
    }

    /// Sends without ever waiting: whoever does not read what they are sent must not hold up other users' prompts.
    private static func tell(
        _ agent: AgentID, _ notice: AgentNotice, _ state: inout State, with descriptors: [Descriptor] = []
    ) -> AgentID? {
        guard let channel = state.agents[agent] else { return agent }
        do {
            guard channel.takesNotice else { throw ChannelError.deadline }
            try channel.send(header: notice.encoded(), descriptors: descriptors)
            return nil
        } catch {
            channel.shutDown()
            state.agents[agent] = nil
            return agent
        }
    }
}

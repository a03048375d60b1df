internal import EnclaveWire
internal import Synchronization
internal import VaubanAuthenticationWire
internal import VaubanDER
internal import VaubanLinuxHost
internal import VaubanUserModel

/// The prompt queue with its connections: the only place where an effect becomes a message. One lock covers everything, so that messages
/// are sent in the queue's order.
final class PromptDispatcher: Sendable {
    private struct State {
        var queue = PromptQueue()
        var agents: [AgentID: Channel] = [:]
        /// The enclave's key card for each prompt, as received.
        var keyCards: [[UInt8]: Descriptor] = [:]
        var enclave: Channel?
        var lastNumber: UInt64 = 0
    }

    private let state = Mutex(State())

    init() {}

    // MARK: The enclave's side

    func handleEnclaveConnect(_ channel: Channel) { state.withLock { $0.enclave = channel } }

    /// Ends the enclave's prompts with its connection; the agents stay.
    func handleEnclaveDisconnect() {
        state.withLock { state in
            state.enclave = nil
            Self.process(.enclaveLost, &state)
        }
    }

    func ask(_ request: PromptRequest, keyCard: Descriptor) {
        state.withLock { state in
            state.keyCards[request.prompt] = keyCard
            Self.process(.asked(request), &state)
        }
    }

    func end(_ prompt: [UInt8], _ outcome: PromptOutcome) {
        state.withLock { Self.process(.resolved(prompt: prompt, outcome), &$0) }
    }

    func update(_ prompt: [UInt8], _ update: PromptUpdate) {
        state.withLock { Self.process(.updated(prompt: prompt, update), &$0) }
    }

    // MARK: The agents' side

    func add(_ agent: Agent, on channel: Channel) -> AgentID {
        state.withLock { state in
            state.lastNumber += 1
            let number = AgentID(state.lastNumber)
            state.agents[number] = channel
            Self.process(.agentArrived(number, agent), &state)
            return number
        }
    }

    func remove(_ number: AgentID) {
        state.withLock { state in
            state.agents[number] = nil
            Self.process(.agentLeft(number), &state)
        }
    }

    func answer(_ number: AgentID, prompt: [UInt8], challenge: [UInt8], _ answer: PromptAnswer) {
        state.withLock { Self.process(.answered(number, prompt: prompt, challenge: challenge, answer), &$0) }
    }

    // MARK: Places

    func places(user: UInt32, caller: Int32) -> [String] {
        state.withLock { $0.queue.places(user: user, caller: caller) }
    }

    // MARK: Effects

    /// Handles an event and its effects. An agent that could not be reached is removed, which may cause further effects; the prompt was not
    /// shown there.
    private static func process(_ event: PromptQueueEvent, _ state: inout State) {
        var events = [event]
        while !events.isEmpty {
            var missed: [[UInt8]] = []
            for effect in state.queue.handle(events.removeFirst()) {
                if case .report(.shown(let prompt, _)) = effect, missed.contains(prompt) { continue }
                guard let unreached = perform(effect, &state) else { continue }
                events.append(.agentLeft(unreached))
                if case .show(_, let request) = effect { missed.append(request.prompt) }
            }
        }
        let queue = state.queue
        state.keyCards = state.keyCards.filter { queue.holds($0.key) }
    }

    private static func perform(_ effect: PromptQueueEffect, _ state: inout State) -> AgentID? {
        switch effect {
        case .welcome(let agent):
            return send(to: agent, .registered, state: &state)
        case .show(let agent, let request):
            return send(to: agent, .ask(request), state: &state, with: state.keyCards[request.prompt].map { [$0] } ?? [])
        case .resolve(let agent, let prompt, let outcome):
            return send(to: agent, .resolved(prompt: prompt, outcome), state: &state)
        case .update(let agent, let prompt, let update):
            return send(to: agent, .update(prompt: prompt, update), state: &state)
        case .dismiss(let agent, let refusal):
            let channel = state.agents[agent]
            _ = send(to: agent, .refused(refusal), state: &state)
            state.agents[agent] = nil
            // The connection's thread, which waits for the next message, detects the end and returns.
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

    /// Sends a notice without waiting: an agent that does not read must not hold up other users' prompts. Returns the agent if it could not
    /// be reached.
    private static func send(
        to agent: AgentID, _ notice: AgentNotice, state: inout State, with descriptors: [Descriptor] = []
    ) -> AgentID? {
        guard let channel = state.agents[agent] else { return agent }
        do {
            guard channel.canSendNotice else { throw ChannelError.deadline }
            try channel.send(header: notice.encoded(), descriptors: descriptors)
            return nil
        } catch {
            channel.shutDown()
            state.agents[agent] = nil
            return agent
        }
    }
}

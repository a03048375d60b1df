internal import EnclaveConnection
internal import EnclaveWire
internal import Logging
internal import VaubanAuthenticationWire
internal import VaubanDER
internal import VaubanLinuxHost
internal import VaubanPlainText
internal import VaubanRefusal
internal import VaubanUserModel
internal import VaubanUserWire
import VaubanRoomLog

/// One prompt agent's connection, on the thread that the door gave it. What the agent is sent comes from the desk.
struct AgentConnectionHandler {
    let visitor: AcceptedConnection
    let desk: PromptDispatcher
    let environments: EnvironmentDispatcher
    let enclave: EnclaveClient
    let log: BoundedLog

    func serve() {
        defer { visitor.channel.shutDown() }
        do {
            let number = desk.arrive(try register(), on: visitor.channel)
            log.info("a prompt agent is here", about: visitor.peer.uid)
            // Whether the user can be asked may have changed.
            environments.changed(visitor.peer.uid)
            defer {
                desk.leave(number)
                environments.changed(visitor.peer.uid)
                log.info("a prompt agent is gone", about: visitor.peer.uid)
            }
            while true {
                switch try next() {
                case .register: throw Refusal(.notAllowedHere, "an agent registers once")
                case .answer(let prompt, let challenge, let answer): desk.answer(number, prompt: prompt, challenge: challenge, answer)
                }
            }
        } catch ChannelError.closed {
            return
        } catch {
            // The other side may be gone already, which ends the connection just as well.
            try? visitor.channel.send(header: AgentNotice.refused(ConnectionRefusal.refusal(error)).encoded())
        }
    }

    private func register() throws -> Agent {
        guard case .register(let scope, let place) = try next() else { throw Refusal(.notAllowedHere, "an agent registers first") }
        // It is printed on other programs' terminals.
        guard !place.isEmpty, !place.unicodeScalars.contains(where: PlainLine.isInvisible) else {
            throw Refusal(.badParameter, "the place is not a line of text")
        }
        let isPrograms = scope == .ownProcess && enclave.identity.map { !$0.throughCommandLine } ?? false
        if isPrograms { try requireTerminalPrompts() }
        return Agent(user: visitor.peer.uid, pid: visitor.peer.pid, scope: scope, place: place, takesConsent: !isPrograms)
    }

    /// Vauban's own command line asks on its own terminal, as sudo does it. Any other program that asks on its own would see
    /// what is typed there: that takes the user's word. In user mode programs are not told apart.
    private func requireTerminalPrompts() throws {
        guard case .user(.status(let status)) = try enclave.send(.user(.status)).reply, status.settings.allowsTerminalPrompts else {
            throw Refusal(.notAllowedHere, "a program may ask on its own terminal only after: vauban allow terminal-prompts on")
        }
    }

    /// The next message that this version knows; one of another is refused by name and harms nothing.
    private func next() throws -> AgentMessage {
        while true {
            let message = try visitor.channel.receive(.idle)
            guard message.secret == nil, message.descriptors.isEmpty else { throw DERError("an agent's message carries nothing beside it") }
            do {
                return try AgentMessage(derBytes: message.header)
            } catch let refusal as Refusal {
                try visitor.channel.send(header: AgentNotice.refused(refusal).encoded())
            }
        }
    }
}

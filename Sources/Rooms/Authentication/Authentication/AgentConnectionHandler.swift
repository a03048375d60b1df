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

/// Serves one prompt agent on its own thread. The dispatcher sends the prompts.
struct AgentConnectionHandler {
    let connection: AcceptedConnection
    let dispatcher: PromptDispatcher
    let environments: EnvironmentDispatcher
    let enclave: EnclaveClient
    let log: BoundedLog

    func serve() {
        defer { connection.channel.shutDown() }
        do {
            let number = dispatcher.add(try register(), on: connection.channel)
            log.info("a prompt agent registered", about: connection.peer.uid)
            // Whether the user can be prompted may have changed.
            environments.changed(connection.peer.uid)
            defer {
                dispatcher.remove(number)
                environments.changed(connection.peer.uid)
                log.info("a prompt agent disconnected", about: connection.peer.uid)
            }
            while true {
                switch try next() {
                case .register: throw Refusal(.notAllowedHere, "An agent must register only once")
                case .answer(let prompt, let challenge, let answer): dispatcher.answer(number, prompt: prompt, challenge: challenge, answer)
                }
            }
        } catch ChannelError.closed {
            return
        } catch {
            // The peer may have disconnected already, which has the same effect.
            try? connection.channel.send(header: AgentNotice.refused(ConnectionRefusal.refusal(error)).encoded())
        }
    }

    private func register() throws -> Agent {
        guard case .register(let scope, let place) = try next() else { throw Refusal(.notAllowedHere, "An agent must register first") }
        // The place is printed on other programs' terminals.
        guard !place.isEmpty, !place.unicodeScalars.contains(where: PlainLine.isInvisible) else {
            throw Refusal(.badParameter, "The place is not a plain line of text")
        }
        let isPrograms = scope == .ownProcess && enclave.identity.map { !$0.throughCommandLine } ?? false
        if isPrograms { try requireTerminalPrompts() }
        return Agent(user: connection.peer.uid, pid: connection.peer.pid, scope: scope, place: place, takesConsent: !isPrograms)
    }

    /// Throws unless the user allows programs to prompt on their own terminals. Vauban's command line prompts on its terminal as sudo does,
    /// but any other program would see what is typed there. In user mode programs are not distinguished.
    private func requireTerminalPrompts() throws {
        guard case .user(.status(let status)) = try enclave.send(.user(.status)).reply, status.settings.allowsTerminalPrompts else {
            throw Refusal(.notAllowedHere, "A program may prompt on its own terminal only after: vauban allow terminal-prompts on")
        }
    }

    /// Returns the next message. Answers a message of an unknown kind with a refusal, and the connection continues.
    private func next() throws -> AgentMessage {
        while true {
            let message = try connection.channel.receive(.idle)
            guard message.secret == nil, message.descriptors.isEmpty else {
                throw DERError("an agent's message carries a secret or a descriptor")
            }
            do {
                return try AgentMessage(derBytes: message.header)
            } catch let refusal as Refusal {
                try connection.channel.send(header: AgentNotice.refused(refusal).encoded())
            }
        }
    }
}

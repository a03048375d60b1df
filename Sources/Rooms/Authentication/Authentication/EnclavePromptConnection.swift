// The enclave never dials: authd holds a standing connection over which the enclave sends prompts.

internal import EnclaveWire
internal import Logging
internal import VaubanDER
internal import VaubanLinuxHost

/// authd's standing connection to the enclave.
struct EnclavePromptConnection: Sendable {
    let enclave: ServerAddress
    let dispatcher: PromptDispatcher
    let environments: EnvironmentDispatcher
    let log: Logger

    func start() {
        StandingConnection(enclave, role: EnclaveRole.prompts.rawValue).keepOnThread(
            serve: { try serve($0) }, lost: { log.notice("the connection to the enclave was lost", metadata: ["why": "\($0)"]) })
    }

    private func serve(_ channel: Channel) throws -> Never {
        dispatcher.handleEnclaveConnect(channel)
        environments.changedForAll()
        defer {
            dispatcher.handleEnclaveDisconnect()
            environments.changedForAll()
        }
        log.info("connected to the enclave")
        while true {
            let message = try channel.receive(.idle)
            guard message.secret == nil else { throw ChannelError.malformed("a notice carries a secret") }
            switch try PromptNotice(derBytes: message.header) {
            case .ask(let request):
                guard message.descriptors.count == 1 else { throw ChannelError.malformed("a prompt came without its key card") }
                dispatcher.ask(request, keyCard: message.descriptors[0])
            case .resolved(let prompt, let outcome):
                guard message.descriptors.isEmpty else { throw ChannelError.malformed("the end of a prompt carries a descriptor") }
                dispatcher.end(prompt, outcome)
            case .update(let prompt, let update):
                guard message.descriptors.isEmpty else { throw ChannelError.malformed("an update carries a descriptor") }
                dispatcher.update(prompt, update)
            case .changed(let user):
                guard message.descriptors.isEmpty else { throw ChannelError.malformed("a change carries a descriptor") }
                environments.changed(user)
            }
        }
    }
}

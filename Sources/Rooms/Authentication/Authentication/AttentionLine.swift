// The enclave never dials: authd holds a line open, over which the enclave asks for the person.

internal import EnclaveWire
internal import Logging
internal import VaubanDER
internal import VaubanLinuxHost

/// The standing connection to the enclave.
struct AttentionLine: Sendable {
    let enclave: ServerAddress
    let desk: AttentionDesk
    let environments: EnvironmentDesk
    let log: Logger

    func start() {
        StandingConnection(enclave, role: EnclaveRole.attention.rawValue).keepOnThread(
            serve: { try serve($0) }, lost: { log.notice("the line to the enclave is lost", metadata: ["why": "\($0)"]) })
    }

    private func serve(_ line: Channel) throws -> Never {
        desk.enclaveArrived(line)
        environments.changedForAll()
        defer {
            desk.enclaveLost()
            environments.changedForAll()
        }
        log.info("the line to the enclave is open")
        while true {
            let message = try line.receive(.idle)
            guard message.secret == nil else { throw ChannelFault.malformed("a notice carries a secret") }
            switch try AttentionNotice(derBytes: message.header) {
            case .ask(let question):
                guard message.descriptors.count == 1 else { throw ChannelFault.malformed("a question comes without a key card") }
                desk.ask(question, keyCard: message.descriptors[0])
            case .settled(let prompt, let outcome):
                guard message.descriptors.isEmpty else { throw ChannelFault.malformed("a settlement carries a descriptor") }
                desk.settle(prompt, outcome)
            case .update(let prompt, let update):
                guard message.descriptors.isEmpty else { throw ChannelFault.malformed("an update carries a descriptor") }
                desk.update(prompt, update)
            case .changed(let person):
                guard message.descriptors.isEmpty else { throw ChannelFault.malformed("a change carries a descriptor") }
                environments.changed(person)
            }
        }
    }
}

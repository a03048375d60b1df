// authd: the queue for the person's attention, and the door through which callers reach the enclave. It holds no item and
// no key, sees no passcode in the clear, and has no word that means yes.

package import Logging
internal import VaubanAccessPolicy
internal import VaubanAuthenticationWire
internal import VaubanDER
package import VaubanLinuxHost

package struct AuthenticationRoom: Sendable {
    private let listener: Descriptor
    private let enclave: ServerAddress
    private let log: Logger
    private let desk = AttentionDesk()
    private let environments = EnvironmentDesk()
    /// Whether programs are told apart: in system mode.
    private let identifiesCallers: Bool

    package init(listener: Descriptor, enclave: ServerAddress, identifiesCallers: Bool = false, log: Logger) {
        self.listener = listener
        self.enclave = enclave
        self.identifiesCallers = identifiesCallers
        self.log = log
    }

    /// Opens the line to the enclave and serves until the process ends. Every person may come to this door: whose prompts
    /// and whose state it is about follows from the kernel's word on the peer.
    package func run() throws(SystemFault) -> Never {
        AttentionLine(enclave: enclave, desk: desk, environments: environments, log: log).start()
        let door = Doorway(listener: listener) { _ in true }
        try door.run(
            look: { [enclave, identifiesCallers] socket, peer in
                var counter = EnclaveCounter(address: enclave, socket: socket, peer: peer)
                if identifiesCallers { try counter.identify() }
                return counter
            },
            refused: { [log] fault, person in
                log.notice("a connection is refused", metadata: ["why": "\(fault)", "person": "\(person)"])
            },
            serve: { [desk, environments, log] visitor, counter in
                switch AuthenticationRole(rawValue: visitor.role) {
                case .caller:
                    var door = CallerDoor(visitor: visitor, desk: desk, counter: counter, log: log)
                    door.serve()
                case .agent:
                    AgentDoor(visitor: visitor, desk: desk, environments: environments, counter: counter, log: log).serve()
                case .watcher:
                    var counter = counter
                    counter.close()
                    WatchDoor(visitor: visitor, desk: environments).serve()
                case nil:
                    let refusal = Refusal(.unknownRequest, "the role \(visitor.role) is not known to this door")
                    try? visitor.channel.send(header: AuthenticationReply.refused(refusal).encoded())
                }
            })
    }
}

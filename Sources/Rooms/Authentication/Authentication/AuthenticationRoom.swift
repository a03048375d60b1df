// authd: the queue for the user's attention, and the door through which callers reach the enclave. It holds no item and
// no key, sees no passcode in the clear, and has no word that means yes.

internal import EnclaveConnection
internal import EnclaveWire
package import Logging
internal import VaubanAuthenticationWire
internal import VaubanDER
package import VaubanLinuxHost
internal import VaubanRoomLog
internal import VaubanRefusal

package struct AuthenticationRoom: Sendable {
    private let listener: Descriptor
    private let enclave: ServerAddress
    private let log: Logger
    private let desk = PromptDispatcher()
    private let environments = EnvironmentDispatcher()
    /// Whether programs are told apart: in system mode.
    private let identifiesCallers: Bool

    package init(listener: Descriptor, enclave: ServerAddress, identifiesCallers: Bool = false, log: Logger) {
        self.listener = listener
        self.enclave = enclave
        self.identifiesCallers = identifiesCallers
        self.log = log
    }

    /// Opens the line to the enclave and serves until the process ends. Every user may come to this door: whose prompts
    /// and whose state it is about follows from the kernel's word on the peer.
    package func run() throws(SystemError) -> Never {
        PromptConnection(enclave: enclave, desk: desk, environments: environments, log: log).start()
        let connections = ConnectionTable(
            max: DescriptorLimit.connections(ConnectionLimits.connectionsMax), sharing: identifiesCallers ? .owners : .oneUser)
        let door = ConnectionServer(listener: listener, connections: connections) { _ in true }
        let log = BoundedLog(log)
        let admission = Admission()
        try door.run(
            snapshot: { [enclave, identifiesCallers] socket, peer in
                let client = EnclaveClient(address: enclave, role: .authentication, socket: socket, peer: peer)
                guard identifiesCallers else { return (client, nil) }
                do throws(Refusal) { try admission.admit(peer.uid) } catch {
                    log.notice("a user is refused", about: peer.uid, ["why": "\(error.detail ?? "")"])
                    return (client, error)
                }
                do throws(EnclaveError) { try client.identify() } catch {
                    guard case .refused(let refusal) = error, [.notAllowedHere, .stateUnreadable].contains(refusal.reason) else {
                        throw error
                    }
                    log.notice("a user is refused", about: peer.uid, ["why": "\(refusal.detail ?? "")"])
                    return (client, refusal)
                }
                return (client, nil)
            },
            refused: { fault, uid in log.notice("a connection is refused", about: uid, ["why": "\(fault)"]) },
            serve: { [desk, environments] (visitor: AcceptedConnection, look: (EnclaveClient, Refusal?)) in
                let (client, refusal) = look
                if let refusal { return Self.refuse(visitor, refusal) }
                switch AuthenticationRole(rawValue: visitor.role) {
                case .caller:
                    let door = CallerConnectionHandler(visitor: visitor, desk: desk, enclave: client, log: log)
                    door.serve()
                case .agent:
                    visitor.stay()
                    AgentConnectionHandler(visitor: visitor, desk: desk, environments: environments, enclave: client, log: log).serve()
                case .watcher:
                    visitor.stay()
                    client.close()
                    EnvironmentConnectionHandler(visitor: visitor, desk: environments).serve()
                case nil:
                    let refusal = Refusal(.unknownRequest, "the role \(visitor.role) is not known to this door")
                    try? visitor.channel.send(header: AuthenticationReply.refused(refusal).encoded())
                }
            })
    }

    /// Answers a caller's first request, or a standing connection at once, and ends it.
    private static func refuse(_ visitor: AcceptedConnection, _ refusal: Refusal) {
        switch AuthenticationRole(rawValue: visitor.role) {
        case .agent: try? visitor.channel.send(header: AgentNotice.refused(refusal).encoded())
        case .watcher: try? visitor.channel.send(header: EnvironmentNotice.refused(refusal).encoded())
        case .caller, nil:
            guard (try? visitor.channel.receive(.machine)) != nil else { return }
            try? visitor.channel.send(header: AuthenticationReply.refused(refusal).encoded())
        }
    }
}

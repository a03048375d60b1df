// authd: the queue of prompts, and the socket through which callers reach the enclave. It holds no item and no key, sees no passcode in the
// clear, and has no message that grants anything.

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
    private let dispatcher = PromptDispatcher()
    private let environments = EnvironmentDispatcher()
    /// Whether programs are distinguished, as in system mode.
    private let identifiesCallers: Bool

    package init(listener: Descriptor, enclave: ServerAddress, identifiesCallers: Bool = false, log: Logger) {
        self.listener = listener
        self.enclave = enclave
        self.identifiesCallers = identifiesCallers
        self.log = log
    }

    /// Connects to the enclave and serves until the process ends. Any user may connect: the kernel's credentials of the peer decide whose
    /// prompts and state a connection is about.
    package func run() throws(SystemError) -> Never {
        EnclavePromptConnection(enclave: enclave, dispatcher: dispatcher, environments: environments, log: log).start()
        let connections = ConnectionTable(
            max: DescriptorLimit.connections(ConnectionLimits.connectionsMax), sharing: identifiesCallers ? .owners : .oneUser)
        let server = ConnectionServer(listener: listener, connections: connections) { _ in true }
        let log = BoundedLog(log)
        let admission = Admission()
        try server.run(
            snapshot: { [enclave, identifiesCallers] socket, peer in
                let client = EnclaveClient(
                    address: enclave, role: .authentication, socket: socket, peer: peer,
                    accounts: identifiesCallers ? admission.accounts : nil)
                guard identifiesCallers else { return (client, nil) }
                do throws(Refusal) { try admission.admit(peer.uid) } catch {
                    log.refusal("a user is refused", about: peer.uid, error)
                    return (client, error)
                }
                do throws(EnclaveError) { try client.identify() } catch {
                    guard error.isReportedToUnidentifiedCallers else { throw error }
                    log.refusal("a caller is refused", about: peer.uid, error.refusal, why: "\(error)")
                    return (client, error.refusal)
                }
                return (client, nil)
            },
            refused: { fault, uid in log.notice("a connection is refused", about: uid, ["why": "\(fault)"]) },
            serve: { [dispatcher, environments] (connection: AcceptedConnection, accepted: (EnclaveClient, Refusal?)) in
                let (client, refusal) = accepted
                if let refusal { return Self.refuse(connection, refusal) }
                switch AuthenticationRole(rawValue: connection.role) {
                case .caller:
                    let handler = CallerConnectionHandler(connection: connection, dispatcher: dispatcher, enclave: client, log: log)
                    handler.serve()
                case .agent:
                    connection.keepOpenWhileIdle()
                    AgentConnectionHandler(
                        connection: connection, dispatcher: dispatcher, environments: environments, enclave: client, log: log
                    ).serve()
                case .watcher:
                    connection.keepOpenWhileIdle()
                    client.close()
                    EnvironmentConnectionHandler(connection: connection, dispatcher: environments).serve()
                case nil:
                    let refusal = Refusal(.unknownRequest, "the role \(connection.role) is not known here")
                    try? connection.channel.send(header: AuthenticationReply.refused(refusal).encoded())
                }
            })
    }

    /// Refuses the first message of a caller or an agent, and ends the connection. If the connection ended before that message arrived, the
    /// client could not send it, and would never read the refusal. A watcher sends nothing and is refused at once.
    private static func refuse(_ connection: AcceptedConnection, _ refusal: Refusal) {
        // Shut down, not only close: an enclave that does not respond may still hold the duplicate from the registration.
        defer { connection.channel.shutDown() }
        switch AuthenticationRole(rawValue: connection.role) {
        case .agent:
            guard (try? connection.channel.receive(.machine)) != nil else { return }
            try? connection.channel.send(header: AgentNotice.refused(refusal).encoded())
        case .watcher: try? connection.channel.send(header: EnvironmentNotice.refused(refusal).encoded())
        case .caller, nil:
            guard (try? connection.channel.receive(.machine)) != nil else { return }
            try? connection.channel.send(header: AuthenticationReply.refused(refusal).encoded())
        }
    }
}

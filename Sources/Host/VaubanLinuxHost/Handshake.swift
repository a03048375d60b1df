// The first messages of every connection (Specs/connections.md). The server reads the peer's identity before it sends anything. The client
// echoes a fresh nonce and sends a descriptor of itself, which proves that it writes deliberately.

package import VaubanDER
internal import CVaubanLinux

/// `Hello ::= SEQUENCE { version INTEGER, nonce OCTET STRING (SIZE (16)) }`, from the server.
package struct Hello: DERReadable, DERWritable {
    package let nonce: [UInt8]

    init() throws(SystemError) { nonce = try Entropy.bytes(16) }

    package init(from fields: inout DERFields) throws {
        try fields.version(Handshake.version)
        nonce = try fields.octets("nonce", in: 16...16)
    }

    package func write(into der: inout DERWriter) throws {
        try der.sequence { fields in
            try fields.integer(Handshake.version)
            try fields.octets(nonce)
        }
    }
}

/// `Greeting ::= SEQUENCE { version INTEGER, nonce OCTET STRING (SIZE (16)), role INTEGER }`, from the client, with one descriptor: its own
/// pidfd.
package struct Greeting: DERReadable, DERWritable {
    package let nonce: [UInt8]
    package let role: Int64

    init(nonce: [UInt8], role: Int64) {
        self.nonce = nonce
        self.role = role
    }

    package init(from fields: inout DERFields) throws {
        try fields.version(Handshake.version)
        nonce = try fields.octets("nonce", in: 16...16)
        role = try fields.integer("role", in: 0...255)
    }

    package func write(into der: inout DERWriter) throws {
        try der.sequence { fields in
            try fields.integer(Handshake.version)
            try fields.octets(nonce)
            try fields.integer(role)
        }
    }
}

/// Why a handshake ended a connection. The peer is to blame, except for `system` and `noKeychain`.
package enum HandshakeError: Error, Sendable {
    case channel(ChannelError)
    case system(SystemError)
    /// The server has the wrong uid. The client sent nothing to it.
    case wrongServer(uid: UInt32)
    /// The client did not echo the nonce, or sent no descriptor of its own process.
    case unproven(String)
    /// The folder that `VAUBAN_HOME` names contains no keychain.
    case noKeychain(home: String)
}

package enum Handshake {
    package static let version: Int64 = 1

    /// Accepts a client: reads the identity, sends the nonce, and checks the client's proof. `snapshot` runs before anything is sent, so
    /// its result describes the process that replies afterwards (Specs/caller-identity.md). `usesPeerDescriptor` is false only in tests of
    /// kernels before 6.5.
    package static func accept<CallerSnapshot>(
        _ socket: Descriptor, usesPeerDescriptor: Bool = true, snapshot: (Peer) throws -> CallerSnapshot
    ) throws(HandshakeError) -> (channel: Channel, peer: Peer, role: Int64, snapshot: CallerSnapshot) {
        do {
            let named = try Peer(ofConnection: socket, usePeerDescriptor: usesPeerDescriptor)
            let peer = named.process == nil ? named.held(by: try ProcessDescriptor.open(named.pid)) : named
            let callerSnapshot = try snapshot(peer)
            let channel = try Channel(socket: socket, expecting: .process(pid: peer.pid, uid: peer.uid, held: peer.process))
            let hello = try Hello()
            try channel.send(header: try hello.encoded())
            let message = try channel.receive(.machine)
            let greeting = try Greeting(derBytes: message.header)
            guard greeting.nonce == hello.nonce else { throw HandshakeError.unproven("the nonce is not echoed") }
            guard message.descriptors.count == 1, message.secret == nil else {
                throw HandshakeError.unproven("the process descriptor is missing")
            }
            guard ProcessDescriptor.pid(of: message.descriptors[0]) == peer.pid else {
                throw HandshakeError.unproven("the descriptor names another process")
            }
            // Before Linux 6.5 the process was found by its number, which is reliable only if the process still runs.
            guard peer.isAlive else { throw HandshakeError.unproven("the process has ended") }
            return (channel, peer, greeting.role, callerSnapshot)
        } catch {
            throw HandshakeError(error)
        }
    }

    /// Does the same without a snapshot.
    package static func accept(
        _ socket: Descriptor, usesPeerDescriptor: Bool = true
    ) throws(HandshakeError) -> (channel: Channel, peer: Peer, role: Int64) {
        let (channel, peer, role, _) = try accept(socket, usesPeerDescriptor: usesPeerDescriptor) { _ in }
        return (channel, peer, role)
    }

    /// Connects to a server, whose uid must be that of the service's owner, both as the kernel reports it for the listener and for its
    /// first message. With socket activation the listener is root's until the started room calls `listen` itself, so root may listen too;
    /// then only the message identifies the server.
    /// - Parameter time: How long that message may take, in nanoseconds, and most later ones. Before it, a server may have to identify the
    ///   client.
    package static func connect(
        _ socket: Descriptor, serverUID: UInt32, role: Int64, within time: UInt64 = ConnectionLimits.machineTime
    ) throws(HandshakeError) -> Channel {
        do {
            let listening = try Peer(ofConnection: socket, usePeerDescriptor: false)
            guard listening.uid == serverUID || listening.uid == 0 else { throw HandshakeError.wrongServer(uid: listening.uid) }
            let channel = try Channel(socket: socket, expecting: .user(uid: serverUID), receivingWithin: time)
            let message = try channel.receive(.after(time))
            let hello = try Hello(derBytes: message.header)
            let greeting = Greeting(nonce: hello.nonce, role: role)
            try channel.send(header: try greeting.encoded(), descriptors: [try ProcessDescriptor.ofSelf()])
            return channel
        } catch {
            throw HandshakeError(error)
        }
    }
}

extension HandshakeError {
    /// Converts any error of a handshake to a `HandshakeError`.
    init(_ error: any Error) {
        switch error {
        case let fault as HandshakeError: self = fault
        case let fault as ChannelError: self = .channel(fault)
        case let fault as SystemError: self = .system(fault)
        default: self = .channel(.malformed("\(error)"))
        }
    }
}

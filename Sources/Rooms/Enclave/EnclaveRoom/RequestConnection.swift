// One room's connection on behalf of one caller. The thread that reads a request also answers it.

import Enclave
import EnclaveWire
import Logging
import VaubanDER
import VaubanLinuxHost
import VaubanRefusal
internal import VaubanRoomHardening
import VaubanSecretBytes

/// The reply to one request, with its secret and descriptors.
struct Response: ~Copyable {
    var reply: EnclaveReply
    var secret: SecretBytes?
    var descriptors: [Descriptor]

    init(_ reply: EnclaveReply, secret: consuming SecretBytes? = nil, descriptors: [Descriptor] = []) {
        self.reply = reply
        self.secret = secret
        self.descriptors = descriptors
    }
}

final class RequestConnection: CallerConnection {
    let room: EnclaveRoom
    let channel: Channel
    let role: EnclaveRole
    private var registered: Peer?
    /// The vault that the current request uses; nil until it uses one.
    private var used: Vault?
    /// The identity of the registered caller, once it was requested.
    private(set) var identity: CallerIdentity?
    /// The trace and nonce of the prompt that allowed the last operation, until that is performed.
    var allowing: (RequestTrace, [UInt8])?

    init(room: EnclaveRoom, role: EnclaveRole, channel: Channel) {
        self.room = room
        self.role = role
        self.channel = channel
    }

    func serve() {
        defer {
            room.authorizations.end(of: self)
            room.connectionKeys.end(on: self)
        }
        while true {
            do throws(ChannelError) {
                let message = try channel.receive(.idle)
                guard try answer(message) else { return }
            } catch {
                let why: String? =
                    switch error {
                    case .malformed(let why): why
                    case .oversized: "the message is too large"
                    case .foreignSender: "another process wrote to this connection"
                    case .deadline: "the message did not end in time"
                    case .closed, .watchedEnded, .system: nil
                    }
                if let why { _ = try? send(Response(.refused(Refusal(.malformed, why)))) }
                return
            }
        }
    }

    /// Answers one message. Returns false to end the connection, since after bytes that cannot be decoded nothing that follows can be
    /// interpreted.
    private func answer(_ message: consuming Message) throws(ChannelError) -> Bool {
        let request: EnclaveRequest
        do {
            request = try EnclaveRequest(derBytes: message.header)
        } catch let refusal as Refusal {
            try send(Response(.refused(refusal)))
            return true
        } catch {
            try send(Response(.refused(Refusal(.malformed, "\(error)"))))
            return false
        }
        let secret = message.takeSecret()
        guard secret == nil || request.takesSecret, request.takesDescriptors || message.descriptors.isEmpty else {
            try send(Response(.refused(Refusal(.malformed, "the request must not carry a secret or a descriptor"))))
            return false
        }
        let response: Response
        do throws(Refusal) {
            response = try handle(request, secret: secret, descriptors: message.descriptors)
        } catch {
            response = Response(.refused(error))
        }
        // Done before the reply, so that the next lock may rely on it.
        ScratchMemory.scrubStack()
        try send(response)
        return true
    }

    func registeredCaller() throws(Refusal) -> Peer {
        guard let caller = registered else { throw Refusal(.badParameter, "No caller is registered on this connection") }
        return caller
    }

    /// Returns the registered caller's vault, after applying its expirations.
    func vault() throws(Refusal) -> Vault {
        if let used { return used }
        let vault = room.vault(of: try registeredCaller().uid)
        room.applyEffects(of: vault)
        used = vault
        return vault
    }

    /// Applies the effects of a request on its vault before the reply is sent.
    func completeVault() {
        if let vault = used { room.applyEffects(of: vault) }
        used = nil
    }

    func identify(_ caller: Peer) -> CallerIdentity {
        let found = room.witness.identity(of: caller)
        identity = found
        return found
    }

    /// Serves the caller's own connection until it ends. The kernel must report the registered caller as its peer.
    func handOver(_ descriptors: [Descriptor], of caller: Peer) throws(Refusal) -> EnclaveReply {
        guard descriptors.count == 1 else { throw Refusal(.malformed, "the caller's connection is missing") }
        guard let peer = try? Peer(ofConnection: descriptors[0]), peer.pid == caller.pid, peer.uid == caller.uid else {
            throw Refusal(.badParameter, "The connection is not the registered caller's")
        }
        let channel: Channel
        do throws(SystemError) {
            channel = try Channel(socket: descriptors[0], expecting: .process(pid: caller.pid, uid: caller.uid, held: caller.process))
        } catch {
            throw Refusal(.badParameter, "The caller's descriptor is not a connection")
        }
        try room.keyConnections.begin(KeyConnection(room: room, channel: channel, caller: caller, identity: identity))
        return .done
    }

    func report(_ place: String) throws { try channel.send(header: try EnclaveReply.waitingForUser(place: place).encoded()) }

    func reportQueued() throws { try channel.send(header: try EnclaveReply.queued.encoded()) }

    /// Registers the caller of this connection. The credentials are those that the kernel recorded for the caller's own accepted
    /// connection, and not a claim of the other room.
    func register(_ descriptors: [Descriptor], name: String?) throws(Refusal) -> EnclaveReply {
        guard descriptors.count == 2 else { throw Refusal(.malformed, "the caller's connection and process are missing") }
        let peer: Peer
        do throws(SystemError) { peer = try Peer(ofConnection: descriptors[0]) } catch {
            throw Refusal(.badParameter, "The caller's descriptor is not a connection")
        }
        guard ProcessDescriptor.pid(of: descriptors[1]) == peer.pid else {
            throw Refusal(.badParameter, "The caller's process is not the one that connected")
        }
        identity = nil
        registered = nil
        room.connectionKeys.end(on: self)
        room.authorizations.end(of: self)
        try room.checkOwnership(peer.uid, name: name)
        registered = peer.process == nil ? peer.held(by: descriptors[1]) : peer
        return .caller(user: peer.uid, pid: Int64(peer.pid))
    }

    private func send(_ response: consuming Response) throws(ChannelError) {
        let header: [UInt8]
        do { header = try response.reply.encoded() } catch { throw .malformed("a reply cannot be encoded") }
        switch response.secret {
        case .some(let secret): try channel.send(header: header, secret: secret, descriptors: response.descriptors)
        case .none: try channel.send(header: header, descriptors: response.descriptors)
        }
    }
}

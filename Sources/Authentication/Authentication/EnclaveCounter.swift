internal import EnclaveWire
internal import VaubanAccessPolicy
internal import VaubanDER
internal import VaubanLinuxHost

/// One caller's own connection to the enclave, opened at its first request. What the enclave believes of the caller it
/// reads from the caller's own connection, which is passed to it.
struct EnclaveCounter {
    struct Reply {
        let reply: EnclaveReply
        let descriptors: [Descriptor]
    }

    let address: ServerAddress
    /// The caller's own connection, and who the kernel says is at its other end.
    let socket: Descriptor
    let peer: Peer
    private var line: Channel?
    /// Who the caller is, where that was asked. It does not change for as long as the connection lasts.
    private(set) var identity: CallerIdentity?

    init(address: ServerAddress, socket: Descriptor, peer: Peer) {
        self.address = address
        self.socket = socket
        self.peer = peer
    }

    /// Finds out who the caller is. To be asked before the caller is sent a word.
    mutating func identify() throws {
        guard case .identity(let found) = try ask(.identify, watching: nil).reply else { throw Refusal(.internalFault) }
        identity = found
    }

    /// Sends the request and gives its first reply. A line that broke before that is opened anew once: the enclave has
    /// restarted meanwhile, and a request that it did carry out before is refused the second time by its used challenge.
    mutating func ask(_ request: EnclaveRequest, watching: Descriptor?) throws -> Reply {
        let header = try request.encoded()
        do {
            return try firstReply(header, watching)
        } catch  where Self.isBreak(error) {
            close()
            return try firstReply(header, watching)
        }
    }

    private static func isBreak(_ error: any Error) -> Bool {
        switch error {
        case ChannelFault.closed, ChannelFault.system, HandshakeFault.channel(.closed), HandshakeFault.channel(.system): true
        default: false
        }
    }

    private mutating func firstReply(_ header: [UInt8], _ watching: Descriptor?) throws -> Reply {
        let line = try self.line ?? open()
        self.line = line
        try line.send(header: header)
        return try next(.machine, watching: watching)
    }

    /// Waits for a further reply to the same request.
    func next(_ patience: Patience, watching: Descriptor?) throws -> Reply {
        guard let line else { throw ChannelFault.closed }
        let message = try line.receive(patience, watching: watching)
        guard message.secret == nil else { throw ChannelFault.malformed("the enclave's reply carries a secret") }
        let reply = Reply(reply: try EnclaveReply(derBytes: message.header), descriptors: message.descriptors)
        guard reply.descriptors.count == reply.reply.descriptorCount else {
            throw ChannelFault.malformed("the enclave's reply has a wrong number of descriptors")
        }
        return reply
    }

    private func open() throws -> Channel {
        guard let process = peer.process else { throw Refusal(.unavailable, "the caller's process is not known") }
        let line = try address.connect(role: EnclaveRole.authentication.rawValue)
        try line.send(header: EnclaveRequest.registerCaller.encoded(), descriptors: [socket, process])
        let message = try line.receive(.machine)
        switch try EnclaveReply(derBytes: message.header) {
        case .caller(person: peer.uid, pid: Int64(peer.pid)): break
        case .refused(let refusal): throw refusal
        default: throw Refusal(.internalFault)
        }
        if let identity {
            try line.send(header: EnclaveRequest.identify.encoded())
            guard case .identity(identity) = try EnclaveReply(derBytes: try line.receive(.machine).header) else {
                throw Refusal(.notAllowedHere, "the caller is another by now")
            }
        }
        return line
    }

    /// Ends the connection; a prompt that it waits for is cancelled by the enclave.
    mutating func close() {
        line?.shutDown()
        line = nil
    }
}

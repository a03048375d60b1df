// One caller's line to the enclave: made at the first need, made again once when it breaks. Used by the thread that
// serves the caller and by no other.

internal import EnclaveWire
internal import VaubanAccessPolicy
internal import VaubanDER
internal import VaubanLinuxHost
internal import VaubanSecretBytes

final class EnclaveConnection: EnclaveLine {
    private let address: ServerAddress
    /// The caller's own connection, and who the kernel says is at its other end.
    private let socket: Descriptor
    private let peer: Peer
    private let lent: LentKeys
    /// Tells the caller that its time no longer runs on the machine's clock.
    var onWaitingForPerson: (String) throws -> Void = { _ in }
    /// Tells the caller that its request waits for its turn at the enclave.
    var onQueued: () throws -> Void = {}
    /// What the caller's context was authorised by, for the request that is served now. The enclave knows whose it is.
    var authorisation: [UInt8]?
    private var channel: Channel?
    /// Who the caller is, where that was asked. It does not change for as long as the connection lasts.
    private var identity: CallerIdentity?
    /// Why the enclave serves nobody with the caller's number: what is kept under it is another's.
    private var registrationRefusal: Refusal?

    init(address: ServerAddress, socket: Descriptor, peer: Peer, lent: LentKeys) {
        self.address = address
        self.socket = socket
        self.peer = peer
        self.lent = lent
    }

    /// Who the caller is. To be asked before the caller is sent a word.
    func identify() throws -> CallerIdentity {
        guard case .identity(let found) = try ask(.identify).reply else { throw Self.notUnderstood }
        identity = found
        return found
    }

    /// Gives the caller's own connection to the enclave.
    func handOver() throws {
        guard case .done = try ask(.handOver, descriptors: [socket]).reply else { throw Self.notUnderstood }
    }

    // MARK: EnclaveLine

    /// Asks for a lease over a standing connection that is up, since a key that cannot be called back is not lent. The
    /// enclave may take a moment to see a standing connection that has just been made.
    func lease() throws -> LeasedKeys {
        for attempt in 1... {
            guard let standing = lent.standing(within: DoorLimits.machineTime) else { throw Self.silent }
            do {
                let answer = try ask(.lease)
                guard case .leased(let lease) = answer.reply else { throw Self.notUnderstood }
                return LeasedKeys(lease: lease, secrets: try answer.takeSecret(lease.keys.count * KeyLease.keyBytes), standing: standing)
            } catch let refusal as Refusal
                where refusal.reason == .unavailable && attempt < KeychainLimits.leaseAttemptsMax && channel != nil
            {
                Pause.milliseconds(KeychainLimits.reconnectMillisecondsMin)
            }
        }
        throw Self.silent
    }

    func seal(_ row: RowBinding, password: borrowing SecretBytes?) throws -> SealedItemKey {
        // A password takes its turn, and what nobody waits for any more is to leave the queue.
        let needsPassword = row.accessControl?.needsApplicationPassword == true
        let answer = try ask(.seal(row), password: password, watching: needsPassword ? socket : nil)
        guard case .sealed(let wrapped) = answer.reply else { throw Self.notUnderstood }
        return SealedItemKey(wrapped: wrapped, key: try answer.takeSecret(KeyLease.keyBytes))
    }

    func open(_ row: RowBinding, wrapped: [UInt8], reason: String?, mayAsk: Bool, password: borrowing SecretBytes?) throws -> SecretBytes {
        // Only where a person may be asked, or a password takes its turn, can the wait be long enough for the caller to end meanwhile.
        let mayWait = (mayAsk && row.accessControl != nil) || row.accessControl?.needsApplicationPassword == true
        let request = EnclaveRequest.open(row, wrapped: wrapped, reason: reason, mayAsk: mayAsk, authorisation: authorisation)
        let answer = try ask(request, password: password, watching: mayWait ? socket : nil)
        guard case .opened = answer.reply else { throw Self.notUnderstood }
        return try answer.takeSecret(KeyLease.keyBytes)
    }

    func rewrap(_ row: RowBinding, wrapped: [UInt8], generation: [UInt8]) throws -> [UInt8] {
        guard case .sealed(let wrapped) = try ask(.rewrap(row, wrapped: wrapped, generation: generation)).reply else {
            throw Self.notUnderstood
        }
        return wrapped
    }

    func retire(_ keys: [KeyName]) throws {
        guard case .done = try ask(.retire(keys)).reply else { throw Self.notUnderstood }
    }

    func consent(_ consent: Consent, reason: String?) throws -> ConsentChoice {
        guard case .consented(let choice) = try ask(.consent(consent, reason: reason), watching: socket).reply else { throw Self.notUnderstood }
        return choice
    }

    func fate(_ key: KeyName) throws -> KeyFate {
        guard case .fate(let fate) = try ask(.fate(key)).reply else { throw Self.notUnderstood }
        return fate
    }

    // MARK: One exchange

    /// Asks once more over a new connection if the first one breaks: the enclave may have restarted, and nothing that it
    /// is asked here is done twice by being asked twice. A person is not asked again, nor an enclave that is merely slow: what it was
    /// asked first may still wait for its turn.
    private func ask(
        _ request: EnclaveRequest, password: borrowing SecretBytes? = nil, watching: Descriptor? = nil, descriptors: [Descriptor] = []
    ) throws -> Answer {
        let header = try request.encoded()
        for attempt in 1...2 {
            var personWasAsked = false
            let answer: Answer
            do throws(ChannelFault) {
                let channel = try connected()
                if request.takesSecret { try Self.send(header, password, on: channel) } else { try channel.send(header: header, descriptors: descriptors) }
                answer = try self.answer(on: channel, watching, &personWasAsked)
            } catch .watchedEnded {
                hangUp()
                throw CallerGone()
            } catch .deadline {
                hangUp()
                throw Self.silent
            } catch {
                hangUp()
                if let registrationRefusal { throw registrationRefusal }
                if attempt == 2 || personWasAsked { throw Self.silent }
                continue
            }
            if case .refused(let refusal) = answer.reply { throw refusal }
            return answer
        }
        throw Self.silent
    }

    private static func send(_ header: [UInt8], _ password: borrowing SecretBytes?, on channel: Channel) throws(ChannelFault) {
        switch password {
        case .some(let password): try channel.send(header: header, secret: password)
        case .none: try channel.send(header: header)
        }
    }

    private func answer(on channel: Channel, _ watching: Descriptor?, _ personWasAsked: inout Bool) throws(ChannelFault) -> Answer {
        var patience = Patience.machine
        var watching = watching
        while true {
            let answer = try Answer(channel.receive(patience, watching: watching))
            if case .queued = answer.reply {
                // Whether the caller hears it is found out by watching its connection, as below.
                try? onQueued()
                watching = socket
                continue
            }
            guard case .waitingForPerson(let place) = answer.reply else { return answer }
            if !personWasAsked {
                personWasAsked = true
                // Whether the caller hears it is found out by watching its connection.
                try? onWaitingForPerson(place)
            }
            patience = .for_(DoorLimits.personTime + DoorLimits.machineTime)
            watching = socket
        }
    }

    /// The connection, with the caller registered on it: the enclave reads from the caller's own socket who that is.
    private func connected() throws(ChannelFault) -> Channel {
        if let channel { return channel }
        guard let process = peer.process else { throw .malformed("the caller's process is not held") }
        let made: Channel
        do throws(HandshakeFault) {
            made = try address.connect(role: EnclaveRole.keychain.rawValue)
        } catch {
            throw .malformed("the enclave's door does not open")
        }
        guard let header = try? EnclaveRequest.registerCaller.encoded() else { throw .malformed("a request cannot be written") }
        try made.send(header: header, descriptors: [socket, process])
        let answer = try Answer(made.receive(.machine))
        registrationRefusal = nil
        if case .refused(let refusal) = answer.reply {
            registrationRefusal = refusal
            throw .malformed("the enclave does not serve the caller")
        }
        guard case .caller(let person, let pid) = answer.reply, person == peer.uid, pid == Int64(peer.pid) else {
            throw .malformed("the enclave knows the caller by another name")
        }
        if let identity {
            guard let question = try? EnclaveRequest.identify.encoded() else { throw .malformed("a request cannot be written") }
            try made.send(header: question)
            guard case .identity(identity) = try Answer(made.receive(.machine)).reply else { throw .malformed("the caller is another by now") }
        }
        channel = made
        return made
    }

    /// Ends the connection, which takes a prompt of it off the screen.
    private func hangUp() {
        channel?.shutDown()
        channel = nil
    }

    private static var silent: Refusal { Refusal(.unavailable, "the enclave does not answer") }
    fileprivate static var notUnderstood: Refusal { Refusal(.internalFault, "the enclave's answer is not understood") }
}

/// A message of the enclave, read.
private final class Answer {
    let reply: EnclaveReply
    private var secret: SecretBytes?

    init(_ message: consuming Message) throws(ChannelFault) {
        guard let reply = try? EnclaveReply(derBytes: message.header), message.descriptors.isEmpty else {
            throw .malformed("the enclave's answer cannot be read")
        }
        self.reply = reply
        secret = message.takeSecret()
    }

    func takeSecret(_ count: Int) throws -> SecretBytes {
        guard let secret = secret.take(), secret.count == count else { throw EnclaveConnection.notUnderstood }
        return secret
    }
}

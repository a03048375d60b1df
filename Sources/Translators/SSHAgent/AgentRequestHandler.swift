// The requests of one connection and their replies.

internal import VaubanKeyWire
internal import VaubanKeychainClient
internal import VaubanLinuxHost
internal import VaubanRefusal
internal import VaubanSSHWire

/// `@unchecked Sendable`: the messages of a connection are served one at a time, in order.
final class AgentRequestHandler: @unchecked Sendable {
    let requester: Requester
    private let keys: AgentKeys
    private let hosts: HostNames
    let upstream: UpstreamAgent?
    private var bindings = SessionBindings()

    init(keys: AgentKeys, hosts: HostNames, requester: Requester, upstream: UpstreamAgent?) {
        self.upstream = upstream
        self.keys = keys
        self.hosts = hosts
        self.requester = requester
    }

    func answer(_ message: UnsafeRawBufferPointer, _ cancellation: CallCancellation) -> SSHAgentReply {
        func done(_ isDone: Bool) -> SSHAgentReply { isDone ? .success : .failure }
        guard let request = try? SSHAgentRequest(message) else { return .failure }
        switch request {
        case .unlock(let passphrase):
            // Also ends the answers that the user gave while the agent was locked.
            return done(endingHolds(keys.lock.unlock(passphrase)))
        case .bind(let binding):
            // The other agent applies its own destination constraints to the binding.
            _ = sendUpstream(message)
            return done(bindings.bind(binding))
        case .unsupported: return .failure
        case .list where keys.lock.isLocked: return .identities([])
        case _ where keys.lock.isLocked: return .failure
        case .list: return .identities(identities)
        case .sign(let signing): return sign(signing, message: message, cancellation: cancellation)
        case .add(let key): return done(add(key))
        case .remove(let blob):
            let wasAdded = keys.added.remove(blob)
            if wasAdded || keys.kept.hide(blob) { return .success }
            return offersUpstream(blob) ? sendUpstream(message) : .failure
        case .removeAll:
            keys.added.removeAll()
            keys.kept.hideAll()
            removeAllUpstream(message)
            return .success
        // The other agent would accept a key that this socket does not offer, or remove one that it does not name.
        case .foreignKey: return keys.filter.offersAll ? sendUpstream(message) : .failure
        case .lock(let passphrase): return done(endingHolds(keys.lock.lock(passphrase)))
        }
    }

    /// Ends the answers that hold if the lock state of the agent changed. Returns whether it changed.
    private func endingHolds(_ hasChanged: Bool) -> Bool {
        if hasChanged { keys.kept.endHolds() }
        return hasChanged
    }

    /// The identities to list. Added keys come first, as in ssh-agent, and a key that is also in the keychain is listed once.
    private var identities: [SSHIdentity] {
        var shown: Set<[UInt8]> = []
        let added = keys.added.all.filter { !$0.key.constraints.isBoundToDestinations || bindings.permit($0.key.constraints.destinations) }
            .map { SSHIdentity(blob: $0.blob, comment: $0.key.comment) }
        let kept = keys.kept.all.flatMap { entry in entry.blobs.map { SSHIdentity(blob: $0, comment: entry.name) } }
        // Clients reject a list that is too long, and would then see no key at all.
        var bytes = 5
        return (added + kept + upstreamIdentities).filter { identity in
            guard shown.insert(identity.blob).inserted else { return false }
            let count = identity.blob.count + identity.comment.utf8.count + 8
            guard bytes + count <= SSHWireLimits.frameBytesMax else { return false }
            bytes += count
            return true
        }
    }

    /// The keys of the other agent that this socket may offer.
    private var upstreamIdentities: [SSHIdentity] {
        let list: [UInt8] = [11]
        guard case .upstream(let answer) = list.withUnsafeBytes({ sendUpstream($0) }), let identities = try? [SSHIdentity](answer: answer)
        else {
            return []
        }
        return identities.filter { keys.filter.offers($0.comment, blob: $0.blob) }
    }

    /// Removes the keys of the other agent that this socket may offer.
    private func removeAllUpstream(_ message: UnsafeRawBufferPointer) {
        guard !keys.filter.offersAll else { return _ = sendUpstream(message) }
        for identity in upstreamIdentities {
            let removal = SSHWriter.of { writer in
                writer.byte(18)
                writer.string(identity.blob)
            }
            _ = removal.withUnsafeBytes { sendUpstream($0) }
        }
    }

    private func offersUpstream(_ blob: [UInt8]) -> Bool {
        upstream != nil && (keys.filter.offersAll || upstreamIdentities.contains { $0.blob == blob })
    }

    /// Sends a message to the other agent and returns its reply, or a failure if there is no such agent or it does not reply.
    private func sendUpstream(_ message: UnsafeRawBufferPointer, timeout: UInt64? = AgentLimits.upstreamTime) -> SSHAgentReply {
        upstream?.answer(to: message, timeout: timeout).map(SSHAgentReply.upstream) ?? .failure
    }

    private func add(_ key: SSHAddedKey) -> Bool {
        guard SoftwareKey.fits(key.fields, key.publicKey) else { return false }
        return keys.added.add(key)
    }

    private func sign(_ signing: SSHSigning, message: UnsafeRawBufferPointer, cancellation: CallCancellation) -> SSHAgentReply {
        let data = SSHSignedData(signing.data)
        var destination = SessionBindings.Destination.unproven
        if case .login(let login) = data {
            // The signed data must match the client's claim: a login with this key or a certificate of it, in this session.
            guard login.publicKey == signing.key || SSHPublicKey.isCertificate(login.publicKey, of: signing.key),
                let found = bindings.destination(of: login)
            else { return .failure }
            destination = found
        }
        do {
            if let entry = keys.added.all.first(where: { $0.blob == signing.key }) {
                return .signature(try sign(signing, with: entry, data: data, destination: destination, cancellation))
            }
            guard let entry = keys.kept.entry(signing.key) else {
                guard offersUpstream(signing.key) else { return .failure }
                let reply = sendUpstream(message, timeout: nil)
                return keys.lock.isLocked ? .failure : reply
            }
            let signature = try keys.kept.sign(signing.data, with: entry, flags: signing.flags, cancellation) { entry in
                KeyPrompting(
                    reason: reason(for: data, to: destination, key: entry.name).text, hold: hold(of: entry, for: signing.data, data))
            }
            guard !keys.lock.isLocked else { throw Refusal(.cancelled, "the agent was locked meanwhile") }
            return .signature(signature)
        } catch let refusal as Refusal {
            printToStandardError("no signature for \(requester.description): \(refusal.message)")
            return .failure
        } catch {
            return .failure
        }
    }

    private func sign(
        _ signing: SSHSigning, with entry: AddedKeys.Entry, data: SSHSignedData, destination: SessionBindings.Destination,
        _ cancellation: CallCancellation
    ) throws -> [UInt8] {
        let key = entry.key
        if key.constraints.isBoundToDestinations {
            guard case .login(let login) = data, bindings.permit(key.constraints.destinations, login) else {
                throw Refusal(.cancelled, "the key is bound to other destinations")
            }
        }
        if key.constraints.needsConfirmation {
            try keys.confirm(reason(for: data, to: destination, key: key.comment).text, cancellation)
            // The key may have been removed, or the agent locked, while the prompt waited.
            guard keys.added.has(entry), !keys.lock.isLocked else {
                throw Refusal(.cancelled, "the key expired or was removed, or the agent was locked, before the prompt was answered")
            }
        }
        return try SoftwareKey.signature(of: signing.data, with: key.fields, of: key.publicKey, flags: signing.flags)
    }

    /// Returns what the user's answer may hold for: only messages for a namespace, requested by a program on this machine. Each login needs
    /// its own answer. The enclave decides, from what the kernel reports about the program, and reads the namespace itself.
    private func hold(of entry: AgentKeyStore.Entry, for bytes: [UInt8], _ data: SSHSignedData) -> KeyHold? {
        guard case .message = data, bindings.isEmpty, let hold = keys.kept.hold(of: entry),
            let answer = AnswerHold(seconds: hold.seconds, message: bytes), let leader = requester.sessionLeader
        else { return nil }
        return KeyHold(answer, requester: requester.connection, sessionLeader: leader)
    }

    private func reason(for data: SSHSignedData, to destination: SessionBindings.Destination, key: String) -> PromptReason {
        let server: SSHPublicKey? = if case .host(let host) = destination { host } else { nil }
        return PromptReason(
            data: data, server: server, forwardedTo: bindings.forwardedTo, key: key, program: requester.description,
            name: { [hosts, keys] in hosts.name(of: $0.blob, places: { keys.kept.places }) })
    }
}

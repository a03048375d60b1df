// A typed client for private keys of the enclave, on connections of this process.

package import VaubanAccessPolicy
internal import VaubanDER
package import VaubanKeyWire
internal import VaubanKeychainWire
package import VaubanLinuxHost
package import VaubanRefusal
package import VaubanSecretBytes

/// How to prompt the user for a use of a private key.
package struct KeyPrompting {
    /// The reason in the prompt; nil for none.
    package var reason: String?
    package var mayPrompt: Bool
    /// The handle of the caller's authorized context.
    package var authorization: [UInt8]?
    /// If the user's answer may hold for further signatures.
    package var hold: KeyHold?

    package init(reason: String? = nil, mayPrompt: Bool = true, authorization: [UInt8]? = nil, hold: KeyHold? = nil) {
        self.reason = reason
        self.mayPrompt = mayPrompt
        self.authorization = authorization
        self.hold = hold
    }
}

/// The signatures for which the user's answer may hold, and the program that requests them from this process.
package struct KeyHold {
    let answer: AnswerHold
    let requester: Descriptor
    let sessionLeader: Descriptor

    /// `requester` is the requester's connection to this process; `sessionLeader` is the process that leads its session.
    package init(_ answer: AnswerHold, requester: Descriptor, sessionLeader: Descriptor) {
        self.answer = answer
        self.requester = requester
        self.sessionLeader = sessionLeader
    }
}

/// The result of a use: a signature, or the shared secret.
package enum KeyOutcome: ~Copyable {
    case signature([UInt8])
    case shared(SecretBytes)
}

/// Uses keys over a small pool of connections, since one that waits for the user must not block other threads. A connection belongs to the
/// process that made it; a forked child makes its own.
package final class KeyClient: Sendable {
    package typealias Waiting = (String) -> Void
    private let service: Service
    private let serviceConnection: ServiceConnection
    private let idle = ProcessPool<KeyConnection>()

    /// With `startsService` false, a stopped service is not started.
    package init(service: Service, startsService: Bool = true) {
        self.service = service
        serviceConnection = ServiceConnection(service: service, address: service.keychainAddress, startsService: startsService)
    }

    /// Creates a key. The password, 1 to 1024 bytes, is the application password that the access control requires.
    package func make(_ kind: EnclaveKeyKind, _ control: AccessControl, password: borrowing SecretBytes? = nil) throws(Refusal)
        -> EnclaveKey
    {
        try withConnection(for: nil, nil) { (connection, _) throws(KeyConnectionError) in
            try connection.make(kind, control: control, password: password)
        }
    }

    /// Throws the refusal for a key that belongs to another enclave, was altered, or is locked now.
    package func check(_ key: EnclaveKey) throws(Refusal) {
        try withConnection(for: key, nil) { (connection, _) throws(KeyConnectionError) in try connection.open(key) }
    }

    package func use(
        _ key: EnclaveKey, for operation: KeyOperation, input: [UInt8], prompting: KeyPrompting = KeyPrompting(),
        password: borrowing SecretBytes? = nil,
        waiting: Waiting? = nil, cancellation: CallCancellation? = nil
    ) throws(Refusal) -> KeyOutcome {
        guard input.count <= KeyUse.inputBytesMax else { throw Refusal(.dataTooLarge, "A key takes at most \(KeyUse.inputBytesMax) bytes") }
        return try withConnection(for: key, cancellation) { (connection, wasPrompted) throws(KeyConnectionError) in
            try connection.use(key, for: operation, input: input, prompting: prompting, password: password) { place in
                wasPrompted.isTrue = true
                waiting?(place)
            }
        }
    }

    /// Runs a call on a pooled connection. The enclave may close an idle connection when there are many: then the call runs once more on a
    /// fresh one, unless the user was already prompted.
    private func withConnection<Value: ~Copyable>(
        for key: EnclaveKey?, _ cancellation: CallCancellation?, _ call: (KeyConnection, PromptedFlag) throws(KeyConnectionError) -> Value
    ) throws(Refusal) -> Value {
        let wasPrompted = PromptedFlag()
        for isLast in [false, true] {
            // Prefers a connection on which the key is already open.
            let kept = isLast ? nil : idle.take { connection in key.map(connection.hasOpen) ?? true }
            let connection: KeyConnection
            if let kept { connection = kept } else { connection = try fresh() }
            cancellation?.watch(connection.channel)
            do throws(KeyConnectionError) {
                let value = try call(connection, wasPrompted)
                idle.give(back: connection, cancellation)
                return value
            } catch {
                switch error {
                case .refused(let refusal):
                    if refusal.reason != .malformed { idle.give(back: connection, cancellation) }
                    throw refusal
                case .broken(let fault):
                    let mayRepeat = !isLast && !wasPrompted.isTrue && cancellation?.isCancelled != true
                    guard mayRepeat else { throw Refusal(unreachable: .channel(fault), what: "the enclave") }
                }
            }
        }
        throw Refusal(.unavailable, "The enclave does not answer")
    }

    /// Returns a new connection to the enclave, which keychaind accepted and handed over.
    private func fresh() throws(Refusal) -> KeyConnection {
        let handedOver: (channel: Channel, reply: KeychainReply)
        do throws(HandshakeError) { handedOver = try askToHandOver() } catch { throw Refusal(unreachable: error, what: "the keychain") }
        switch handedOver.reply {
        case .handedOver: break
        case .refused(let refusal): throw refusal
        default: throw Refusal(.unavailable, "The keychain does not hand its connection over; update Vauban")
        }
        do throws(SystemError) {
            return KeyConnection(try Channel(socket: handedOver.channel.socket, expecting: .user(uid: service.enclaveUID)))
        } catch {
            throw Refusal(unreachable: .system(error), what: "the enclave")
        }
    }

    private func askToHandOver() throws(HandshakeError) -> (Channel, KeychainReply) {
        let channel = try serviceConnection.fresh()
        do throws(ChannelError) {
            guard let header = try? KeychainRequest.handOver.encoded() else { throw .malformed("a request cannot be written") }
            try channel.send(header: header)
            guard let reply = try? KeychainReply(derBytes: try channel.receive(.after(ConnectionLimits.replyTime)).header) else {
                throw .malformed("the keychain's answer cannot be read")
            }
            return (channel, reply)
        } catch {
            throw .channel(error)
        }
    }
}

/// Whether the user was prompted during a call, which then is not repeated.
private final class PromptedFlag {
    var isTrue = false
}

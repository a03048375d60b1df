// Private keys of the enclave, typed: made, and used over lines of this process's own.

package import VaubanAccessPolicy
internal import VaubanDER
package import VaubanKeyWire
internal import VaubanKeychainWire
package import VaubanLinuxHost
package import VaubanRefusal
package import VaubanSecretBytes

/// How a private key is used.
package struct KeyPrompting {
    /// What the user is told; nil says nothing.
    package var reason: String?
    package var mayAsk: Bool
    /// What the caller's context was authorized by.
    package var authorization: [UInt8]?

    package init(reason: String? = nil, mayAsk: Bool = true, authorization: [UInt8]? = nil) {
        self.reason = reason
        self.mayAsk = mayAsk
        self.authorization = authorization
    }
}

/// What comes of a use: a signature, or what is shared with the other side.
package enum KeyOutcome: ~Copyable {
    case signature([UInt8])
    case shared(SecretBytes)
}

/// Uses keys over a small pool of lines, since one that waits for the user must not hold up another thread. A line belongs to the
/// process that made it; a forked child makes its own.
package final class KeyClient: Sendable {
    package typealias Waiting = (String) -> Void
    private let service: Service
    private let door: ServiceConnection
    private let idle = ProcessPool<KeyConnection>()

    /// `startsService` false leaves a service that does not run as it is.
    package init(service: Service, startsService: Bool = true) {
        self.service = service
        door = ServiceConnection(service: service, address: service.keychainAddress, startsService: startsService)
    }

    /// Makes a key. The password is the application's own, for an access control that needs one: 1 to 1024 bytes.
    package func make(_ kind: EnclaveKeyKind, _ control: AccessControl, password: borrowing SecretBytes? = nil) throws(Refusal)
        -> EnclaveKey
    {
        try onLine(for: nil, nil) { (line, _) throws(KeyConnectionError) in try line.make(kind, control, password) }
    }

    /// Refuses by name what is no key of this enclave, was altered, or is closed now.
    package func check(_ key: EnclaveKey) throws(Refusal) {
        try onLine(for: key, nil) { (line, _) throws(KeyConnectionError) in try line.open(key) }
    }

    package func use(
        _ key: EnclaveKey, _ operation: KeyOperation, _ input: [UInt8], _ asking: KeyPrompting = KeyPrompting(),
        password: borrowing SecretBytes? = nil,
        waiting: Waiting? = nil, cancellation: CallCancellation? = nil
    ) throws(Refusal) -> KeyOutcome {
        guard input.count <= KeyUse.inputBytesMax else { throw Refusal(.dataTooLarge, "a key takes at most \(KeyUse.inputBytesMax) bytes") }
        return try onLine(for: key, cancellation) { (line, wasAsked) throws(KeyConnectionError) in
            try line.use(key, operation, input, asking, password) { place in
                wasAsked.isTrue = true
                waiting?(place)
            }
        }
    }

    /// Runs a call on a line. One that is idle may be ended by the enclave where there are many: then it runs once more on a fresh one,
    /// unless the user was asked already.
    private func onLine<Value: ~Copyable>(
        for key: EnclaveKey?, _ cancellation: CallCancellation?, _ call: (KeyConnection, PromptedError) throws(KeyConnectionError) -> Value
    ) throws(Refusal) -> Value {
        let wasAsked = PromptedError()
        for isLast in [false, true] {
            // One on which the key is open, if there is one.
            let kept = isLast ? nil : idle.take { line in key.map(line.hasOpen) ?? true }
            let line: KeyConnection
            if let kept { line = kept } else { line = try fresh() }
            cancellation?.watch(line.channel)
            do throws(KeyConnectionError) {
                let value = try call(line, wasAsked)
                idle.give(back: line, cancellation)
                return value
            } catch {
                switch error {
                case .refused(let refusal):
                    if refusal.reason != .malformed { idle.give(back: line, cancellation) }
                    throw refusal
                case .broken(let fault):
                    let mayRepeat = !isLast && !wasAsked.isTrue && cancellation?.isCancelled != true
                    guard mayRepeat else { throw Refusal(unreachable: .channel(fault), what: "the enclave") }
                }
            }
        }
        throw Refusal(.unavailable, "the enclave does not answer")
    }

    /// A connection to keychaind, which lets the enclave go on with it.
    private func fresh() throws(Refusal) -> KeyConnection {
        let handedOver: (channel: Channel, reply: KeychainReply)
        do throws(HandshakeError) { handedOver = try askToHandOver() } catch { throw Refusal(unreachable: error, what: "the enclave") }
        switch handedOver.reply {
        case .handedOver: break
        case .refused(let refusal): throw refusal
        default: throw Refusal(.unavailable, "the keychain does not hand its connection on; update Vauban")
        }
        do throws(SystemError) {
            return KeyConnection(try Channel(socket: handedOver.channel.socket, expecting: .user(uid: service.enclaveUID)))
        } catch {
            throw Refusal(unreachable: .system(error), what: "the enclave")
        }
    }

    private func askToHandOver() throws(HandshakeError) -> (Channel, KeychainReply) {
        let channel = try door.fresh()
        do throws(ChannelError) {
            guard let header = try? KeychainRequest.handOver.encoded() else { throw .malformed("a request cannot be written") }
            try channel.send(header: header)
            guard let reply = try? KeychainReply(derBytes: try channel.receive(.machine).header) else {
                throw .malformed("the keychain's answer cannot be read")
            }
            return (channel, reply)
        } catch {
            throw .channel(error)
        }
    }
}

/// Whether the user was asked in a call: then it is not made again.
private final class PromptedError {
    var isTrue = false
}

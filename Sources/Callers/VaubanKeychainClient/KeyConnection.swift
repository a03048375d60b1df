// One connection to the enclave, and the keys that are open on it.

internal import VaubanAccessPolicy
internal import VaubanDER
internal import VaubanKeyWire
internal import VaubanLinuxHost
internal import VaubanRefusal
internal import VaubanSecretBytes

/// Why a call on a connection failed: the enclave refused it, or the connection broke.
enum KeyConnectionError: Error {
    /// The enclave refused; the connection remains usable.
    case refused(Refusal)
    case broken(ChannelError)
}

/// `@unchecked Sendable`: the pool gives a connection to one thread at a time.
final class KeyConnection: @unchecked Sendable {
    let channel: Channel
    /// The handles of open keys, most recently used last.
    private var handles: [(key: EnclaveKey, handle: Int64)] = []

    /// The most keys kept open on one connection; fewer than the enclave allows.
    private static let openMax = 32

    init(_ channel: Channel) { self.channel = channel }

    func hasOpen(_ key: EnclaveKey) -> Bool { handles.contains { $0.key == key } }

    func make(_ kind: EnclaveKeyKind, control: AccessControl, password: borrowing SecretBytes?) throws(KeyConnectionError) -> EnclaveKey {
        try send(.make(kind, control), password)
        guard case .made(let key) = try receive(nil).reply else { throw Self.unexpectedReply }
        return key
    }

    func open(_ key: EnclaveKey) throws(KeyConnectionError) { _ = try handle(of: key) }

    func use(
        _ key: EnclaveKey, for operation: KeyOperation, input: [UInt8], prompting: KeyPrompting, password: borrowing SecretBytes?,
        waiting: @escaping (String) -> Void
    ) throws(KeyConnectionError) -> KeyOutcome {
        let use = KeyUse(
            handle: try handle(of: key), operation: operation, input: input, mayPrompt: prompting.mayPrompt, reason: prompting.reason,
            authorization: prompting.authorization, hold: prompting.hold?.answer)
        try send(.use(use), password, descriptors: prompting.hold.map { [$0.requester, $0.sessionLeader] } ?? [])
        let answer = try receive(waiting)
        switch answer.reply {
        case .signed(let signature): return .signature(signature)
        case .shared:
            guard let secret = answer.takeSecret() else { throw Self.unexpectedReply }
            return .shared(secret)
        default: throw Self.unexpectedReply
        }
    }

    /// Returns the key's handle; opens the key if necessary, in place of the least recently used one.
    private func handle(of key: EnclaveKey) throws(KeyConnectionError) -> Int64 {
        if let last = handles.last, last.key == key { return last.handle }
        if let index = handles.firstIndex(where: { $0.key == key }) {
            let found = handles.remove(at: index)
            handles.append(found)
            return found.handle
        }
        if handles.count >= Self.openMax {
            try send(.close(handles.removeFirst().handle), nil)
            guard case .closed = try receive(nil).reply else { throw Self.unexpectedReply }
        }
        try send(.open(key), nil)
        guard case .opened(let handle) = try receive(nil).reply else { throw Self.unexpectedReply }
        handles.append((key, handle))
        return handle
    }

    // MARK: One exchange

    private func send(
        _ request: KeyRequest, _ secret: borrowing SecretBytes?, descriptors: [Descriptor] = []
    ) throws(KeyConnectionError) {
        guard let header = try? request.encoded() else { throw .refused(Refusal(.internalError, "the request cannot be encoded")) }
        do throws(ChannelError) {
            switch secret {
            case .some(let secret): try channel.send(header: header, secret: secret, descriptors: descriptors)
            case .none: try channel.send(header: header, descriptors: descriptors)
            }
        } catch {
            throw .broken(error)
        }
    }

    private func receive(_ waiting: ((String) -> Void)?) throws(KeyConnectionError) -> KeyAnswer {
        var wait = ReplyWait()
        while true {
            let answer: KeyAnswer
            do throws(ChannelError) { answer = try KeyAnswer(wait.message(on: channel)) } catch { throw .broken(error) }
            switch answer.reply {
            case .refused(let refusal): throw .refused(refusal)
            case .queued: continue
            case .waitingForUser(let place):
                wait.userIsPrompted()
                waiting?(place)
            default: return answer
            }
        }
    }

    private static var unexpectedReply: KeyConnectionError { .broken(.malformed("the enclave's answer is not understood")) }
}

/// A decoded message of the enclave.
private final class KeyAnswer {
    let reply: KeyReply
    private var secret: SecretBytes?

    init(_ message: consuming Message) throws(ChannelError) {
        guard let reply = try? KeyReply(derBytes: message.header), message.descriptors.isEmpty else {
            throw .malformed("the enclave's answer cannot be read")
        }
        self.reply = reply
        secret = message.takeSecret()
    }

    func takeSecret() -> SecretBytes? { secret.take() }
}

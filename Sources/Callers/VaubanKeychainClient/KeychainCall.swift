// One call: its request, its secret section, and every reply until the last.

internal import VaubanDER
internal import VaubanKeychainModel
internal import VaubanKeychainWire
internal import VaubanLinuxHost
internal import VaubanRefusal
internal import VaubanSecretBytes

extension KeychainClient {
    /// Not inlined: otherwise the Swift 6.3 optimizer fails on the two borrowed secrets of `update`.
    @inline(never)
    func call(
        _ request: KeychainRequest, secret: borrowing SecretBytes?, password: borrowing SecretBytes?, waiting: Waiting?,
        _ cancellation: CallCancellation? = nil
    ) throws(Refusal) -> Outcome {
        switch password {
        case .none: return try call(request, secret: secret, waiting: waiting, cancellation: cancellation)
        case .some(let password):
            let section: SecretBytes? = Self.joined(secret, password)
            return try call(request, secret: section, waiting: waiting, cancellation: cancellation)
        }
    }

    static func passwordBytes(_ password: borrowing SecretBytes?) throws(Refusal) -> Int? {
        let count: Int
        switch password {
        case .none: return nil
        case .some(let password): count = password.count
        }
        guard (1...KeychainRequest.passwordBytesMax).contains(count) else {
            throw Refusal(.badParameter, "An application password has 1 to \(KeychainRequest.passwordBytesMax) bytes")
        }
        return count
    }

    /// Returns the secret section: the value followed by the password.
    private static func joined(_ value: borrowing SecretBytes?, _ password: borrowing SecretBytes) -> SecretBytes {
        switch value {
        case .none: return password.duplicate()
        case .some(let value):
            return value.withUnsafeBytes { front in
                password.withUnsafeBytes { back in
                    SecretBytes(count: front.count + back.count) { target in
                        UnsafeMutableRawBufferPointer(rebasing: target[..<front.count]).copyMemory(from: front)
                        UnsafeMutableRawBufferPointer(rebasing: target[front.count...]).copyMemory(from: back)
                    }
                }
            }
        }
    }

    /// The replies to one request before `done`.
    struct Outcome {
        // These come in any number of messages.
        var found: [ReceivedItem] = []
        var permissions: [Permission] = []
        var deleted: [DeletedItem] = []
        var versions: [ItemVersion] = []
        var backup: [ReplyEntry<BackupReply>] = []
        var sync: [ReplyEntry<SyncReply>] = []
        /// The last reply of any other kind; the sender of the request checks that it is the expected kind.
        var reply: KeychainReply?
    }

    func call(
        _ request: KeychainRequest, secret: borrowing SecretBytes?, waiting: Waiting?, progress: ((DoctorReport) -> Void)? = nil,
        found: ((ReceivedItem) -> Void)? = nil, cancellation: CallCancellation? = nil
    ) throws(Refusal) -> Outcome {
        let header: [UInt8]
        do { header = try request.encoded() } catch { throw Refusal(.internalError, "the request cannot be encoded") }
        let outcome: Result<Outcome, Refusal>
        do throws(HandshakeError) {
            outcome = try answer(
                to: header, secret: secret, waiting: waiting, progress: progress, found: found, cancellation: cancellation)
        } catch {
            throw Refusal(unreachable: error, what: "the keychain")
        }
        return try outcome.get()
    }

    private func answer(
        to header: [UInt8], secret: borrowing SecretBytes?, waiting: Waiting?, progress: ((DoctorReport) -> Void)?,
        found: ((ReceivedItem) -> Void)?, cancellation: CallCancellation?
    ) throws(HandshakeError) -> Result<Outcome, Refusal> {
        let channel = try connection.send(header, secret) { cancellation?.watch($0) }
        let outcome: Result<Outcome, Refusal>
        do throws(ChannelError) {
            outcome = try replies(on: channel, waiting: waiting, progress: progress, found: found)
        } catch { throw .channel(error) }
        give(back: channel, after: outcome, cancellation)
        return outcome
    }

    /// Keeps the connection for the next call, unless the keychain ends it after the outcome.
    func give(back channel: Channel, after outcome: Result<Outcome, Refusal>, _ cancellation: CallCancellation?) {
        if case .failure(let refusal) = outcome, refusal.reason == .malformed { return }
        connection.give(back: channel, cancellation)
    }

    /// Returns the reply to one request.
    func replies(
        on channel: Channel, waiting: Waiting?, progress: ((DoctorReport) -> Void)?, found: ((ReceivedItem) -> Void)?
    ) throws(ChannelError) -> Result<Outcome, Refusal> {
        var outcome = Outcome()
        let rest = ReplyWait(.after(ConnectionLimits.replyTime))
        var wait = progress == nil ? rest : ReplyWait(.after(ConnectionLimits.userTimeout))
        while true {
            var message = try wait.message(on: channel)
            let reply: KeychainReply
            do { reply = try KeychainReply(derBytes: message.header) } catch { throw .malformed("\(error)") }
            switch reply {
            case .refused(let refusal): return .failure(refusal)
            case .done: return .success(outcome)
            case .permissions(let permissions): outcome.permissions += permissions
            case .deleted(let item): outcome.deleted.append(item)
            case .version(let version): outcome.versions.append(version)
            case .examined(let report):
                outcome.reply = reply
                progress?(report)
            case .rewrapped, .restorable, .keepsHistory, .cleared, .ownRights, .accessLog, .lastUses, .logHead, .canaryAlerts:
                outcome.reply = reply
            case .sync(let reply):
                wait = rest
                outcome.sync.append(ReplyEntry(reply, secret: message.takeSecret()))
            case .backup(let reply): outcome.backup.append(ReplyEntry(reply, secret: message.takeSecret()))
            case .handedOver: throw .malformed("the keychain handed over a connection without a request")
            case .queued: continue
            case .waitingForUser(let place):
                wait.userIsPrompted()
                waiting?(place)
            case .items(let items):
                wait = rest
                for item in items {
                    let secret = item.hasData ? message.takeSecret() ?? SecretBytes(count: 0) { _ in } : nil
                    let entry = ReceivedItem(item, secret: secret)
                    if let found { found(entry) } else { outcome.found.append(entry) }
                }
            }
        }
    }
}

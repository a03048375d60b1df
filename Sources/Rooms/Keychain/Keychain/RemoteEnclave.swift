// The connection to the enclave on behalf of one caller. Only the thread that serves the caller uses it.

internal import EnclaveConnection
internal import EnclaveWire
internal import VaubanAccessPolicy
internal import VaubanLinuxHost
internal import VaubanLogHead
internal import VaubanRefusal
internal import VaubanSecretBytes
internal import VaubanSyncModel
internal import VaubanUserModel

final class RemoteEnclave: EnclaveOperations {
    private let client: EnclaveClient
    /// The caller's own connection.
    private let socket: Descriptor
    private let leasedKeys: LeasedKeyStore
    /// Notifies the caller that the request now waits for the user.
    var onWaitingForUser: (String) throws -> Void = { _ in }
    /// Notifies the caller that the request is queued in the enclave.
    var onQueued: () throws -> Void = {}
    /// The name that was last sent. A name is sent once per connection, since the enclave discards it when the connection ends.
    private var lastNaming: Naming?
    /// The authorization of the caller's context for the current request. The enclave verifies that it belongs to the caller.
    var authorization: [UInt8]?

    private struct Naming: Equatable {
        let connection: Int
        let team: TeamIdentifier
        let name: String?
    }

    init(address: ServerAddress, socket: Descriptor, peer: Peer, accounts: Accounts?, leasedKeys: LeasedKeyStore) {
        client = EnclaveClient(address: address, role: .keychain, socket: socket, peer: peer, accounts: accounts)
        self.socket = socket
        self.leasedKeys = leasedKeys
    }

    /// Returns the identity of the caller. Must be called before anything is sent to the caller. Throws a refusal that the caller may
    /// receive although it is not known who it is, and otherwise an `EnclaveError`.
    func identify() throws -> CallerIdentity {
        do throws(EnclaveError) { return try client.identify() } catch {
            throw error.isReportedToUnidentifiedCallers ? Self.outward(error) : error
        }
    }

    /// Passes the caller's connection to the enclave.
    func handOver() throws {
        guard case .done = try send(.handOver, descriptors: [socket]).reply else { throw Self.unexpectedReply }
    }

    // MARK: EnclaveOperations

    /// Requests a lease while a standing connection is up, since the enclave leases only keys that it can recall. The enclave may take a
    /// moment to notice a new standing connection.
    func lease() throws -> ReceivedLease {
        for attempt in 1... {
            let standing = try standing()
            do {
                let answer = try send(.lease)
                guard case .leased(let lease) = answer.reply else { throw Self.unexpectedReply }
                return ReceivedLease(
                    lease: lease, secrets: try secret(of: answer, lease.keys.count * KeyLease.keyBytes), standing: standing)
            } catch let refusal as Refusal
                where refusal.reason == .unavailable && attempt < KeychainLimits.leaseAttemptsMax && client.isConnected
            {
                Pause.milliseconds(KeychainLimits.leasePauseMilliseconds)
            }
        }
        throw Self.silent
    }

    /// Returns the standing connection. While there is none, tells the caller that the request goes on.
    private func standing() throws -> ConnectionNumber {
        let deadline = MachineClock.monotonic + ConnectionLimits.machineTime
        while true {
            if let standing = leasedKeys.standing(within: KeychainLimits.silenceMax) { return standing }
            guard MachineClock.monotonic < deadline else { throw Self.silent }
            try onQueued()
        }
    }

    func seal(_ row: RowBinding, password: borrowing SecretBytes?) throws -> ItemKeyReply {
        // A derivation from the password is queued. If the caller hangs up, the request must leave the queue.
        let needsPassword = row.accessControl?.needsApplicationPassword == true
        let answer = try send(.seal(row), password: password, watchesCaller: needsPassword)
        guard case .sealed(let wrapped) = answer.reply else { throw Self.unexpectedReply }
        return ItemKeyReply(wrapped: wrapped, key: try secret(of: answer, KeyLease.keyBytes))
    }

    func open(_ row: RowBinding, wrapped: [UInt8], reason: String?, mayPrompt: Bool, password: borrowing SecretBytes?) throws -> SecretBytes
    {
        // Only a prompt or a queued password can take so long that the caller hangs up meanwhile.
        let mayWait = (mayPrompt && row.accessControl != nil) || row.accessControl?.needsApplicationPassword == true
        let request = EnclaveRequest.open(row, wrapped: wrapped, reason: reason, mayPrompt: mayPrompt, authorization: authorization)
        let answer = try send(request, password: password, watchesCaller: mayWait)
        guard case .opened = answer.reply else { throw Self.unexpectedReply }
        return try secret(of: answer, KeyLease.keyBytes)
    }

    func rewrap(_ row: RowBinding, wrapped: [UInt8], generation: [UInt8]) throws -> [UInt8] {
        guard case .sealed(let wrapped) = try send(.rewrap(row, wrapped: wrapped, generation: generation)).reply else {
            throw Self.unexpectedReply
        }
        return wrapped
    }

    func retire(_ keys: [KeyName]) throws {
        guard case .done = try send(.retire(keys)).reply else { throw Self.unexpectedReply }
    }

    func openBackup(
        _ keybag: [UInt8]?, _ use: BackupUse, recipient: [UInt8]?, secret: borrowing SecretBytes?, isRestoreKey: Bool
    ) throws -> OpenedBackup {
        let request = EnclaveRequest.openBackup(keybag: keybag, use, recipient: recipient, secretIsRestoreKey: isRestoreKey)
        let answer = try send(request, password: secret, watchesCaller: true)
        guard case .backup(let keybag) = answer.reply else { throw Self.unexpectedReply }
        return OpenedBackup(keybag: keybag, frameKey: try self.secret(of: answer, KeyLease.keyBytes))
    }

    func backUp(_ row: RowBinding, wrapped: [UInt8]) throws -> ItemKeyReply {
        let answer = try send(.backUp(row, wrapped: wrapped))
        guard case .sealed(let wrapped) = answer.reply else { throw Self.unexpectedReply }
        return ItemKeyReply(wrapped: wrapped, key: try secret(of: answer, KeyLease.keyBytes))
    }

    func circle(_ request: CircleRequest, secret: borrowing SecretBytes?) throws -> CircleResult {
        let answer = try send(.circle(request), password: secret, watchesCaller: request.mayWaitForUser)
        guard case .circle(let reply) = answer.reply else { throw Self.unexpectedReply }
        switch request {
        case .open: return CircleResult(reply, keys: try self.secret(of: answer, Int(reply.view.epoch + 1) * KeyLease.keyBytes))
        case .companionFiles: return CircleResult(reply, keys: try self.secret(of: answer, Int(reply.view.epoch) * KeyLease.keyBytes))
        case .makeToken: return CircleResult(reply, keys: try self.secret(of: answer, JoinToken.seedBytes))
        case .makeRecoveryKey: return CircleResult(reply, keys: try self.secret(of: answer, CircleRequest.recoveryKeyBytes))
        default: return CircleResult(reply, keys: nil)
        }
    }

    func sealForCompanion(_ row: RowBinding, wrapped: [UInt8], device: [UInt8], name: [UInt8]) throws -> ItemKeyReply {
        let answer = try send(.sealForCompanion(row, wrapped: wrapped, device: device, name: name))
        guard case .sealed(let wrapped) = answer.reply else { throw Self.unexpectedReply }
        return ItemKeyReply(wrapped: wrapped, key: try secret(of: answer, KeyLease.keyBytes))
    }

    func sealForCircle(_ row: RowBinding, wrapped: [UInt8]) throws -> ItemKeyReply {
        let answer = try send(.sealForCircle(row, wrapped: wrapped))
        guard case .sealed(let wrapped) = answer.reply else { throw Self.unexpectedReply }
        return ItemKeyReply(wrapped: wrapped, key: try secret(of: answer, KeyLease.keyBytes))
    }

    func circleItemKeys(_ row: RowBinding, wrapped: [UInt8], epoch: Int64) throws -> RestoredKeys {
        try restoredKeys(of: try send(.circleItemKeys(row, wrapped: wrapped, epoch: epoch)))
    }

    func circleNames() throws -> SecretBytes? {
        let answer = try send(.circleNames)
        switch answer.reply {
        case .done: return nil
        case .opened: return try secret(of: answer, KeyLease.keyBytes)
        default: throw Self.unexpectedReply
        }
    }

    func makeSeriesKey() throws -> SeriesKeyReply {
        let answer = try send(.makeSeriesKey)
        guard case .seriesKey(let sealed, let end) = answer.reply else { throw Self.unexpectedReply }
        return SeriesKeyReply(key: try secret(of: answer, KeyLease.keyBytes), sealed: sealed, end: end)
    }

    func anchorLog(_ links: [AccessLogLink]) throws -> AccessLogAnchor {
        guard case .logEnd(let known) = try send(.anchorLog(links)).reply else { throw Self.unexpectedReply }
        return known
    }

    func signLogHead(_ request: LogHeadRequest) throws -> SignedLogHead {
        guard case .logHead(let head) = try send(.signLogHead(request)).reply else { throw Self.unexpectedReply }
        return head
    }

    func nameTeam(_ team: TeamIdentifier, _ name: String?) throws {
        let naming = Naming(connection: client.connections, team: team, name: name)
        guard !client.isConnected || naming != lastNaming else { return }
        guard case .done = try send(.nameTeam(team, name: name)).reply else { throw Self.unexpectedReply }
        lastNaming = Naming(connection: client.connections, team: team, name: name)
    }

    func openSeriesKey(_ sealed: [UInt8]) throws -> SecretBytes {
        let answer = try send(.openSeriesKey(sealed))
        guard case .opened = answer.reply else { throw Self.unexpectedReply }
        return try secret(of: answer, KeyLease.keyBytes)
    }

    func restoreKeys(_ row: RowBinding, wrapped: [UInt8]) throws -> RestoredKeys {
        try restoredKeys(of: try send(.restoreKeys(row, wrapped: wrapped)))
    }

    private func restoredKeys(of answer: EnclaveReplyMessage) throws -> RestoredKeys {
        guard case .restoreKeys(let isOfOtherDevice) = answer.reply else { throw Self.unexpectedReply }
        let count = KeyLease.keyBytes
        if isOfOtherDevice { return RestoredKeys(attributes: try secret(of: answer, count), item: nil) }
        let both = try secret(of: answer, 2 * count)
        return RestoredKeys(attributes: both.part(0..<count), item: both.part(count..<2 * count))
    }

    func consent(_ consent: Consent, reason: String?) throws -> ConsentChoice {
        guard case .consented(let choice) = try send(.consent(consent, reason: reason), watchesCaller: true).reply else {
            throw Self.unexpectedReply
        }
        return choice
    }

    func keyStatus(of key: KeyName) throws -> KeyStatus {
        guard case .keyStatus(let status) = try send(.keyStatus(key)).reply else { throw Self.unexpectedReply }
        return status
    }

    // MARK: One exchange

    /// Sends a request and returns the enclave's reply. Throws refusals.
    private func send(
        _ request: EnclaveRequest, password: borrowing SecretBytes? = nil, watchesCaller: Bool = false, descriptors: [Descriptor] = []
    ) throws -> EnclaveReplyMessage {
        let answer: EnclaveReplyMessage
        var callerKnowsPlace = false
        let onProgress = { [onWaitingForUser, onQueued] (progress: EnclaveClient.Progress) in
            switch progress {
            case .waitingForUser(let place):
                if !callerKnowsPlace { try? onWaitingForUser(place) }
                callerKnowsPlace = true
            case .queued: try? onQueued()
            }
        }
        do throws(EnclaveError) {
            if request.takesSecret {
                answer = try client.send(
                    request, secret: password, descriptors: descriptors, watchesCaller: watchesCaller, onProgress: onProgress)
            } else {
                answer = try client.send(request, descriptors: descriptors, watchesCaller: watchesCaller, onProgress: onProgress)
            }
        } catch {
            throw Self.outward(error)
        }
        if case .refused(let refusal) = answer.reply { throw refusal }
        return answer
    }

    private func secret(of answer: EnclaveReplyMessage, _ count: Int) throws -> SecretBytes {
        do { return try answer.takeSecret(count) } catch { throw Self.outward(error) }
    }

    private static func outward(_ fault: EnclaveError) -> any Error {
        switch fault {
        case .callerGone: CallerHungUp()
        case .refused(let refusal): refusal
        case .late, .unreachable: silent
        case .unexpectedReply: unexpectedReply
        }
    }

    private static var silent: Refusal { Refusal(.unavailable, "The enclave does not answer") }
    private static var unexpectedReply: Refusal { Refusal(.internalError, "the enclave's answer is not understood") }
}

// A typed client of the keychain socket: one method for each request.

internal import VaubanDER
package import VaubanKeychainModel
package import VaubanKeychainWire
package import VaubanLinuxHost
package import VaubanRefusal
package import VaubanSecretBytes

/// One match. Its value, if requested, can be taken once.
package final class FoundEntry {
    package let record: ItemRecord?
    /// The item's identifier, 16 bytes, if a reference was requested.
    package let reference: [UInt8]?
    /// The certificate of an identity, in DER, if its value was requested.
    package let certificate: [UInt8]?
    private var secret: SecretBytes?

    init(_ item: FoundItem, secret: consuming SecretBytes?) {
        record = item.record
        reference = item.reference
        certificate = item.certificate
        self.secret = secret
    }

    /// Returns the value once; nil if the item has none, it was not requested, or it was taken before.
    package func takeSecret() -> SecretBytes? { secret.take() }
}

/// A connection pool to keychaind. `waiting` is called on the caller's thread when the user is prompted, with the place of the prompt; from
/// then on the user's timeout applies to the call.
package final class KeychainClient: Sendable {
    package typealias Waiting = (String) -> Void
    private let connection: ServiceConnection

    /// With `startsService` false, a stopped service is not started.
    package init(service: Service, startsService: Bool = true) {
        connection = ServiceConnection(service: service, address: service.keychainAddress, startsService: startsService)
    }

    /// Adds an item; returns it if `returns` requests something. The password, 1 to 1024 bytes, is the application password that the access
    /// control requires. `applications` may read the item in addition to its owner.
    package func add(
        _ record: ItemRecord, secret: borrowing SecretBytes?, password: borrowing SecretBytes? = nil, returns: ReturnKinds = [],
        applications: [String] = [], waiting: Waiting? = nil, cancellation: CallCancellation? = nil
    ) throws(Refusal) -> FoundEntry? {
        let count = try Self.passwordBytes(password)
        let request = KeychainRequest.add(
            record, returns: returns, hasData: secret != nil, passwordBytes: count, applications: applications)
        return try call(request, secret: secret, password: password, waiting: waiting, cancellation).found.first
    }

    /// Returns the matches in no particular order; throws `itemNotFound` if there are none.
    package func copyMatching(
        _ query: ItemQuery, password: borrowing SecretBytes? = nil, waiting: Waiting? = nil, cancellation: CallCancellation? = nil
    ) throws(Refusal) -> [FoundEntry] {
        let request = KeychainRequest.copyMatching(query, passwordBytes: try Self.passwordBytes(password))
        return try call(request, secret: nil, password: password, waiting: waiting, cancellation).found
    }

    /// Calls `body` with each match as it arrives, so that many need no room together; throws `itemNotFound` if there are none. What
    /// arrived before an error is void.
    package func forEachMatch(
        of query: ItemQuery, cancellation: CallCancellation? = nil, _ body: @escaping (FoundEntry) -> Void
    ) throws(Refusal) {
        _ = try call(
            .copyMatching(query, passwordBytes: nil), secret: nil, waiting: nil, found: body, cancellation: cancellation)
    }

    /// Sends several searches in one write, and calls `body` with what each finds, or its refusal, in their order and as it arrives. The
    /// keychain serves one after the other, as if they had been sent so. Throws if the connection ends before the last outcome.
    package func copyMatching(
        each queries: [ItemQuery], waiting: Waiting? = nil, cancellation: CallCancellation? = nil,
        _ body: (Result<[FoundEntry], Refusal>) -> Void
    ) throws(Refusal) {
        let headers: [[UInt8]]
        do { headers = try queries.map { try KeychainRequest.copyMatching($0, passwordBytes: nil).encoded() } } catch {
            throw Refusal(.internalError, "the request cannot be encoded")
        }
        guard !headers.isEmpty else { return }
        do throws(HandshakeError) {
            let channel = try connection.send(each: headers) { cancellation?.watch($0) }
            var outcome: Result<Outcome, Refusal>
            do throws(ChannelError) {
                var left = headers.count
                repeat {
                    outcome = try replies(on: channel, waiting: waiting, progress: nil, found: nil)
                    body(outcome.map(\.found))
                    left -= 1
                } while left > 0
            } catch { throw .channel(error) }
            give(back: channel, after: outcome, cancellation)
        } catch {
            throw Refusal(unreachable: error, what: "the keychain")
        }
    }

    /// Changes every match; `changes.hasData` says whether `secret` replaces the value.
    package func update(
        _ query: ItemQuery, _ changes: ItemChanges, secret: borrowing SecretBytes?, password: borrowing SecretBytes? = nil,
        waiting: Waiting? = nil, cancellation: CallCancellation? = nil
    ) throws(Refusal) {
        var changes = changes
        changes.hasData = secret != nil
        let request = KeychainRequest.update(query, changes, passwordBytes: try Self.passwordBytes(password))
        _ = try call(request, secret: secret, password: password, waiting: waiting, cancellation)
    }

    /// Removes every match. A password can be restored for a while, unless `atOnce` is true.
    package func delete(_ query: ItemQuery, atOnce: Bool = false, waiting: Waiting? = nil) throws(Refusal) {
        _ = try call(.delete(query, atOnce: atOnce), secret: nil, waiting: waiting)
    }

    /// Removes every match, of which there may be none.
    package func deleteIfPresent(_ query: ItemQuery) throws(Refusal) {
        do throws(Refusal) { try delete(query) } catch { guard error.reason == .itemNotFound else { throw error } }
    }

    /// Moves a batch of rows to the current keys of their classes; call again while some are left.
    package func rewrap(waiting: Waiting? = nil) throws(Refusal) -> RewrapProgress {
        guard let progress = try call(.rewrap, secret: nil, waiting: waiting).progress else {
            throw Refusal(.internalError, "the keychain reported no progress")
        }
        return progress
    }

    /// Removes items that no key can open.
    package func discard(waiting: Waiting? = nil) throws(Refusal) {
        _ = try call(.discard, secret: nil, waiting: waiting)
    }

    /// Saves, deletes or picks a password of a website of this program's. A picked one is returned with its server, account and port.
    package func sharedPassword(
        _ request: SharedPasswordRequest, password: borrowing SecretBytes?, waiting: Waiting? = nil
    ) throws(Refusal) -> FoundEntry? {
        try call(.sharedPassword(request), secret: password, waiting: waiting).found.first
    }

    /// Returns this program's name in the keychain and its access groups.
    package func ownRights() throws(Refusal) -> ProgramRights {
        guard let rights = try call(.ownRights, secret: nil, waiting: nil).rights else {
            throw Refusal(.internalError, "the keychain did not identify this program")
        }
        return rights
    }

    /// Returns the permissions that the user has granted to programs.
    package func permissions(waiting: Waiting? = nil) throws(Refusal) -> [Permission] {
        try call(.permissions, secret: nil, waiting: waiting).permissions
    }

    /// Grants or revokes a permission. Granting prompts the user.
    package func permit(_ change: PermissionChange, waiting: Waiting? = nil) throws(Refusal) {
        _ = try call(.permit(change), secret: nil, waiting: waiting)
    }

    /// Assigns a batch of items without an owner to an owner; call again while some are left.
    package func move(to owner: String, waiting: Waiting? = nil) throws(Refusal) -> RewrapProgress {
        guard let progress = try call(.move(to: owner), secret: nil, waiting: waiting).progress else {
            throw Refusal(.internalError, "the keychain reported no progress")
        }
        return progress
    }

    /// Moves, renames or copies the one matching item, with these attributes replaced. The value does not leave keychaind.
    package func transfer(
        _ query: ItemQuery, _ attributes: ItemAttributes, keepsOriginal: Bool, waiting: Waiting? = nil
    ) throws(Refusal) {
        _ = try call(.transfer(query, attributes, keepsOriginal: keepsOriginal), secret: nil, waiting: waiting)
    }

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
            throw Refusal(.badParameter, "an application's password has 1 to \(KeychainRequest.passwordBytesMax) bytes")
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

    /// The reply to one request.
    struct Outcome {
        var found: [FoundEntry] = []
        var progress: RewrapProgress?
        var permissions: [Permission] = []
        var report: DoctorReport?
        var copy: RestorableCopy?
        var versions: [ItemVersion] = []
        var deleted: [DeletedItem] = []
        var keepsHistory: Bool?
        var cleared: Int?
        var accessLog: AccessLogPage?
        var lastUses: LastUses?
        var logHead: LogHeadReply?
        var canaryAlerts: CanaryAlerts?
        var rights: ProgramRights?
        var backup: [ReplyEntry<BackupReply>] = []
        var sync: [ReplyEntry<SyncReply>] = []
    }

    /// Examines every row and the database file. Calls `progress` as it proceeds. A large file takes long, so the user's timeout applies.
    package func examine(progress: @escaping (DoctorReport) -> Void = { _ in }) throws(Refusal) -> DoctorReport {
        guard let report = try call(.examine, secret: nil, waiting: nil, progress: progress).report else {
            throw Refusal(.internalError, "the keychain reported no findings")
        }
        return report
    }

    /// Returns the verified copy that can replace a damaged database; throws if the database is intact or there is no copy.
    package func restorableCopy() throws(Refusal) -> RestorableCopy {
        guard let copy = try call(.restore(copyOf: nil), secret: nil, waiting: nil, progress: { _ in }).copy else {
            throw Refusal(.internalError, "the keychain did not describe its copy")
        }
        return copy
    }

    /// Replaces the database with that copy.
    package func restore(_ copy: RestorableCopy, waiting: Waiting? = nil) throws(Refusal) {
        _ = try call(.restore(copyOf: copy.date), secret: nil, waiting: waiting, progress: { _ in })
    }

    func call(
        _ request: KeychainRequest, secret: borrowing SecretBytes?, waiting: Waiting?, progress: ((DoctorReport) -> Void)? = nil,
        found: ((FoundEntry) -> Void)? = nil, cancellation: CallCancellation? = nil
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
        found: ((FoundEntry) -> Void)?, cancellation: CallCancellation?
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
    private func give(back channel: Channel, after outcome: Result<Outcome, Refusal>, _ cancellation: CallCancellation?) {
        if case .failure(let refusal) = outcome, refusal.reason == .malformed { return }
        connection.give(back: channel, cancellation)
    }

    /// Returns the reply to one request.
    private func replies(
        on channel: Channel, waiting: Waiting?, progress: ((DoctorReport) -> Void)?, found: ((FoundEntry) -> Void)?
    ) throws(ChannelError) -> Result<Outcome, Refusal> {
        var outcome = Outcome()
        var timeout = progress == nil ? Timeout.machine : .after(ConnectionLimits.userTimeout)
        while true {
            var message = try channel.receive(timeout)
            let reply: KeychainReply
            do { reply = try KeychainReply(derBytes: message.header) } catch { throw .malformed("\(error)") }
            switch reply {
            case .refused(let refusal): return .failure(refusal)
            case .done: return .success(outcome)
            case .rewrapped(let progress): outcome.progress = progress
            case .permissions(let permissions): outcome.permissions += permissions
            case .examined(let report):
                outcome.report = report
                progress?(report)
            case .restorable(let copy): outcome.copy = copy
            case .versions(let versions): outcome.versions = versions
            case .deleted(let item): outcome.deleted.append(item)
            case .keepsHistory(let isOn): outcome.keepsHistory = isOn
            case .cleared(let count): outcome.cleared = count
            case .ownRights(let application, let groups): outcome.rights = ProgramRights(application: application, groups: groups)
            case .sync(let reply):
                timeout = .machine
                outcome.sync.append(ReplyEntry(reply, secret: message.takeSecret()))
            case .accessLog(let page): outcome.accessLog = page
            case .lastUses(let uses): outcome.lastUses = uses
            case .logHead(let reply): outcome.logHead = reply
            case .canaryAlerts(let alerts): outcome.canaryAlerts = alerts
            case .backup(let reply): outcome.backup.append(ReplyEntry(reply, secret: message.takeSecret()))
            case .handedOver: throw .malformed("the keychain handed over a connection without a request")
            case .queued: continue
            case .waitingForUser(let place):
                timeout = .after(ConnectionLimits.userTimeout + ConnectionLimits.machineTime)
                waiting?(place)
            case .items(let items):
                timeout = .machine
                for item in items {
                    let secret = item.hasData ? message.takeSecret() ?? SecretBytes(count: 0) { _ in } : nil
                    let entry = FoundEntry(item, secret: secret)
                    if let found { found(entry) } else { outcome.found.append(entry) }
                }
            }
        }
    }
}

/// The access of a program to the keychain without a prompt.
package struct ProgramRights: Hashable, Sendable {
    /// The program's identifier from the system; nil if it has none, and in user mode.
    package let application: String?
    /// The access groups in order: an item added without a group goes to the first.
    package let groups: [String]
}

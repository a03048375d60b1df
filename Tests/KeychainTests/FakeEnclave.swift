// An enclave without cryptography: it keeps what it has sealed and refuses what a real one would refuse.

import EnclaveWire
import Keychain
import Synchronization
import VaubanAccessPolicy
import VaubanLinuxHost
import VaubanLogHead
import VaubanRefusal
import VaubanSecretBytes
import VaubanSignedNote
import VaubanSyncModel
import VaubanUserModel

final class FakeEnclave: EnclaveOperations, Sendable {
    struct State {
        var lock: LockState = .unlocked
        var passcodeIsSet = true
        var epoch: Int64 = 1
        /// The keys of all generations, the current one of each purpose first.
        var keys: [(name: KeyLease.Key, bytes: [UInt8])] = []
        var sealed: [[UInt8]: (row: RowBinding, key: [UInt8], password: [UInt8]?)] = [:]
        /// Keys that were destroyed for good, as opposed to unknown ones.
        var destroyed: Set<KeyName> = []
        /// Whether rows that require the user are sealed to pairs of an earlier passcode, and none was entered lately.
        var passcodeIsLongAgo = false
        var timesRetired = 0
        /// Runs once between two steps of a request.
        var beforeRewrap: (@Sendable () throws -> Void)?
        var afterSeal: (@Sendable () throws -> Void)?
        var beforeOpen: (@Sendable () throws -> Void)?
        /// The refusal with which the user answers a prompt for evidence; nil if they authenticate.
        var userAnswers: Refusal?
        var promptCount = 0
        /// The application password that the user types when prompted; nil refuses.
        var typedPassword: [UInt8]?
        /// The user's answer to prompts for consent, and the prompts that they saw.
        var consentAnswers: Result<ConsentChoice, Refusal> = .failure(Refusal(.noPromptAgent))
        var consents: [Consent] = []
        /// The names of teams that prompts show.
        var teamNames: [TeamIdentifier: String] = [:]
        /// Runs once while the user is prompted.
        var whilePrompted: (@Sendable () throws -> Void)?
        var timesOpened = 0
        var timesLeased = 0
        var refusesOnce: Refusal?
        /// The first keys of series of the access log, by their sealed form, and the end that was reported last.
        var logKeys: [[UInt8]: [UInt8]] = [:]
        var logEnd = AccessLogEnd.empty
        var logBegan: Int64? = 0
        /// The refusal of the access log's keys.
        var logRefusal: Refusal?
    }

    let user: UInt32
    let state = Mutex(State())
    private let standing: ConnectionNumber

    init(user: UInt32, leasedKeys: LeasedKeyStore) throws {
        self.user = user
        standing = leasedKeys.standingConnectionBegan()
        for protection in ProtectionClass.allCases { try renew(.metadata(protection)) }
        try renew(.firstUnlockIndex)
        try renew(.deviceIndex)
    }

    /// Restores the enclave of another process from what it stored.
    init(
        user: UInt32, leasedKeys: LeasedKeyStore, keys: [(name: KeyLease.Key, bytes: [UInt8])],
        sealed: [[UInt8]: (row: RowBinding, key: [UInt8])]
    ) {
        self.user = user
        standing = leasedKeys.standingConnectionBegan()
        state.withLock { state in
            state.keys = keys
            state.sealed = sealed.mapValues { ($0.row, $0.key, nil) }
        }
    }

    /// Adds a new generation before the keys of a purpose.
    func renew(_ purpose: KeyLease.Purpose, forgettingOld: Bool = false, destroyingOld: Bool = false) throws {
        let key = (name: KeyLease.Key(purpose: purpose, generation: try Entropy.bytes(8)), bytes: try Entropy.bytes(32))
        state.withLock { state in
            if destroyingOld {
                for old in state.keys where old.name.purpose == purpose { state.destroyed.insert(old.name.asKeyName) }
            }
            if forgettingOld || destroyingOld { state.keys.removeAll { $0.name.purpose == purpose } }
            state.keys.insert(key, at: 0)
        }
    }

    func set(_ change: @Sendable (inout State) -> Void) { state.withLock { change(&$0) } }

    /// Locks as the real enclave does: the epoch ends, and the keys leased in it are recalled.
    func lock(_ leasedKeys: LeasedKeyStore, to lock: LockState = .locked) {
        let epoch = state.withLock { state in
            state.lock = lock
            state.epoch += 1
            return state.epoch - 1
        }
        leasedKeys.recall(LeaseRecall(user: user, epoch: epoch, everything: lock == .beforeFirstUnlock))
    }

    func lease() throws -> ReceivedLease {
        let (lease, bytes) = state.withLock { state in
            state.timesLeased += 1
            let open = state.keys.filter { Self.isOpen($0.name.purpose, state) }
            let lease = KeyLease(
                user: user, epoch: state.epoch, lock: state.lock, passcodeIsSet: state.passcodeIsSet, keys: open.map(\.name))
            return (lease, open.flatMap(\.bytes))
        }
        return ReceivedLease(lease: lease, secrets: SecretBytes(bytes), standing: standing)
    }

    func seal(_ row: RowBinding, password: borrowing SecretBytes?) throws -> ItemKeyReply {
        let password = Self.bytes(password)
        let wrapped = try Entropy.bytes(16)
        let key = try Entropy.bytes(32)
        try state.withLock { state throws(Refusal) in
            if let refusal = state.refusesOnce.take() { throw refusal }
            try Self.checkOpen(row, state)
            guard state.keys.first(where: { $0.name.purpose == .metadata(row.protection) })?.name.generation == row.generation else {
                throw Refusal(.keysChanged)
            }
            if row.accessControl?.needsApplicationPassword == true, password == nil { throw Refusal(.applicationPasswordMissing) }
            state.sealed[wrapped] = (row, key, password)
        }
        try state.withLock { $0.afterSeal.take() }?()
        return ItemKeyReply(wrapped: wrapped, key: SecretBytes(key))
    }

    func open(_ row: RowBinding, wrapped: [UInt8], reason: String?, mayPrompt: Bool, password: borrowing SecretBytes?) throws -> SecretBytes
    {
        var password = Self.bytes(password)
        try state.withLock { $0.beforeOpen.take() }?()
        let key = try state.withLock { state throws(Refusal) in
            state.timesOpened += 1
            try Self.checkKnown(row, state)
            try Self.checkOpen(row, state)
            guard let sealed = state.sealed[wrapped], sealed.row == row else { throw Refusal(.rowDamaged) }
            let lacksPassword = row.accessControl?.needsApplicationPassword == true && password == nil
            let asks = row.accessControl?.requirementToDecrypt.isNone == false
            guard mayPrompt || (!lacksPassword && !asks) else { throw Refusal(.interactionNotAllowed) }
            if asks {
                state.promptCount += 1
                if let refusal = state.userAnswers { throw refusal }
            }
            if lacksPassword {
                state.promptCount += 1
                guard let typed = state.typedPassword else { throw Refusal(.cancelled) }
                password = typed
            }
            if row.accessControl?.needsApplicationPassword == true, password != sealed.password { throw Refusal(.authenticationFailed) }
            return sealed.key
        }
        return SecretBytes(key)
    }

    func rewrap(_ row: RowBinding, wrapped: [UInt8], generation: [UInt8]) throws -> [UInt8] {
        try state.withLock { $0.beforeRewrap.take() }?()
        let new = try Entropy.bytes(16)
        try state.withLock { state throws(Refusal) in
            try Self.checkKnown(row, state)
            try Self.checkOpen(row, state)
            guard state.keys.first(where: { $0.name.purpose == .metadata(row.protection) })?.name.generation == generation else {
                throw Refusal(.keysChanged)
            }
            guard let sealed = state.sealed[wrapped], sealed.row == row, row.format == .generationSeparate else {
                throw Refusal(.rowDamaged)
            }
            if state.passcodeIsLongAgo, row.accessControl?.requirementToDecrypt.isNone == false { throw Refusal(.interactionNotAllowed) }
            state.sealed[new] = (row.with(generation: generation), sealed.key, sealed.password)
        }
        return new
    }

    func retire(_ keys: [KeyName]) throws {
        try state.withLock { state throws(Refusal) in
            state.timesRetired += 1
            for name in keys {
                guard Self.keyStatus(name, state) == .older else { throw Refusal(.badParameter) }
                state.keys.removeAll { $0.name.asKeyName == name }
                state.destroyed.insert(name)
            }
        }
    }

    func openBackup(
        _ keybag: [UInt8]?, _ use: BackupUse, recipient: [UInt8]?, secret: borrowing SecretBytes?, isRestoreKey: Bool
    ) throws -> OpenedBackup {
        throw Refusal(.unsupported)
    }

    func backUp(_ row: RowBinding, wrapped: [UInt8]) throws -> ItemKeyReply { throw Refusal(.unsupported) }

    func restoreKeys(_ row: RowBinding, wrapped: [UInt8]) throws -> RestoredKeys { throw Refusal(.unsupported) }

    func makeSeriesKey() throws -> SeriesKeyReply {
        let (key, sealed) = (try Entropy.bytes(32), try Entropy.bytes(EnclaveRequest.sealedSeriesKeyBytes))
        let end = try state.withLock { state in
            if let refusal = state.logRefusal { throw refusal }
            state.logKeys[sealed] = key
            return state.logEnd
        }
        return SeriesKeyReply(key: SecretBytes(copying: key), sealed: sealed, end: end)
    }

    func anchorLog(_ links: [AccessLogLink]) throws -> AccessLogAnchor {
        state.withLock { state in
            for link in links where link.number > state.logEnd.number { state.logEnd = state.logEnd.adding(link) }
            return AccessLogAnchor(end: state.logEnd, began: state.logBegan)
        }
    }

    func signLogHead(_ request: LogHeadRequest) throws -> SignedLogHead {
        let end = try anchorLog([]).end
        let head = LogHead(device: [UInt8](repeating: 7, count: LogHeadLimits.deviceBytes), user: 1, number: end.number, chain: end.chain)
        let key = NoteKey(name: head.origin, kind: .text, publicKey: [UInt8](repeating: 9, count: NoteKey.publicKeyBytes))
        let signature = key.signature([UInt8](repeating: 8, count: 64))
        let cosigner = NoteKey(name: head.origin, kind: .cosignature, publicKey: key.publicKey)
        let note = SignedNote(text: head.text, signatures: [signature])
        return SignedLogHead(note: note.bytes, keys: [LogHeadKey(text: key.text)], cosigner: LogHeadKey(text: cosigner.text))
    }

    func openSeriesKey(_ sealed: [UInt8]) throws -> SecretBytes {
        try state.withLock { state in
            guard state.lock == .unlocked else { throw Refusal(.locked) }
            guard let key = state.logKeys[sealed] else { throw Refusal(.keyDestroyed) }
            return SecretBytes(copying: key)
        }
    }

    func nameTeam(_ team: TeamIdentifier, _ name: String?) throws { state.withLock { $0.teamNames[team] = name } }

    func circle(_ request: CircleRequest, secret: borrowing SecretBytes?) throws -> CircleResult { throw Refusal(.unsupported) }

    func sealForCircle(_ row: RowBinding, wrapped: [UInt8]) throws -> ItemKeyReply { throw Refusal(.unsupported) }

    func circleItemKeys(_ row: RowBinding, wrapped: [UInt8], epoch: Int64) throws -> RestoredKeys { throw Refusal(.unsupported) }

    func sealForCompanion(_ row: RowBinding, wrapped: [UInt8], device: [UInt8], name: [UInt8]) throws -> ItemKeyReply {
        throw Refusal(.unsupported)
    }

    func circleNames() throws -> SecretBytes? { throw Refusal(.unsupported) }

    func consent(_ consent: Consent, reason: String?) throws -> ConsentChoice {
        let (answer, meanwhile) = state.withLock { state in
            state.consents.append(consent)
            defer { state.whilePrompted = nil }
            return (state.consentAnswers, state.whilePrompted)
        }
        try meanwhile?()
        return try answer.get()
    }

    func keyStatus(of key: KeyName) throws -> KeyStatus { state.withLock { Self.keyStatus(key, $0) } }

    private static func keyStatus(_ key: KeyName, _ state: State) -> KeyStatus {
        if state.destroyed.contains(key) { return .destroyed }
        let held = state.keys.filter { $0.name.asKeyName.purpose == key.purpose }
        if held.first?.name.generation == key.generation { return .current }
        return held.contains { $0.name.generation == key.generation } ? .older : .unknown
    }

    private static func checkKnown(_ row: RowBinding, _ state: State) throws(Refusal) {
        switch keyStatus(KeyName(purpose: row.protection.number, generation: row.generation), state) {
        case .current, .older: break
        case .destroyed: throw Refusal(.keyDestroyed)
        case .unknown: throw Refusal(.keyUnknown)
        }
    }

    private static func bytes(_ secret: borrowing SecretBytes?) -> [UInt8]? {
        switch secret {
        case .some(let secret): secret.withUnsafeBytes { Array($0) }
        case .none: nil
        }
    }

    private static func checkOpen(_ row: RowBinding, _ state: State) throws(Refusal) {
        guard isOpen(.metadata(row.protection), state) else {
            throw Refusal(state.lock == .beforeFirstUnlock ? .beforeFirstUnlock : .locked)
        }
    }

    private static func isOpen(_ purpose: KeyLease.Purpose, _ state: State) -> Bool {
        let availability: ProtectionClass.Availability
        switch purpose {
        case .metadata(let protection):
            if protection.needsPasscode && !state.passcodeIsSet { return false }
            availability = protection.availability
        case .firstUnlockIndex: availability = .firstUnlock
        case .deviceIndex: availability = .always
        }
        switch availability {
        case .always: return true
        case .firstUnlock: return state.lock != .beforeFirstUnlock
        case .unlocked: return state.lock == .unlocked
        }
    }
}

extension KeyLease.Key {
    var asKeyName: KeyName {
        switch purpose {
        case .metadata(let protection): KeyName(purpose: protection.number, generation: generation)
        case .firstUnlockIndex: KeyName(purpose: 100, generation: generation)
        case .deviceIndex: KeyName(purpose: 101, generation: generation)
        }
    }
}

extension SecretBytes {
    init(_ bytes: [UInt8]) { self.init(count: bytes.count) { $0.copyBytes(from: bytes) } }
}

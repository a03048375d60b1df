// Backups (Specs/backup.md): rows are copied with their secret halves unchanged, under keys that the enclave wraps for the backup.

internal import Crypto
internal import EnclaveWire
internal import Foundation
internal import KeychainStore
internal import VaubanAccessPolicy
internal import VaubanDER
internal import VaubanKeychainModel
internal import VaubanKeychainWire
internal import VaubanPlainText
internal import VaubanRefusal
internal import VaubanSecretBytes
internal import VaubanUserModel

extension RequestInProgress {
    func backup(_ request: BackupRequest, _ value: borrowing SecretBytes) throws {
        guard caller.isUserAtCommandLine else {
            throw Refusal(.notAllowedHere, "The keychain is backed up with the command vauban backup")
        }
        switch request {
        case .begin(let keybag, let restores, let recipient, let isRestoreKey):
            try begin(keybag, restores: restores, recipient: recipient, isRestoreKey: isRestoreKey)
        case .list(let row): try list(after: row)
        case .copy(let rows): try copy(rows)
        case .restore(let item): try restore(item, rest: value)
        case .deleted(let items): try sink.send(.backup(.deleted(try items.filter(isDeleted))))
        case .run(let isNext):
            let run = try database.backupRun(isNext: isNext)
            try sink.send(.backup(.run(database: run.database, number: run.number)))
        }
        try sink.send(.done)
    }

    /// Opens a backup. The user must consent to a new one, or to one that is opened with a passphrase or restore key: if they did not know
    /// it, they could not read the backup and others could.
    private func begin(_ keybag: [UInt8]?, restores: Bool, recipient: [UInt8]?, isRestoreKey: Bool) throws {
        if restores {
            // In user mode any program of the user could add the same items itself.
            if caller.identity != nil { try promptForConsent(.restoreBackup, item: nil) }
        } else if password != nil || keybag == nil {
            let fingerprint = recipient.map { BackupRequest.fingerprint(ofDigest: Array(SHA256.hash(data: $0))) }
            let program = fingerprint ?? (isRestoreKey ? "the recipient of its restore key" : nil)
            try promptForConsent(.backUp, item: "\(try database.rowCount()) items", program: program)
        }
        let opened = try enclave.openBackup(
            keybag, restores ? .restore : .backUp, recipient: recipient, secret: password, isRestoreKey: isRestoreKey)
        try sink.send(.backup(.begun(keybag: opened.keybag)), value: opened.frameKey)
    }

    private func promptForConsent(_ purpose: Consent.Purpose, item: String?, program: String? = nil) throws {
        do {
            _ = try enclave.consent(Consent(purpose, offered: .once, item: item, program: program), reason: nil)
        } catch let refusal as Refusal where refusal.reason == .passcodeNotSet {
            // A user without a passcode has chosen to have no prompts for consent.
        }
    }

    // MARK: Copying

    private func list(after row: Int64) throws {
        let kinds = ItemKind.allCases.map(\.rawValue)
        let rows = try database.outlines(of: kinds, after: row, count: BackupRequest.rowsMax).map { outline in
            BackupRow(row: outline.id, item: outline.item, mark: Self.mark(of: outline.metadataBinding))
        }
        try sink.send(.backup(.rows(rows)))
    }

    /// Returns whether an item was deleted and does not exist again.
    private func isDeleted(_ item: [UInt8]) throws -> Bool {
        switch try database.status(ofItem: item) {
        case .deleted, .deletedElsewhere: true
        case .present, .returned, .gone: false
        }
    }

    /// Returns a mark that changes with every write of a row.
    static func mark(of metadataBinding: [UInt8]) -> [UInt8] { Array(SHA256.hash(data: metadataBinding).prefix(16)) }

    private func copy(_ rows: [Int64]) throws {
        var bytes = 0
        for id in rows where bytes < KeychainLimits.batchBytesMax {
            do {
                bytes += try copy(id)
            } catch is RowHasChanged {
                // The next backup contains the item's new state.
                try sink.send(.backup(.omitted(row: id, name: "", .absent)))
            }
        }
    }

    /// Copies a row, or reports why it is omitted from the backup. Returns the number of bytes sent.
    private func copy(_ id: Int64) throws -> Int {
        guard let row = try database.row(id), let opened = try open(row) else {
            try sink.send(.backup(.omitted(row: id, name: "", .absent)))
            return 0
        }
        let name = PlainLine.bothEnds(opened.record.shownName, bytesMax: BackupReply.nameBytesMax)
        if let why = opened.backupOmission {
            try sink.send(.backup(.omitted(row: id, name: name, why)))
            return 0
        }
        let sealed: ItemKeyReply
        do {
            sealed = try enclave.backUp(opened.binding, wrapped: row.halves.wrappedKey)
        } catch let refusal as Refusal {
            try dispose(of: row, after: refusal)
            try sink.send(.backup(.omitted(row: id, name: name, .absent)))
            return 0
        }
        let item = try Self.copied(opened, sealed)
        note(.backedUp, opened)
        try sink.send(.backup(.item(row: id, item)), value: Self.rest(of: row))
        return row.halves.secret.count + item.attributes.count
    }

    /// Returns a copy of an item under another key. Its secret half is unchanged.
    static func copied(_ opened: OpenedRow, _ sealed: borrowing ItemKeyReply) throws -> BackupItem {
        let binding = try opened.binding.itemBinding.encoded()
        let secret = opened.row.halves.secret
        let attributes = try BackupCipher.seal(
            opened.record.attributes, key: sealed.key,
            binding: BackupCipher.binding(binding, wrapped: sealed.wrapped, secret: secret))
        return BackupItem(
            binding: binding, wrapped: sealed.wrapped, attributes: attributes, head: Array(secret.prefix(BackupItem.headBytes)))
    }

    /// Returns the part of the secret half that is not in the header.
    static func rest(of row: StoredRow) -> SecretBytes { SecretBytes(copying: Array(row.halves.secret.dropFirst(BackupItem.headBytes))) }

    // MARK: Restoring

    private func restore(_ item: BackupItem, rest: borrowing SecretBytes) throws {
        guard let binding = try? RowBinding(derBytes: item.binding), let kind = ItemKind(rawValue: binding.kind), kind.isBackedUp,
            binding.accessControl == nil, !binding.protection.needsPasscode
        else { throw Self.damagedBackup }
        let secret = item.head + rest.withUnsafeBytes { Array($0) }
        let keys = try keys(of: item, binding)
        guard let record = try record(of: item, kind: kind, binding: binding, secret: secret, keys: keys), !record.attributes.isOfEnclave
        else { throw Self.damagedBackup }
        let name = PlainLine.bothEnds(record.shownName, bytesMax: BackupReply.nameBytesMax)
        switch keys.item {
        case .none: try sink.send(.backup(.restored(name: name, .otherDevice)))
        case .some(let key):
            guard let value = try? RowCipher.open(secret, key: key, binding: try binding.itemBinding.encoded()) else {
                throw Self.damagedBackup
            }
            try sink.send(.backup(.restored(name: name, try merge(record, item: binding.item, value: value))))
        }
    }

    /// Returns the attributes of a copied item; nil if its parts belong to different items.
    func record(
        of item: BackupItem, kind: ItemKind, binding: RowBinding, secret: [UInt8], keys: borrowing RestoredKeys
    ) throws -> ItemRecord? {
        let bound = BackupCipher.binding(item.binding, wrapped: item.wrapped, secret: secret)
        guard let attributes = try? BackupCipher.open(item.attributes, key: keys.attributes, binding: bound) else { return nil }
        let record = ItemRecord(kind: kind, attributes: attributes, protection: binding.protection)
        guard record.attributes[.accessGroup] == .text(binding.accessGroup) else { return nil }
        try checkSize(record)
        return record
    }

    private func keys(of item: BackupItem, _ binding: RowBinding) throws -> RestoredKeys {
        do {
            return try enclave.restoreKeys(binding, wrapped: item.wrapped)
        } catch let refusal as Refusal where refusal.reason == .rowDamaged {
            throw Self.damagedBackup
        }
    }

    /// Merges an item: the one that was changed last is kept.
    private func merge(_ record: ItemRecord, item: [UInt8], value: borrowing PaddedValue) throws -> BackupOutcome {
        var outcome = BackupOutcome.unchanged
        try withRetries {
            guard let merged = try mergeOnce(record, item: item, value: value) else { return false }
            outcome = merged
            return true
        }
        return outcome
    }

    /// Merges an item in one attempt. Returns nil if a row changed meanwhile.
    private func mergeOnce(_ record: ItemRecord, item: [UInt8], value: borrowing PaddedValue) throws -> BackupOutcome? {
        let blinds = try blinds(record)
        guard let row = try database.row(ofItem: item, orNamed: blinds.primary) else {
            return try write(record, item: item, value: value, isRestored: true) ? .added : nil
        }
        guard let existing = try open(row) else { return nil }
        let (theirs, ours) = (existing.record.changed, record.changed)
        guard theirs <= ours else { return .kept }
        if existing.binding.accessControl != nil || existing.record.attributes.isOfEnclave { return theirs < ours ? .olderKept : .kept }
        guard theirs < ours else { return .unchanged }
        // The item itself is a predecessor of the one in the backup. Another key or certificate of its name would be lost: these have no
        // history.
        guard try existing.binding.item == item || record.kind.hasHistory || isValue(value, of: existing) else { return .nameTaken }
        let binding = try binding(record, item: existing.binding.item, generation: try keys.generationToWrite(record.protection))
        let new = try self.row(
            of: record, isCanary: existing.isCanary, binding: binding, secret: try seal(value, binding), blinds: blinds)
        let change = RowChange(
            old: row.handle, row: new, changesBlinds: true, keeping: try keptLabel(record, of: existing, unlessItHas: value),
            newOwner: record.accessGroup.isSameBytes(as: existing.record.accessGroup) ? nil : record.accessGroup)
        do {
            return try isDone(withLogRecords(of: .changed, [existing.used]) { try database.update([change], appending: $0) })
                ? .replaced : nil
        } catch let refusal as Refusal where refusal.reason == .duplicateItem {
            return .nameTaken
        }
    }

    private static var damagedBackup: Refusal { Refusal(.badParameter, "An item of the backup is damaged, or of another backup") }
}

extension OpenedRow {
    /// Why the item is not backed up; nil if it is (C-063, C-092).
    fileprivate var backupOmission: BackupOmission? {
        if !record.kind.isBackedUp || record.attributes.isOfEnclave { return .enclaveKey }
        if record.protection.needsPasscode { return .passcodeClass }
        return binding.accessControl == nil ? nil : .accessControl
    }
}

extension ItemKind {
    /// Whether items of this kind are backed up. A key of the enclave is not, though it is an item of the kind `key`.
    var isBackedUp: Bool {
        switch self {
        case .genericPassword, .internetPassword, .certificate, .key: true
        case .identity, .permission: false
        }
    }

    /// Whether a circle shares items of this kind. Private keys stay on their device.
    var isSynchronized: Bool { self != .key && isBackedUp }
}

extension ItemRecord {
    /// When the item was last changed, in microseconds since the reference date.
    var changed: Int64 { if case .date(let date)? = attributes[.modificationDate] { date } else { .min } }
}

/// The attributes of an item in a backup: AES-256-GCM under a separate key.
enum BackupCipher {
    static func seal(_ attributes: ItemAttributes, key: borrowing SecretBytes, binding: [UInt8]) throws -> [UInt8] {
        let plaintext = Padding.pad(try BackupAttributes(attributes: attributes).encoded())
        let box = try key.withUnsafeBytes { try AES.GCM.seal(plaintext, using: SymmetricKey(data: $0), authenticating: binding) }
        guard let combined = box.combined else { throw DecryptionError() }
        return Array(combined)
    }

    static func open(_ sealed: [UInt8], key: borrowing SecretBytes, binding: [UInt8]) throws(DecryptionError) -> ItemAttributes {
        do {
            let box = try AES.GCM.SealedBox(combined: sealed)
            let data = try key.withUnsafeBytes { try AES.GCM.open(box, using: SymmetricKey(data: $0), authenticating: binding) }
            guard let end = data.withUnsafeBytes({ Padding.end(of: $0) }) else { throw DecryptionError() }
            return try BackupAttributes(derBytes: Array(data.prefix(end))).attributes
        } catch {
            throw DecryptionError()
        }
    }

    /// Returns what the attributes are bound to: the item, its key and its secret half.
    static func binding(_ item: [UInt8], wrapped: [UInt8], secret: [UInt8]) -> [UInt8] {
        item + Array(SHA256.hash(data: wrapped)) + Array(SHA256.hash(data: secret))
    }
}

/// `BackupAttributes ::= SEQUENCE { version INTEGER (1), attributes ItemAttributes }`
private struct BackupAttributes: DERReadable, DERWritable {
    let attributes: ItemAttributes

    init(attributes: ItemAttributes) { self.attributes = attributes }

    init(from fields: inout DERFields) throws {
        try fields.version(1)
        attributes = try fields.value("attributes")
    }

    func write(into der: inout DERWriter) throws {
        try der.sequence { fields in
            try fields.integer(1)
            try fields.value(attributes)
        }
    }
}

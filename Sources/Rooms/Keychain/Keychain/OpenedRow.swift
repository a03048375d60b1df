// Opens rows. A row that does not open counts as absent and is quarantined. A row whose class key was destroyed with the passcode is
// removed. A row whose class is locked ends the request.

internal import EnclaveWire
internal import KeychainStore
internal import Logging
internal import VaubanAccessPolicy
internal import VaubanDER
internal import VaubanKeychainModel
internal import VaubanRefusal
internal import VaubanRoomLog
internal import VaubanSecretBytes

/// The database contains a newer version of the row, which must be read again. This is not an error.
struct RowHasChanged: Error {}

/// A row whose metadata half is decrypted.
struct OpenedRow {
    let row: StoredRow
    /// The binding of the wrapped key: the secret half's binding with the row's own generation.
    let binding: RowBinding
    let record: ItemRecord
    let isCanary: Bool

    /// The requirement that must be satisfied before the value is decrypted.
    var requirement: Requirement { binding.accessControl?.requirementToDecrypt ?? .none }

    /// Returns whether reading the value needs a prompt: for the user's factors, or for the application password if the request contains
    /// none.
    func needsPrompt(givenPassword: Bool) -> Bool {
        !requirement.isNone || (binding.accessControl?.needsApplicationPassword == true && !givenPassword)
    }
}

/// The content of a row, if the leased keys open it.
enum DecodedRow {
    case item(OpenedRow, digest: [UInt8])
    case damaged(QuarantineReason)
    /// The key of the metadata half is not leased.
    case closed
}

extension OpenedRow {
    /// Returns the row marked as a canary if `other` is one.
    func marked(as other: OpenedRow) -> OpenedRow {
        OpenedRow(row: row, binding: binding, record: record, isCanary: isCanary || other.isCanary)
    }

    /// Returns whether the metadata half was written with this secret half and these index columns.
    func isAuthenticated(by digest: [UInt8], _ blinds: RowBlinds) -> Bool {
        digest == RowCipher.digest((row.halves.secretBinding, row.halves.wrappedKey, row.halves.secret), blinds)
    }
}

/// Why a row counts as absent.
enum RowAbsence: Hashable {
    case quarantined(QuarantineReason)
    /// The class key was destroyed.
    case removed
}

extension RequestInProgress {
    /// Returns the item without its value; nil if the row counts as absent.
    func open(_ row: StoredRow) throws -> OpenedRow? {
        switch try decode(row) {
        case .damaged(let reason): return try quarantine(row, reason)
        case .closed: return try explainClosed(row)
        case .item(let opened, let digest):
            guard opened.isAuthenticated(by: digest, row.blinds) else { return try quarantine(row, .digest) }
            return opened
        }
    }

    /// Reads a row without any change to the database.
    func decode(_ row: StoredRow) throws -> DecodedRow {
        guard let bindings = RowBindings(row, of: user) else { return .damaged(.binding) }
        let opened: [UInt8]?
        do {
            opened = try keys.use(.metadata(bindings.metadata.protection), generation: bindings.metadata.generation) { key in
                try RowCipher.openMetadata(row.halves.metadata, key: key, binding: row.halves.metadataBinding)
            }
        } catch is DecryptionError {
            return .damaged(.metadata)
        }
        guard let opened else { return .closed }
        guard let (record, digest, isCanary) = bindings.record(of: opened) else { return .damaged(.content) }
        if isCanary { services.accessLogs.knownCanaries.remember(row.item, of: user) }
        if record.isSynchronizable { meetsSynchronizable = true }
        return .item(OpenedRow(row: row, binding: bindings.item, record: record, isCanary: isCanary), digest: digest)
    }

    /// Returns the item's value; nil if the row counts as absent. May prompt the user.
    func openValue(of opened: OpenedRow, reason: String?, mayPrompt: Bool) throws -> PaddedValue? {
        let halves = opened.row.halves
        if mayPrompt, opened.needsPrompt(givenPassword: password != nil) { mayHavePrompted = true }
        let key: SecretBytes
        do {
            key = try enclave.open(opened.binding, wrapped: halves.wrappedKey, reason: reason, mayPrompt: mayPrompt, password: password)
        } catch {
            note(error, of: opened)
            guard let refusal = error as? Refusal else { throw error }
            try dispose(of: opened.row, after: refusal)
            return nil
        }
        do {
            let value = try RowCipher.open(halves.secret, key: key, binding: try opened.binding.itemBinding.encoded())
            rememberKey(value, of: opened.record, item: opened.binding.item)
            return value
        } catch is DecryptionError {
            _ = try quarantine(opened.row, .secret)
            return nil
        }
    }

    /// Records which item a private key in the enclave belongs to, so that the access log can name it.
    func rememberKey(_ value: borrowing PaddedValue, of record: ItemRecord, item: [UInt8]) {
        guard record.kind == .key, record.attributes.isOfEnclave else { return }
        services.accessLogs.keyItems.remember(value.value(), of: item, user: user)
    }

    /// Handles a metadata key that is not leased. Either the class is locked or the key was destroyed, which only the enclave can
    /// determine.
    func explainClosed(_ row: StoredRow) throws -> OpenedRow? {
        switch try keyStatus(row.protection, row.generation) {
        case .destroyed: try disposeOfLost(row)
        case .unknown: _ = try quarantine(row, .keyUnknown)
        case .current, .older:
            noteIfCanary(row)
            // The enclave has the key and does not lease it, so the keychain is locked or was until just now.
            throw keys.isUnlocked ? Refusal(.unavailable, "The keys have just changed; try again") : keys.closed
        }
        return nil
    }

    /// Quarantines or removes a row according to the enclave's refusal to open it. Throws the refusal for the caller.
    func dispose(of row: StoredRow, after refusal: Refusal) throws {
        switch refusal.reason {
        case .rowDamaged: _ = try quarantine(row, .wrappedKey)
        case .keyDestroyed, .keyUnknown:
            if try keyStatus(row.protection, row.generation) == .destroyed { return try disposeOfLost(row) }
            _ = try quarantine(row, .keyUnknown)
        default: throw refusal
        }
    }

    /// Removes a row whose class key was destroyed, if its class exists only while a passcode is set: the user removed the passcode. The
    /// other keys are destroyed by an erasure, which empties the database, and when none of its rows needs them. So a row of another class
    /// came back with an earlier file, and is quarantined: an earlier copy of the enclave's state may open it.
    private func disposeOfLost(_ row: StoredRow) throws {
        guard ProtectionClass(number: row.protection)?.needsPasscode ?? false else {
            _ = try quarantine(row, .keyUnknown)
            return
        }
        absence = .removed
        do {
            guard try database.remove(row.handle) else { throw RowHasChanged() }
        } catch StorageError.full {
            // The rows beside it can be read all the same. It is removed once there is room.
            lacksRoom = true
            return
        }
        services.logger.notice("removed an item whose class key was destroyed", metadata: ["user": "\(user)", "row": "\(row.id)"])
    }

    func quarantine(_ row: StoredRow, _ reason: QuarantineReason) throws -> OpenedRow? {
        absence = .quarantined(reason)
        do {
            guard try database.quarantine(row, reason, date: services.now()) else { throw RowHasChanged() }
        } catch StorageError.full {
            // The rows beside it can be read all the same. It is quarantined once there is room.
            lacksRoom = true
            services.boundedLog.notice(
                "an item does not open, and the disk is too full to quarantine it", about: user, ["why": "\(reason.rawValue)"])
            return nil
        }
        services.logger.error(
            "quarantined an item that does not open", metadata: ["user": "\(user)", "row": "\(row.id)", "why": "\(reason.rawValue)"])
        return nil
    }

    /// Returns whether a row with the same primary attributes conflicts with another. A locked row does; a row that changed meanwhile must
    /// be looked up again.
    func isLive(_ row: StoredRow) throws -> Bool {
        do {
            return try open(row) != nil
        } catch is RowHasChanged {
            return false
        } catch let refusal as Refusal where refusal.reason == .locked || refusal.reason == .beforeFirstUnlock {
            return true
        }
    }
}

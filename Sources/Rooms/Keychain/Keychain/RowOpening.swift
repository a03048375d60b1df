// From a row to an item. A row that does not open behaves as absent and is put aside; one whose class key the enclave says
// it has destroyed is removed; one whose class is closed ends the request.

internal import EnclaveWire
internal import KeychainStore
internal import Logging
internal import VaubanAccessPolicy
internal import VaubanDER
internal import VaubanKeychainModel
internal import VaubanRefusal
internal import VaubanSecretBytes

/// The row in hand is no longer what the database holds: it is to be looked at as it is now.
struct RowHasChanged: Error {}

/// A row whose metadata half has opened.
struct OpenedRow {
    let row: StoredRow
    /// What the wrapped key is bound to: the secret half's binding under the row's own generation.
    let binding: RowBinding
    let record: ItemRecord

    /// What the user must do before the value is decrypted.
    var requirement: Requirement { binding.accessControl?.requirementToDecrypt ?? .none }

    /// Whether the value is given out only after a question to the user: for what they are to show, or for the application's
    /// password where the request did not bring it.
    func asks(givenPassword: Bool) -> Bool {
        !requirement.isNone || (binding.accessControl?.needsApplicationPassword == true && !givenPassword)
    }
}

/// What the bytes of a row say, as far as the lent keys reach.
enum DecodedRow {
    case item(OpenedRow, digest: [UInt8])
    case damaged(QuarantineReason)
    /// The key of the metadata half is not lent.
    case closed
}

extension OpenedRow {
    /// Whether the metadata half was written with this secret half and these index columns.
    func isVouchedFor(by digest: [UInt8], _ blinds: RowBlinds) -> Bool {
        digest == RowCipher.digest((row.halves.secretBinding, row.halves.wrappedKey, row.halves.secret), blinds)
    }
}

/// Why a row behaved as absent.
enum RowAbsence: Hashable {
    case putAside(QuarantineReason)
    /// Its class key was destroyed.
    case removed
}

extension RequestInProgress {
    /// The item without its value; nil when it behaves as absent.
    func open(_ row: StoredRow) throws -> OpenedRow? {
        switch try decode(row) {
        case .damaged(let reason): return try putAside(row, reason)
        case .closed: return try explainClosed(row)
        case .item(let opened, let digest):
            guard opened.isVouchedFor(by: digest, row.blinds) else { return try putAside(row, .digest) }
            return opened
        }
    }

    /// Reads a row and changes nothing, whatever is in it.
    func decode(_ row: StoredRow) throws -> DecodedRow {
        guard let bindings = RowBindings(row, of: user) else { return .damaged(.binding) }
        let opened: [UInt8]?
        do {
            opened = try keys.use(.metadata(bindings.metadata.protection), generation: bindings.metadata.generation) { key in
                try RowCipher.openMetadata(row.halves.metadata, key: key, binding: row.halves.metadataBinding)
            }
        } catch is DecryptionFailure {
            return .damaged(.metadata)
        }
        guard let opened else { return .closed }
        guard let (record, digest) = bindings.record(of: opened) else { return .damaged(.content) }
        return .item(OpenedRow(row: row, binding: bindings.item, record: record), digest: digest)
    }

    /// The item's value, or nil when the row behaves as absent. May ask the user.
    func openValue(of opened: OpenedRow, reason: String?, mayAsk: Bool) throws -> PaddedValue? {
        let halves = opened.row.halves
        if mayAsk, opened.asks(givenPassword: password != nil) { mayHaveAsked = true }
        let key: SecretBytes
        do {
            key = try enclave.open(opened.binding, wrapped: halves.wrappedKey, reason: reason, mayAsk: mayAsk, password: password)
        } catch let refusal as Refusal {
            try dispose(of: opened.row, after: refusal)
            return nil
        }
        do {
            return try RowCipher.open(halves.secret, key: key, binding: try opened.binding.itemBinding.encoded())
        } catch is DecryptionFailure {
            _ = try putAside(opened.row, .secret)
            return nil
        }
    }

    /// A metadata key that is not lent says that its class is closed, or that the key is gone for ever; only the enclave
    /// knows which.
    func explainClosed(_ row: StoredRow) throws -> OpenedRow? {
        switch try fate(row.protection, row.generation) {
        case .destroyed: try remove(row)
        case .unknown: _ = try putAside(row, .keyUnknown)
        case .current, .older:
            // The enclave has what it does not lend: it is locked, or was until just now.
            throw keys.isUnlocked ? Refusal(.unavailable, "the keys have just changed; try again") : keys.closed
        }
        return nil
    }

    /// What the enclave's refusal to open a row means for the row. Throws what the caller is to hear.
    func dispose(of row: StoredRow, after refusal: Refusal) throws {
        switch refusal.reason {
        case .rowDamaged: _ = try putAside(row, .wrappedKey)
        case .keyDestroyed, .keyUnknown:
            if try fate(row.protection, row.generation) == .destroyed { return try remove(row) }
            _ = try putAside(row, .keyUnknown)
        default: throw refusal
        }
    }

    /// Removes a row whose class key the enclave says it has destroyed, so that nothing will ever open it.
    private func remove(_ row: StoredRow) throws {
        guard try database.remove(row.handle) else { throw RowHasChanged() }
        absence = .removed
        parts.logger.notice("removed an item whose class key was destroyed", metadata: ["user": "\(user)", "row": "\(row.id)"])
    }

    func putAside(_ row: StoredRow, _ reason: QuarantineReason) throws -> OpenedRow? {
        guard try database.quarantine(row, reason, date: parts.now()) else { throw RowHasChanged() }
        absence = .putAside(reason)
        parts.logger.error(
            "put an item aside that does not open", metadata: ["user": "\(user)", "row": "\(row.id)", "why": "\(reason.rawValue)"])
        return nil
    }

    /// Whether a row with the same primary attributes really stands in the way of another. One that is closed does; one
    /// that has changed meanwhile is to be looked for again.
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

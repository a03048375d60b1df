// From a row to an item. A row that does not open behaves as absent and is put aside; one whose key no longer exists is
// removed; one whose class is closed ends the request.

internal import EnclaveWire
internal import KeychainStore
internal import Logging
internal import VaubanAccessPolicy
internal import VaubanDER
internal import VaubanKeychainModel
internal import VaubanSecretBytes

/// A row whose metadata half has opened.
struct OpenedRow {
    let row: StoredRow
    let binding: RowBinding
    let record: ItemRecord

    /// What the person must do before the value is decrypted.
    var requirement: Requirement { binding.accessControl?.requirementToDecrypt ?? .none }
}

extension RequestInProgress {
    /// The item without its value; nil when it behaves as absent.
    func open(_ row: StoredRow) throws -> OpenedRow? {
        guard let (secretBinding, metadataBinding) = bindings(of: row) else { return try putAside(row, .binding) }
        let opened: [UInt8]?
        do {
            opened = try keys.use(.metadata(metadataBinding.protection), generation: metadataBinding.generation) { key in
                try RowCipher.openMetadata(row.halves.metadata, key: key, binding: row.halves.metadataBinding)
            }
        } catch is DoesNotOpen {
            return try putAside(row, .metadata)
        }
        guard let opened else { return try explainClosed(row, secretBinding) }
        guard let kind = ItemKind(rawValue: row.kind), let metadata = try? RowMetadata(derBytes: opened),
            metadata.attributes[.accessGroup] == .text(metadataBinding.accessGroup)
        else { return try putAside(row, .content) }
        let halves = row.halves
        guard metadata.digest == RowCipher.digest((halves.secretBinding, halves.wrappedKey, halves.secret), row.blinds) else {
            return try putAside(row, .digest)
        }
        let record = ItemRecord(
            kind: kind, attributes: metadata.attributes, protection: metadataBinding.protection,
            accessControl: metadataBinding.accessControl)
        return OpenedRow(row: row, binding: secretBinding, record: record)
    }

    /// The item's value, or nil when the row behaves as absent. May ask the person.
    func openValue(of opened: OpenedRow, reason: String?, mayAsk: Bool) throws -> PaddedValue? {
        let halves = opened.row.halves
        let key: SecretBytes
        do {
            key = try enclave.open(opened.binding, wrapped: halves.wrappedKey, reason: reason, mayAsk: mayAsk)
        } catch let refusal as Refusal {
            try dispose(of: opened.row, after: refusal)
            return nil
        }
        do {
            return try RowCipher.open(halves.secret, key: key, binding: halves.secretBinding)
        } catch is DoesNotOpen {
            _ = try putAside(opened.row, .secret)
            return nil
        }
    }

    /// Both bindings, if they can be read strictly, fit the columns, and differ in nothing but their version.
    private func bindings(of row: StoredRow) -> (secret: RowBinding, metadata: RowBinding)? {
        guard let metadata = binding(row.halves.metadataBinding, of: row) else { return nil }
        // Written together, both halves have the same.
        if row.halves.secretBinding == row.halves.metadataBinding { return (metadata, metadata) }
        guard let secret = binding(row.halves.secretBinding, of: row), secret.accessGroup == metadata.accessGroup,
            secret.accessControl == metadata.accessControl
        else { return nil }
        return (secret, metadata)
    }

    private func binding(_ bytes: [UInt8], of row: StoredRow) -> RowBinding? {
        guard let binding = try? RowBinding(derBytes: bytes), binding.person == person, binding.item == row.item, binding.kind == row.kind,
            binding.protection.number == row.protection, binding.generation == row.generation
        else { return nil }
        return binding
    }

    /// A metadata key that is not lent says that its class is closed, or that the key is gone for ever; only the enclave
    /// knows which.
    private func explainClosed(_ row: StoredRow, _ binding: RowBinding) throws -> OpenedRow? {
        do {
            _ = try enclave.open(binding, wrapped: row.halves.wrappedKey, reason: nil, mayAsk: false)
        } catch let refusal as Refusal where refusal.reason == .interactionNotAllowed && keys.isUnlocked == false {
            throw keys.closed
        } catch let refusal as Refusal {
            try dispose(of: row, after: refusal)
            return nil
        }
        // The enclave opens what it lends no metadata key for: it was locked or unlocked just now.
        throw keys.isUnlocked ? Refusal(.unavailable, "the keys have just changed; try again") : keys.closed
    }

    /// What the enclave's refusal to open a row means for the row. Throws what the caller is to hear.
    private func dispose(of row: StoredRow, after refusal: Refusal) throws {
        switch refusal.reason {
        case .rowDamaged: _ = try putAside(row, .wrappedKey)
        // No version destroys keys yet, so an unknown key means that an older keybag was put back: the row is kept aside,
        // for the day when the right one comes back.
        case .keyDestroyed: _ = try putAside(row, .keyUnknown)
        default: throw refusal
        }
    }

    private func putAside(_ row: StoredRow, _ reason: QuarantineReason) throws -> OpenedRow? {
        parts.logger.error(
            "put an item aside that does not open", metadata: ["person": "\(person)", "row": "\(row.id)", "why": "\(reason.rawValue)"])
        try database.quarantine(row, reason, date: parts.now())
        return nil
    }

    /// Whether a row with the same primary attributes really stands in the way of another. One that is closed does.
    func isLive(_ row: StoredRow) throws -> Bool {
        do {
            return try open(row) != nil
        } catch let refusal as Refusal where refusal.reason == .locked || refusal.reason == .beforeFirstUnlock {
            return true
        }
    }
}

// From a row to an item. A row that does not open behaves as absent and is put aside; one whose class key the enclave says
// it has destroyed is removed; one whose class is closed ends the request.

internal import EnclaveWire
internal import KeychainStore
internal import Logging
internal import VaubanAccessPolicy
internal import VaubanDER
internal import VaubanKeychainModel
internal import VaubanSecretBytes

/// The row in hand is no longer what the database holds: it is to be looked at as it is now.
struct RowHasChanged: Error {}

/// A row whose metadata half has opened.
struct OpenedRow {
    let row: StoredRow
    /// What the wrapped key is bound to: the secret half's binding under the row's own generation.
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
        guard let opened else { return try explainClosed(row) }
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
        return OpenedRow(row: row, binding: secretBinding.with(generation: metadataBinding.generation), record: record)
    }

    /// The item's value, or nil when the row behaves as absent. May ask the person.
    func openValue(of opened: OpenedRow, reason: String?, mayAsk: Bool) throws -> PaddedValue? {
        let halves = opened.row.halves
        let key: SecretBytes
        do {
            key = try enclave.open(opened.binding, wrapped: halves.wrappedKey, reason: reason, mayAsk: mayAsk, password: password)
        } catch let refusal as Refusal {
            try dispose(of: opened.row, after: refusal)
            return nil
        }
        do {
            return try RowCipher.open(halves.secret, key: key, binding: try opened.binding.ofItem.encoded())
        } catch is DoesNotOpen {
            _ = try putAside(opened.row, .secret)
            return nil
        }
    }

    /// Both bindings, if they can be read strictly, fit the columns, and differ in nothing but their version and, where the
    /// format keeps that apart, the generation: a row that went to a newer class key keeps its secret half.
    private func bindings(of row: StoredRow) -> (secret: RowBinding, metadata: RowBinding)? {
        guard let metadata = try? RowBinding(derBytes: row.halves.metadataBinding), metadata.person == person, metadata.item == row.item,
            metadata.kind == row.kind, metadata.protection.number == row.protection, metadata.generation == row.generation
        else { return nil }
        // Written together, both halves have the same.
        if row.halves.secretBinding == row.halves.metadataBinding { return (metadata, metadata) }
        guard let secret = try? RowBinding(derBytes: row.halves.secretBinding), secret.isOfSameItem(as: metadata) else { return nil }
        return (secret, metadata)
    }

    /// A metadata key that is not lent says that its class is closed, or that the key is gone for ever; only the enclave
    /// knows which.
    private func explainClosed(_ row: StoredRow) throws -> OpenedRow? {
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
        parts.logger.notice("removed an item whose class key was destroyed", metadata: ["person": "\(person)", "row": "\(row.id)"])
    }

    private func putAside(_ row: StoredRow, _ reason: QuarantineReason) throws -> OpenedRow? {
        guard try database.quarantine(row, reason, date: parts.now()) else { throw RowHasChanged() }
        parts.logger.error(
            "put an item aside that does not open", metadata: ["person": "\(person)", "row": "\(row.id)", "why": "\(reason.rawValue)"])
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

extension RowBinding {
    /// Equal in everything but the version, and the generation where the format keeps that apart from the item.
    func isOfSameItem(as other: RowBinding) -> Bool {
        let (mine, theirs) = (ofItem, other.ofItem)
        return mine.format == theirs.format && mine.person == theirs.person && mine.protection == theirs.protection
            && mine.generation == theirs.generation && mine.item == theirs.item && mine.kind == theirs.kind
            && mine.accessGroup == theirs.accessGroup && mine.accessControl == theirs.accessControl
    }
}

// Stores items of other devices (Specs/sync.md). Each write happens only if the row is still the one that the command line decided about.

internal import EnclaveWire
internal import KeychainStore
internal import VaubanAccessPolicy
internal import VaubanDER
internal import VaubanKeychainModel
internal import VaubanKeychainWire
internal import VaubanLinuxHost
internal import VaubanRefusal
internal import VaubanSecretBytes
internal import VaubanSyncModel

extension RequestInProgress {
    // MARK: New items

    /// Stores items that do not exist here yet, all in one transaction. Returns nil, and writes nothing, if one of them exists here or a
    /// row changed meanwhile.
    /// - Parameter rests: The rests of their secret halves, one after the other.
    func putNew(_ items: [SyncedItem], rests: borrowing SecretBytes) throws -> [SyncOutcome]? {
        do {
            return try putNewOnce(items, rests: rests)
        } catch let refusal as Refusal where refusal.reason == .keysChanged {
            keys.startOver()
            return nil
        }
    }

    private func putNewOnce(_ items: [SyncedItem], rests: borrowing SecretBytes) throws -> [SyncOutcome]? {
        let rests = rests.withUnsafeBytes { Array($0) }
        guard items.reduce(0, { $0 + $1.restBytes }) == rests.count else {
            throw Refusal(.badParameter, "The values do not belong to the items")
        }
        let names = try nameKey()
        var new = NewRows()
        var offset = 0
        for item in items {
            let secret = item.item.head + rests[offset..<offset + item.restBytes]
            offset += item.restBytes
            let isNew = try withOpened(item, secret: secret, names: names) { record, identity, value in
                let row = try newRow(record, item: identity, value: value, besides: new)
                return new.add(record, row, parts: names.map { PartDigester(key: $0, name: item.name).digests(of: record, value) })
            }
            guard isNew else { return nil }
        }
        let written = try withLogRecords(of: .added, new.used) { try database.insert(new.rows, appending: $0) }
        return written == .written ? new.outcomes : nil
    }

    /// Returns the row for a new item; nil if an item of this name exists here.
    private func newRow(_ record: ItemRecord, item: [UInt8], value: borrowing PaddedValue, besides others: NewRows) throws -> StoredRow? {
        let blinds = try blinds(record)
        guard try database.row(named: blinds.primary) == nil else { return nil }
        let isKnown = try others.identities.contains(item) || database.row(ofItem: item) != nil
        return try row(of: record, item: isKnown ? try Entropy.bytes(16) : item, value: value, blinds: blinds)
    }

    private func row(of record: ItemRecord, item: [UInt8], value: borrowing PaddedValue, blinds: RowBlinds) throws -> StoredRow {
        let binding = try binding(record, item: item, generation: try keys.generationToWrite(record.protection))
        return try row(of: record, isCanary: false, binding: binding, secret: try seal(value, binding), blinds: blinds)
    }

    // MARK: One item

    func put(_ received: SyncedItem, rest: borrowing SecretBytes, replacing replaced: Replaced) throws -> SyncOutcome {
        let names = try nameKey()
        let secret = received.item.head + rest.withUnsafeBytes { Array($0) }
        let digester = names.map { PartDigester(key: $0, name: received.name) }
        return try withOpened(received, secret: secret, names: names) { record, item, value in
            try put(record, item: item, value: value, replacing: names == nil ? .any : replaced, digester)
        }
    }

    /// Calls `body` with an item, its identity and its value, after they were verified.
    private func withOpened<Result>(
        _ received: SyncedItem, secret: [UInt8], names: IndexKey?, body: (ItemRecord, [UInt8], borrowing PaddedValue) throws -> Result
    ) throws -> Result {
        let item = received.item
        guard let binding = try? RowBinding(derBytes: item.binding), let kind = ItemKind(rawValue: binding.kind), kind.isSynchronized,
            binding.accessControl == nil, !binding.protection.staysOnDevice
        else { throw Self.damagedItem }
        let keys = try circleKeys(of: received, binding)
        guard let record = try record(of: item, kind: kind, binding: binding, secret: secret, keys: keys), record.isSynchronizable,
            names.map({ Self.name(of: record, $0) == received.name }) ?? true
        else { throw Self.damagedItem }
        // Otherwise no change here could ever be later.
        guard record.changed <= services.now() + SyncStamp.microsecondsAheadMax else {
            throw Refusal(.unsupported, "The change is dated more than ten years ahead of this device's clock")
        }
        switch keys.item {
        case .none: throw Self.damagedItem
        case .some(let key):
            guard let value = try? RowCipher.open(secret, key: key, binding: try binding.itemBinding.encoded()) else {
                throw Self.damagedItem
            }
            return try body(record, binding.item, value)
        }
    }

    private func put(
        _ record: ItemRecord, item: [UInt8], value: borrowing PaddedValue, replacing replaced: Replaced, _ digester: PartDigester?
    ) throws -> SyncOutcome {
        var outcome = SyncOutcome.changedMeanwhile
        try withRetries {
            do {
                guard let done = try putOnce(record, item: item, value: value, replacing: replaced, digester) else { return false }
                outcome = done
                return true
            } catch is RowHasChanged { return false }
        }
        return outcome
    }

    /// Returns nil if a row has changed meanwhile in a way that leaves the decision as it is.
    private func putOnce(
        _ record: ItemRecord, item: [UInt8], value: borrowing PaddedValue, replacing replaced: Replaced, _ digester: PartDigester?
    ) throws -> SyncOutcome? {
        let blinds = try blinds(record)
        func placed(_ row: StoredRow) -> SyncOutcome {
            .placed(row, changed: record.changed, digester.map { $0.digests(of: record, value) })
        }
        guard let row = try database.row(named: blinds.primary) else {
            guard replaced.allows(nil) else { return .changedMeanwhile }
            // An item that was renamed elsewhere may still be here under its earlier name.
            let identity = try database.row(ofItem: item) == nil ? item : try Entropy.bytes(16)
            let new = try self.row(of: record, item: identity, value: value, blinds: blinds)
            let used = UsedItem(record, item: identity)
            return try isDone(withLogRecords(of: .added, [used]) { try database.insert(new, appending: $0) }) ? placed(new) : nil
        }
        guard let existing = try open(row) else { return nil }
        guard existing.record.isSynchronizable, existing.maySynchronize else { return .nameTaken }
        guard replaced.allows(Self.mark(of: row.halves.metadataBinding)) else { return .changedMeanwhile }
        if let merge = replaced.merge, let digester { return try self.merge(record, value: value, with: existing, by: merge, digester) }
        if try isInPlace(record, value: value, as: existing, replaced) { return placed(row) }
        return try replace(existing, by: record, value: value, isKept: replaced.isKept).map(placed)
    }

    /// Replaces the row of an item. Returns the new row; nil if the row has changed meanwhile.
    /// - Parameter isKept: Whether the history keeps the row even if only its attributes are replaced: they lost a conflict.
    func replace(
        _ existing: OpenedRow, by record: ItemRecord, value: borrowing PaddedValue, isKept: Bool = false
    ) throws -> StoredRow? {
        let binding = try binding(
            record, item: existing.binding.item, generation: try keys.generationToWrite(record.protection))
        let new = try row(
            of: record, isCanary: existing.isCanary, binding: binding, secret: try seal(value, binding), blinds: try blinds(record))
        let label =
            isKept && !record.isSame(as: existing.record)
            ? keptLabel(record) : try keptLabel(record, of: existing, unlessItHas: value)
        let change = RowChange(old: existing.row.handle, row: new, changesBlinds: true, keeping: label)
        return try isDone(withLogRecords(of: .changed, [existing.used]) { try database.update([change], appending: $0) }) ? new : nil
    }

    /// Returns whether the item exists here as received: a run that was killed may have stored it without recording that. It must not
    /// become one of its own earlier values.
    private func isInPlace(
        _ record: ItemRecord, value: borrowing PaddedValue, as existing: OpenedRow, _ replaced: Replaced
    ) throws -> Bool {
        guard existing.record.changed == record.changed else { return false }
        if replaced == .any { return true }
        guard existing.record.attributes == record.attributes, existing.record.protection == record.protection else { return false }
        return try isValue(value, of: existing)
    }

    // MARK: Deletions

    func deleteSynchronized(_ item: [UInt8], _ mark: [UInt8]) throws -> SyncOutcome {
        // Only a member keeps an item that another device deleted. A companion keeps nothing of the items that are taken from it.
        let isCompanion = try nameKey() == nil
        guard let row = try database.row(ofItem: item), Self.mark(of: row.halves.metadataBinding) == mark else { return .changedMeanwhile }
        let opened: OpenedRow
        do {
            guard let found = try open(row) else { return .changedMeanwhile }
            opened = found
        } catch is RowHasChanged {
            return .changedMeanwhile
        }
        guard opened.record.isSynchronizable, opened.maySynchronize else { return .nameTaken }
        let removal = RowRemoval(row.handle, keeping: isCompanion ? nil : keptLabel(opened.record), cause: .otherDevice)
        let removals = try [removal] + permissionRows(of: [row.handle]).map { RowRemoval($0) }
        guard try withLogRecords(of: .deleted, [opened.used], { try database.delete(removals, appending: $0) }) else {
            return .changedMeanwhile
        }
        services.leasedKeys.forget(opened.binding.item, user: user)
        return .deleted
    }

    // MARK: Parts

    private func circleKeys(of received: SyncedItem, _ binding: RowBinding) throws -> RestoredKeys {
        do {
            return try enclave.circleItemKeys(binding, wrapped: received.item.wrapped, epoch: received.epoch)
        } catch let refusal as Refusal where refusal.reason == .rowDamaged {
            throw Self.damagedItem
        }
    }

    private static var damagedItem: Refusal { Refusal(.badParameter, "The item is damaged, or of another circle") }
}

/// What an item of another device may replace.
enum Replaced: Equatable {
    /// The row with this mark, or none. With a `PartMerge`, the item is merged with the row; with `isKept`, the history keeps the row.
    case row([UInt8]?, PartMerge?, isKept: Bool)
    /// Whatever row exists: on a companion the members' items win, and its own changes are in its history.
    case any

    func allows(_ mark: [UInt8]?) -> Bool {
        switch self {
        case .row(let wanted, _, _): wanted == mark
        case .any: true
        }
    }

    var merge: PartMerge? { if case .row(_, let merge, _) = self { merge } else { nil } }
    var isKept: Bool { if case .row(_, _, let isKept) = self { isKept } else { false } }
}

extension ItemRecord {
    /// Returns whether two versions of an item differ in their dates at most, apart from their values.
    fileprivate func isSame(as other: ItemRecord) -> Bool {
        var (own, others) = (attributes, other.attributes)
        for date in [AttributeName.creationDate, .modificationDate] { (own[date], others[date]) = (nil, nil) }
        return own == others && protection == other.protection
    }
}

/// The rows of one request, which are written together.
private struct NewRows {
    private(set) var rows: [StoredRow] = []
    private(set) var outcomes: [SyncOutcome] = []
    private(set) var used: [UsedItem] = []
    private(set) var identities: Set<[UInt8]> = []

    /// Adds a row. Returns false for nil.
    mutating func add(_ record: ItemRecord, _ row: StoredRow?, parts: PartDigests?) -> Bool {
        guard let row else { return false }
        rows.append(row)
        outcomes.append(.placed(row, changed: record.changed, parts))
        used.append(UsedItem(record, item: row.item))
        identities.insert(row.item)
        return true
    }
}

extension SyncOutcome {
    fileprivate static func placed(_ row: StoredRow, changed: Int64, _ parts: PartDigests?) -> SyncOutcome {
        .placed(mark: RequestInProgress.mark(of: row.halves.metadataBinding), item: row.item, changed: changed, parts: parts)
    }
}

import VaubanKeychainClient
import VaubanKeychainWire
import VaubanLinuxHost
import VaubanRefusal
import VaubanSecretBytes
import VaubanSyncModel

/// Applying what the other devices wrote.
extension SyncRun {
    /// Merges the changes of one file, in order. Returns false if an item was changed here in the meantime.
    mutating func merge(_ records: [SyncRecord], epoch: Int64, of writer: String) throws -> Bool {
        var batch = NewItemBatch(epoch: epoch)
        for record in records {
            if isOfNewItem(record), batch.add(record) { continue }
            guard try put(batch, of: writer) else { return false }
            batch = NewItemBatch(epoch: epoch)
            if isOfNewItem(record), batch.add(record) { continue }
            guard try merge(record, epoch: epoch, of: writer) else { return false }
        }
        return try put(batch, of: writer)
    }

    private func isOfNewItem(_ record: SyncRecord) -> Bool {
        state.ledger.entries[record.name] == nil
            && !SyncStamp.isTooFarAhead(record.stamp.time, now: MachineClock.referenceMicroseconds)
    }

    /// Adds new items: all at once, or one by one if that is refused.
    private mutating func put(_ batch: NewItemBatch, of writer: String) throws -> Bool {
        if batch.records.count > 1, try putAtOnce(batch) { return true }
        for record in batch.records { guard try merge(record, epoch: batch.epoch, of: writer) else { return false } }
        return true
    }

    /// Returns false if nothing was added.
    private mutating func putAtOnce(_ batch: NewItemBatch) throws -> Bool {
        do {
            let rests: SecretBytes? = SecretBytes(copying: batch.rests)
            guard let outcomes = try circle.client.keychain.putNew(batch.items, rests: rests) else { return false }
            for (record, outcome) in zip(batch.records, outcomes) {
                guard case .placed(let mark, let item, let changed) = outcome else { throw Refusal(.internalError) }
                state.ledger.take(SyncedRow(name: record.name, mark: mark, item: item, changed: changed), record.stamp)
                received += 1
            }
            return true
        } catch let refusal as Refusal where [.badParameter, .dataTooLarge, .duplicateItem, .unsupported].contains(refusal.reason) {
            _ = try circle.open()
            return false
        }
    }

    /// Merges one change. Returns false if the item was changed here in the meantime.
    mutating func merge(_ record: SyncRecord, epoch: Int64, of writer: String) throws -> Bool {
        let isItem = if case .put = record.content { true } else { false }
        let conflict = state.ledger.noteConflict(on: record.name, record.stamp, changed: record.changed, isItem: isItem)
        let shownName = rows[record.name]?.shownName
        guard state.ledger.decision(on: record.name, record.stamp) == .take else {
            if let conflict { conflicts[record.name] = (conflict, shownName) }
            return true
        }
        guard !SyncStamp.isTooFarAhead(record.stamp.time, now: MachineClock.referenceMicroseconds) else {
            notMadeYet(record, of: writer)
            return true
        }
        do {
            let before = received
            let isDone: Bool
            switch record.content {
            case .put(let item, let rest): isDone = try put(record, item, rest, epoch: epoch, of: writer)
            case .deleted: isDone = try delete(record, of: writer)
            }
            if let conflict, received > before { conflicts[record.name] = (conflict, shownName) }
            return isDone
        } catch let refusal as Refusal where [.badParameter, .dataTooLarge, .duplicateItem, .unsupported].contains(refusal.reason) {
            // A failure of one item must not keep the others from being read.
            let isTriedAgain = refusal.reason == .duplicateItem || refusal.reason == .unsupported
            notMade(record, of: writer, refusal.detail ?? refusal.message, isTriedAgain: isTriedAgain)
            if !isTriedAgain { state.refuser = Self.version }
            // Open the circle again: a message that was too large ended the connection on which it was open.
            _ = try circle.open()
            return true
        }
    }

    private mutating func put(
        _ record: SyncRecord, _ item: BackupItem, _ rest: [UInt8], epoch: Int64, of writer: String
    ) throws -> Bool {
        guard rest.count <= ConnectionLimits.secretBytesMax else { throw Refusal(.dataTooLarge, "The item is too large") }
        let rest: SecretBytes? = SecretBytes(copying: rest)
        let known = state.ledger.entries[record.name]?.mark
        switch try circle.client.keychain.put(item, rest: rest, epoch: epoch, name: record.name, replacing: known) {
        case .placed(let mark, let identity, let changed):
            state.ledger.take(SyncedRow(name: record.name, mark: mark, item: identity, changed: changed), record.stamp)
            received += 1
            return true
        case .nameTaken:
            notMade(record, of: writer, "an item with the same name stays on this device; rename or delete that one", isTriedAgain: false)
            state.obstacle = stayingDigest
            return true
        case .changedMeanwhile, .deleted: return false
        }
    }

    private mutating func delete(_ record: SyncRecord, of writer: String) throws -> Bool {
        if let entry = state.ledger.entries[record.name], let mark = entry.mark, let item = entry.item {
            switch try circle.client.keychain.deleteSynchronized(item: item, mark: mark) {
            case .deleted: break
            case .nameTaken: notMade(record, of: writer, "an item that was deleted there stays on this device", isTriedAgain: false)
            case .changedMeanwhile, .placed: return false
            }
        }
        // For a companion it is no date of a row.
        let changed = circle.view.isCompanion ? .min : min(record.changed, listedAt)
        state.ledger.takeDeletion(of: record.name, record.stamp, changed: changed, now: listedAt)
        received += 1
        return true
    }

    /// Reports a change that is dated too far ahead, and has the next run try it again.
    mutating func notMadeYet(_ record: SyncRecord, of writer: String) {
        notMade(record, of: writer, "it is dated more than ten years ahead of this device's clock", isTriedAgain: true)
    }

    private mutating func notMade(_ record: SyncRecord, of writer: String, _ why: String, isTriedAgain: Bool) {
        if isTriedAgain { triesAgain = true }
        guard reported[record.name] == nil else { return }
        let fault = "A change by \(writer) cannot be made here: \(why)"
        reported[record.name] = fault
        faults.append(fault)
    }
}

/// New items of one file for one request.
private struct NewItemBatch {
    let epoch: Int64
    private(set) var records: [SyncRecord] = []
    private(set) var items: [SyncedItem] = []
    private(set) var rests: [UInt8] = []
    private var names: Set<[UInt8]> = []
    private var headerBytes = 0

    init(epoch: Int64) { self.epoch = epoch }

    /// Adds the change of an item if there is room for it and the batch has no other change of that item. Returns whether it did.
    mutating func add(_ record: SyncRecord) -> Bool {
        guard case .put(let item, let rest) = record.content, !names.contains(record.name), items.count < SyncedItem.countMax else {
            return false
        }
        let synced = SyncedItem(item: item, epoch: epoch, name: record.name, restBytes: rest.count)
        guard headerBytes + synced.headerBytes <= Self.headerBytesMax, rests.count + rest.count <= Self.restBytesMax else { return false }
        records.append(record)
        items.append(synced)
        rests += rest
        names.insert(record.name)
        headerBytes += synced.headerBytes
        return true
    }

    /// Less than a message's header, to leave room for what surrounds the items.
    private static let headerBytesMax = ConnectionLimits.headerBytesMax - 2_000
    private static let restBytesMax = ConnectionLimits.secretBytesMax
}

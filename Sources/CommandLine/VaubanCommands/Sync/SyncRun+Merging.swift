import VaubanKeychainClient
import VaubanKeychainWire
import VaubanLinuxHost
import VaubanRefusal
import VaubanSecretBytes
import VaubanSyncModel

/// Applying what the other devices wrote.
extension SyncRun {
    /// Merges the changes of one file, in order. Returns false if an item was changed here in the meantime.
    mutating func merge(_ records: [SyncRecord], epoch: Int64, of writer: String, in origin: ChangeOrigin) throws -> Bool {
        var batch = NewItemBatch(epoch: epoch)
        for record in records {
            if isOfNewItem(record), batch.add(record) { continue }
            guard try put(batch, of: writer, in: origin) else { return false }
            batch = NewItemBatch(epoch: epoch)
            if isOfNewItem(record), batch.add(record) { continue }
            guard try merge(record, epoch: epoch, of: writer, in: origin) else { return false }
        }
        return try put(batch, of: writer, in: origin)
    }

    private func isOfNewItem(_ record: SyncRecord) -> Bool {
        state.ledger.entries[record.name] == nil
            && !SyncStamp.isTooFarAhead(record.stamp.time, now: MachineClock.referenceMicroseconds)
    }

    /// Adds new items: all at once, or one by one if that is refused.
    private mutating func put(_ batch: NewItemBatch, of writer: String, in origin: ChangeOrigin) throws -> Bool {
        if batch.records.count > 1, try putAtOnce(batch, in: origin) { return true }
        for record in batch.records { guard try merge(record, epoch: batch.epoch, of: writer, in: origin) else { return false } }
        return true
    }

    /// Returns false if nothing was added.
    private mutating func putAtOnce(_ batch: NewItemBatch, in origin: ChangeOrigin) throws -> Bool {
        do {
            let rests: SecretBytes? = SecretBytes(copying: batch.rests)
            guard let outcomes = try circle.client.keychain.putNew(batch.items, rests: rests) else { return false }
            for (record, outcome) in zip(batch.records, outcomes) {
                guard case .placed(let mark, let item, let changed, let parts) = outcome else { throw Refusal(.internalError) }
                state.ledger.take(
                    SyncedRow(name: record.name, mark: mark, item: item, changed: changed), record.stamp,
                    noting: parts.map { SyncedVersion(stamp: record.stamp, file: origin.file, parts: $0) })
                received += 1
            }
            return true
        } catch let refusal as Refusal where [.badParameter, .dataTooLarge, .duplicateItem, .unsupported].contains(refusal.reason) {
            _ = try circle.open()
            return false
        }
    }

    /// Merges one change. Returns false if the item was changed here in the meantime.
    /// - Parameter origin: The file that the change is in; nil on a companion, which has no changes of its own.
    mutating func merge(_ record: SyncRecord, epoch: Int64, of writer: String, in origin: ChangeOrigin?) throws -> Bool {
        let before = state.ledger.entries[record.name]
        let isItem = if case .put = record.content { true } else { false }
        let conflict = state.ledger.noteConflict(on: record.name, record.stamp, changed: record.changed, isItem: isItem)
        let merge = conflict.flatMap { conflict in origin.flatMap { state.ledger.merge(on: record.name, record.stamp, conflict, in: $0) } }
        let found = conflict.map { FoundConflict($0, shownName: rows[record.name]?.shownName) }
        let isNewer = state.ledger.decision(on: record.name, record.stamp) == .take
        let isKept =
            origin.map { state.ledger.mustKeep(record.name, replacedBy: record.stamp, changed: record.changed, in: $0) } ?? false
        guard isNewer || merge != nil else {
            if let found { conflicts[record.name] = found }
            return true
        }
        guard !isNewer || !SyncStamp.isTooFarAhead(record.stamp.time, now: MachineClock.referenceMicroseconds) else {
            notMadeYet(record, of: writer)
            return true
        }
        do {
            switch record.content {
            case .deleted: return try apply(resolving: found, on: record.name) { try $0.delete(record, of: writer) }
            case .put(let item, let rest):
                guard rest.count <= ConnectionLimits.secretBytesMax else { throw Refusal(.dataTooLarge, "The item is too large") }
                let rest: SecretBytes? = SecretBytes(copying: rest)
                let outcome = try circle.client.keychain.put(
                    item, rest: rest, epoch: epoch, name: record.name, replacing: state.ledger.entries[record.name]?.mark, merging: merge,
                    keepsReplaced: isKept)
                return try apply(resolving: found, on: record.name) {
                    try $0.note(outcome, of: record, by: writer, in: origin, insteadOf: before)
                }
            }
        } catch let refusal as Refusal where [.badParameter, .dataTooLarge, .duplicateItem, .unsupported].contains(refusal.reason) {
            // Open the circle again: a message that was too large ended the connection on which it was open.
            _ = try circle.open()
            guard isNewer else {
                // An earlier change that cannot be merged loses as a whole.
                if let found { conflicts[record.name] = found }
                return true
            }
            // A failure of one item must not keep the others from being read.
            let isTriedAgain = refusal.reason == .duplicateItem || refusal.reason == .unsupported
            notMade(record, of: writer, refusal.detail ?? refusal.message, isTriedAgain: isTriedAgain)
            if !isTriedAgain { state.refuser = Self.version }
            return true
        } catch {
            // The next run reads the change again, and must find the conflict again.
            state.ledger.takeBack(before, on: record.name)
            throw error
        }
    }

    /// Applies a change, and notes the conflict that the change resolved.
    private mutating func apply(
        resolving found: FoundConflict?, on name: [UInt8], _ change: (inout SyncRun) throws -> Change.Done
    ) throws -> Bool {
        switch try change(&self) {
        case .made(let result):
            if var found {
                found.result = result
                conflicts[name] = found
            }
            return true
        case .notMade: return true
        case .changedMeanwhile: return false
        }
    }

    /// Notes what became of a received item.
    /// - Parameter before: What the ledger had of the item before the conflict was noted.
    private mutating func note(
        _ outcome: VaubanKeychainWire.SyncOutcome, of record: SyncRecord, by writer: String, in origin: ChangeOrigin?,
        insteadOf before: SyncLedger.Entry?
    ) throws -> Change.Done {
        switch outcome {
        case .placed(let mark, let item, let changed, let parts):
            take(record, SyncedRow(name: record.name, mark: mark, item: item, changed: changed), parts: parts, in: origin)
            return .made(nil)
        case .merged(let merged):
            guard let origin else { throw Refusal(.internalError) }
            let row = SyncedRow(name: record.name, mark: merged.mark, item: merged.item, changed: merged.changed)
            let version = SyncedVersion(stamp: record.stamp, file: origin.file, parts: merged.parts)
            switch merged.content {
            case .received: take(record, row, parts: merged.parts, in: origin)
            case .here: state.ledger.keep(record.name, besides: version)
            case .both:
                state.ledger.merge(row, with: record.stamp, noting: version)
                received += 1
                hasMerged = true
            }
            return .made(merged.contested.map { FoundConflict.Result(keepsBoth: merged.content == .both, contested: $0) })
        case .nameTaken:
            notMade(record, of: writer, "an item with the same name stays on this device; rename or delete that one", isTriedAgain: false)
            state.obstacle = stayingDigest
            return .notMade
        case .changedMeanwhile, .deleted:
            state.ledger.takeBack(before, on: record.name)
            return .changedMeanwhile
        }
    }

    private mutating func take(_ record: SyncRecord, _ row: SyncedRow, parts: PartDigests?, in origin: ChangeOrigin?) {
        let version = parts.flatMap { parts in origin.map { SyncedVersion(stamp: record.stamp, file: $0.file, parts: parts) } }
        state.ledger.take(row, record.stamp, noting: version)
        received += 1
    }

    private mutating func delete(_ record: SyncRecord, of writer: String) throws -> Change.Done {
        if let entry = state.ledger.entries[record.name], let mark = entry.mark, let item = entry.item {
            switch try circle.client.keychain.deleteSynchronized(item: item, mark: mark) {
            case .deleted: break
            case .nameTaken:
                notMade(record, of: writer, "an item that was deleted there stays on this device", isTriedAgain: false)
            case .changedMeanwhile, .placed, .merged: return .changedMeanwhile
            }
        }
        // In a file for a companion, `changed` is not the date of a row.
        let changed = circle.view.isCompanion ? .min : min(record.changed, listedAt)
        state.ledger.takeDeletion(of: record.name, record.stamp, changed: changed, now: listedAt)
        received += 1
        return .made(nil)
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

extension SyncRun.Change {
    /// The outcome of another device's change.
    fileprivate enum Done {
        case made(FoundConflict.Result?)
        /// The change could not be made, which was reported.
        case notMade
        case changedMeanwhile
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

import VaubanKeychainClient
import VaubanKeychainWire
import VaubanLinuxHost
import VaubanRefusal
import VaubanSecretBytes
import VaubanSyncModel

/// Putting in place what the other devices wrote.
extension SyncRun {
    /// Merges one change. Returns false if the item was changed here meanwhile.
    mutating func merge(_ record: SyncRecord, epoch: Int64, of writer: String) throws -> Bool {
        guard state.ledger.decision(on: record.name, record.stamp) == .take else { return true }
        guard !SyncStamp.isTooFarAhead(record.stamp.time, now: MachineClock.referenceMicroseconds) else {
            notMadeYet(record, of: writer)
            return true
        }
        do {
            switch record.content {
            case .put(let item, let rest): return try put(record, item, rest, epoch: epoch, of: writer)
            case .deleted: return try delete(record, of: writer)
            }
        } catch let refusal as Refusal where [.badParameter, .dataTooLarge, .duplicateItem, .unsupported].contains(refusal.reason) {
            // One item must not keep the others from being read.
            let isTriedAgain = refusal.reason == .duplicateItem || refusal.reason == .unsupported
            notMade(record, of: writer, refusal.detail ?? refusal.message, isTriedAgain: isTriedAgain)
            // A message that was too large ended the connection, on which the circle was open.
            _ = try circle.open()
            return true
        }
    }

    private mutating func put(
        _ record: SyncRecord, _ item: BackupItem, _ rest: [UInt8], epoch: Int64, of writer: String
    ) throws -> Bool {
        guard rest.count <= ConnectionLimits.secretBytesMax else { throw Refusal(.dataTooLarge, "it is too large") }
        let rest: SecretBytes? = SecretBytes(copying: rest)
        let known = state.ledger.entries[record.name]?.mark
        switch try circle.session.keychain.put(item, rest: rest, epoch: epoch, name: record.name, replacing: known) {
        case .placed(let mark, let identity, let changed):
            state.ledger.take(SyncedRow(name: record.name, mark: mark, item: identity, changed: changed), record.stamp)
            received += 1
            return true
        case .nameTaken:
            notMade(record, of: writer, "an item with the same name stays on this device; rename or delete that one", isTriedAgain: true)
            return true
        case .changedMeanwhile, .deleted: return false
        }
    }

    private mutating func delete(_ record: SyncRecord, of writer: String) throws -> Bool {
        if let entry = state.ledger.entries[record.name], let mark = entry.mark, let item = entry.item {
            switch try circle.session.keychain.deleteSynchronized(item: item, mark: mark) {
            case .deleted: break
            case .nameTaken: notMade(record, of: writer, "an item that was deleted there stays on this device", isTriedAgain: false)
            case .changedMeanwhile, .placed: return false
            }
        }
        state.ledger.takeDeletion(of: record.name, record.stamp)
        received += 1
        return true
    }

    /// Reports a change that is dated too far ahead, and has the next run try it again.
    mutating func notMadeYet(_ record: SyncRecord, of writer: String) {
        notMade(record, of: writer, "it is dated more than ten years ahead of this device's clock", isTriedAgain: true)
    }

    private mutating func notMade(_ record: SyncRecord, of writer: String, _ why: String, isTriedAgain: Bool) {
        if isTriedAgain { triesAgain = true }
        guard reported.insert(record.name).inserted else { return }
        faults.append("A change by \(writer) cannot be made here: \(why)")
    }
}

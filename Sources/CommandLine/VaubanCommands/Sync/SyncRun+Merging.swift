import VaubanKeychainClient
import VaubanKeychainWire
import VaubanRefusal
import VaubanSecretBytes
import VaubanSyncModel

/// Putting in place what the other devices wrote.
extension SyncRun {
    /// Merges one change. Returns false if the item was changed here meanwhile.
    mutating func merge(_ record: SyncRecord, epoch: Int64, of writer: String) throws -> Bool {
        guard state.ledger.decision(on: record.name, record.stamp) == .take else { return true }
        do {
            switch record.content {
            case .put(let item, let rest): return try put(record, item, rest, epoch: epoch, of: writer)
            case .deleted: return try delete(record, of: writer)
            }
        } catch let refusal as Refusal where [.badParameter, .dataTooLarge, .duplicateItem, .unsupported].contains(refusal.reason) {
            // One item must not keep the others from being read.
            notKept(of: writer, refusal.detail ?? refusal.message)
            return true
        }
    }

    private mutating func put(
        _ record: SyncRecord, _ item: BackupItem, _ rest: [UInt8], epoch: Int64, of writer: String
    ) throws -> Bool {
        let rest: SecretBytes? = SecretBytes(copying: rest)
        let known = state.ledger.entries[record.name]?.mark
        switch try circle.session.keychain.put(item, rest: rest, epoch: epoch, name: record.name, replacing: known) {
        case .placed(let mark, let identity):
            let row = SyncedRow(name: record.name, mark: mark, item: identity, changed: record.changed)
            state.ledger.take(row, record.stamp)
            received += 1
            return true
        case .nameTaken:
            notKept(of: writer, "an item with the same name stays on this device; rename or delete that one")
            return true
        case .changedMeanwhile, .deleted: return false
        }
    }

    private mutating func delete(_ record: SyncRecord, of writer: String) throws -> Bool {
        if let mark = state.ledger.entries[record.name]?.mark {
            if rows[record.name]?.mark != mark { try list() }
            guard let row = rows[record.name], row.mark == mark else { return false }
            switch try circle.session.keychain.deleteSynchronized(row: row.row, mark: mark) {
            case .deleted: break
            case .nameTaken: notKept(of: writer, "an item that was deleted there stays on this device")
            case .changedMeanwhile, .placed: return false
            }
        }
        state.ledger.takeDeletion(of: record.name, record.stamp)
        received += 1
        return true
    }

    private mutating func notKept(of writer: String, _ why: String) {
        state.rereads = true
        faults.append("A change by \(writer) cannot be made here: \(why)")
    }
}

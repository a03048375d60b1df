internal import Foundation
internal import GRDB
internal import VaubanLinuxHost

/// The outcome of a write.
package enum WriteOutcome: Hashable, Sendable {
    case written
    /// Another row has the same primary attributes; nothing was written.
    case conflict(StoredRow)
    /// Another request has written a row since it was read; nothing was written.
    case stale
    /// A row would be under a key that is being retired, so nothing was written.
    case retired
}

extension KeychainDatabase {
    package func insert(
        _ row: StoredRow, isRestored: Bool = false, appending addition: LogAddition? = nil
    ) throws(StorageError) -> WriteOutcome {
        try insert([row], isRestored: isRestored, appending: addition)
    }

    /// Inserts all rows or none.
    /// - Parameter isRestored: Whether they come from a backup.
    package func insert(
        _ rows: [StoredRow], isRestored: Bool = false, appending addition: LogAddition? = nil
    ) throws(StorageError) -> WriteOutcome {
        try write { database in
            for row in rows {
                if isClosed(row) { return (.retired, .rollback) }
                if let other = try Self.row(withPrimary: row.blinds.primary, besides: 0, in: database) {
                    return (.conflict(other), .rollback)
                }
                try Self.insert(row, in: database)
                try noteReturn(row.item, isRestored: isRestored, in: database)
            }
            try Self.append(addition, in: database)
            return (.written, .commit)
        }
    }

    /// Writes all changes or none. Also removes the rows in `ended` that still exist.
    package func update(
        _ changes: [RowChange], removing ended: [RowHandle] = [], appending addition: LogAddition? = nil
    ) throws(StorageError) -> WriteOutcome {
        try write { database in
            var grown: [String: Int] = [:]
            for change in changes {
                guard try Self.exists(change.old, in: database) else { return (.stale, .rollback) }
                let row = change.row
                if isClosed(row) { return (.retired, .rollback) }
                if change.changesBlinds,
                    let other = try Self.row(withPrimary: row.blinds.primary, besides: change.old.id, in: database)
                {
                    return (.conflict(other), .rollback)
                }
                if let consumed = change.consuming {
                    guard try Self.exists(consumed, in: database) else { return (.stale, .rollback) }
                    try database.execute(sql: "DELETE FROM history WHERE id = ?", arguments: [consumed.id])
                }
                if let label = change.keeping { grown[label.owner, default: 0] += try Self.keepEarlier(change.old, label, in: database) }
                if let owner = change.newOwner { try Self.giveHistory(of: row.item, to: owner, in: database) }
                try Self.overwrite(change, in: database)
            }
            for handle in ended { try Self.remove(handle, in: database) }
            if changes.contains(where: { $0.newOwner != nil }) { history.withLock { $0.bytes = nil } }
            try makeRoom(for: grown, in: database)
            try Self.append(addition, in: database)
            return (.written, .commit)
        }
    }

    /// Deletes all rows for good or none. Returns false if one was written since it was read.
    package func delete(_ handles: [RowHandle]) throws(StorageError) -> Bool { try delete(handles.map { RowRemoval($0) }) }

    /// Deletes all rows or none. Returns false if a row was written since it was read. The earlier values of an item stay as long as the
    /// deleted item; without one they are deleted too.
    package func delete(_ removals: [RowRemoval], appending addition: LogAddition? = nil) throws(StorageError) -> Bool {
        try write { database in
            var grown: [String: Int] = [:]
            for removal in removals {
                let handle = removal.row
                if !removal.keepsEarlier { try Self.forgetEarlier(of: handle, in: database) }
                try noteDeletion(removal, in: database)
                if let label = removal.keeping { grown[label.owner, default: 0] += try keepDeleted(handle, label, in: database) }
                guard try Self.remove(handle, in: database) else { return (false, .rollback) }
            }
            try makeRoom(for: grown, in: database)
            try Self.append(addition, in: database)
            return (true, .commit)
        }
    }

    /// Quarantines a row that does not open, in a separate transaction. Returns false if the row was written since it was read.
    @discardableResult
    package func quarantine(_ row: StoredRow, _ reason: QuarantineReason, date: Int64) throws(StorageError) -> Bool {
        try write { database in
            let move = """
                INSERT INTO quarantine(date, reason, state, \(Schema.columnNames))
                SELECT ?, ?, ?, \(Schema.columnNames) FROM \(row.place.table) WHERE id = ? AND metadata_binding = ?
                """
            let handle: StatementArguments = [row.id, Data(row.halves.metadataBinding)]
            try database.cachedStatement(sql: move).execute(arguments: [date, reason.rawValue, row.place.rawValue] + handle)
            return (try Self.remove(row.handle, in: database), .commit)
        }
    }

    /// Records the index key of the blinds. Throws if another is recorded for the same purpose.
    package func record(indexKey purpose: Int64, generation: [UInt8]) throws(StorageError) {
        try write { database in
            try database.run("INSERT OR IGNORE INTO index_key(purpose, generation) VALUES (?, ?)", [.number(purpose), .bytes(generation)])
            return ((), .commit)
        }
    }

    /// Returns the number of quarantined rows, for tests and `vauban doctor`.
    package func quarantinedCount() throws(StorageError) -> Int {
        try read { try Int.fetchOne($0, sql: "SELECT count(*) FROM quarantine") ?? 0 }
    }

    // MARK: Parts of a transaction

    /// A constant, since each use looks the prepared statement up by its text.
    private static let insertSQL = "INSERT INTO item(\(Schema.columnNames)) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?)"
    private static let primarySQL = "SELECT \(Column.whole) FROM item WHERE primary_blind = ? AND id <> ?"

    static func insert(_ row: StoredRow, in database: Database) throws {
        try database.run(insertSQL, row.parameters)
        try insertLookups(row.blinds, for: database.lastInsertedRowID, in: database)
    }

    static func row(withPrimary blind: [UInt8], besides id: Int64, in database: Database) throws -> StoredRow? {
        try database.storedRows(primarySQL, parameters: [.bytes(blind), .number(id)], count: 1).first
    }

    /// Returns whether the row still existed as it was read.
    @discardableResult
    private static func remove(_ handle: RowHandle, in database: Database) throws -> Bool {
        let sql = "DELETE FROM \(handle.place.table) WHERE id = ? AND metadata_binding = ?"
        try database.run(sql, [.number(handle.id), .bytes(handle.metadataBinding)])
        return database.changesCount == 1
    }

    static func exists(_ handle: RowHandle, in database: Database) throws -> Bool {
        try database.isTrue(
            "SELECT EXISTS(SELECT 1 FROM \(handle.place.table) WHERE id = ? AND metadata_binding = ?)",
            [.number(handle.id), .bytes(handle.metadataBinding)])
    }

    static func overwrite(_ change: RowChange, in database: Database) throws {
        let row = change.row
        if change.changesBlinds {
            let sql = """
                UPDATE item SET (\(Schema.columnNames)) = (?,?,?,?,?,?,?,?,?,?,?,?,?) WHERE id = ?
                """
            try database.run(sql, row.parameters + [.number(change.old.id)])
            try database.run("DELETE FROM lookup WHERE item = ?", [.number(change.old.id)])
            try insertLookups(row.blinds, for: change.old.id, in: database)
        } else {
            let sql = """
                UPDATE \(change.old.place.table)
                SET (generation, metadata_binding, metadata, secret_binding, wrapped_key, secret) = (?,?,?,?,?,?) WHERE id = ?
                """
            try database.run(sql, [.bytes(row.generation)] + row.halves.parameters + [.number(change.old.id)])
        }
    }

    private static func insertLookups(_ blinds: RowBlinds, for id: Int64, in database: Database) throws {
        for blind in blinds.lookups + (blinds.device?.lookups ?? []) {
            try database.run("INSERT INTO lookup(blind, item) VALUES (?, ?)", [.bytes(blind), .number(id)])
        }
    }
}

extension StoredRow {
    /// The row's values in the order of `Schema.columnNames`.
    var parameters: [StatementParameter] {
        [
            .bytes(item), .number(kind), .number(protection), .bytes(generation), .bytes(blinds.primary),
            StatementParameter(blinds.device?.primary), .bytes(blinds.list), StatementParameter(blinds.device?.list),
        ] + halves.parameters
    }
}

extension RowHalves {
    fileprivate var parameters: [StatementParameter] {
        [.bytes(metadataBinding), .bytes(metadata), .bytes(secretBinding), .bytes(wrappedKey), .bytes(secret)]
    }
}

internal import Foundation
internal import GRDB
internal import VaubanLinuxHost

/// The outcome of a write.
package enum WriteOutcome: Hashable, Sendable {
    case written
    /// Another row has the same primary attributes; nothing was written.
    case conflict(StoredRow)
    /// Someone else has written a row since it was read; nothing was written.
    case stale
    /// A row would be under a key that is being retired; nothing was written.
    case retired
}

extension KeychainDatabase {
    package func insert(_ row: StoredRow) throws(StorageError) -> WriteOutcome {
        try write { database in
            if isClosed(row) { return (.retired, .rollback) }
            if let other = try Self.row(withPrimary: row.blinds.primary, besides: 0, in: database) { return (.conflict(other), .rollback) }
            try Self.insert(row, in: database)
            return (.written, .commit)
        }
    }

    /// Writes all changes or none. Also removes the ended rows that still exist.
    package func update(_ changes: [RowChange], removing ended: [RowHandle] = []) throws(StorageError) -> WriteOutcome {
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
            return (.written, .commit)
        }
    }

    /// Deletes all rows for good or none. Returns false if one was written since it was read.
    package func delete(_ handles: [RowHandle]) throws(StorageError) -> Bool { try delete(handles.map { RowRemoval($0) }) }

    /// Deletes all rows or none, with the earlier values of deleted items. Returns false if a row was written since it was read.
    package func delete(_ removals: [RowRemoval]) throws(StorageError) -> Bool {
        try write { database in
            var grown: [String: Int] = [:]
            for removal in removals {
                let handle = removal.row
                if handle.place == .item { try Self.forgetEarlier(of: handle, in: database) }
                if let label = removal.keeping { grown[label.owner, default: 0] += try keepDeleted(handle, label, in: database) }
                guard try Self.remove(handle, in: database) else { return (false, .rollback) }
            }
            try makeRoom(for: grown, in: database)
            return (true, .commit)
        }
    }

    /// Quarantines a row that does not open, in a transaction of its own. Returns false if someone has written it since.
    @discardableResult
    package func quarantine(_ row: StoredRow, _ reason: QuarantineReason, date: Int64) throws(StorageError) -> Bool {
        try write { database in
            let move = """
                INSERT INTO quarantine(date, reason, state, \(Schema.columnNames))
                SELECT ?, ?, ?, \(Schema.columnNames) FROM \(row.place.table) WHERE id = ? AND metadata_binding = ?
                """
            let handle: StatementArguments = [row.id, Data(row.halves.metadataBinding)]
            try database.cachedStatement(sql: move).execute(arguments: [date, reason.rawValue, row.place.rawValue] + handle)
            let remove = "DELETE FROM \(row.place.table) WHERE id = ? AND metadata_binding = ?"
            try database.cachedStatement(sql: remove).execute(arguments: handle)
            return (database.changesCount == 1, .commit)
        }
    }

    /// Records the index key of the blinds. Throws if another is recorded for the same purpose.
    package func record(indexKey purpose: Int64, generation: [UInt8]) throws(StorageError) {
        try write { database in
            let statement = try database.cachedStatement(sql: "INSERT OR IGNORE INTO index_key(purpose, generation) VALUES (?, ?)")
            try statement.execute(arguments: [purpose, Data(generation)])
            return ((), .commit)
        }
    }

    /// Returns the number of quarantined rows, for tests and `vauban doctor`.
    package func quarantinedCount() throws(StorageError) -> Int {
        try read { try Int.fetchOne($0, sql: "SELECT count(*) FROM quarantine") ?? 0 }
    }

    // MARK: Parts of a transaction

    static func insert(_ row: StoredRow, in database: Database) throws {
        let sql = "INSERT INTO item(\(Schema.columnNames)) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?)"
        try database.cachedStatement(sql: sql).execute(arguments: row.arguments)
        try insertLookups(row.blinds, for: database.lastInsertedRowID, in: database)
    }

    static func row(withPrimary blind: [UInt8], besides id: Int64, in database: Database) throws -> StoredRow? {
        let sql = "SELECT \(Column.whole) FROM item WHERE primary_blind = ? AND id <> ?"
        return try Row.fetchOne(try database.cachedStatement(sql: sql), arguments: [Data(blind), id]).map(StoredRow.init)
    }

    /// Returns whether the row existed as it was read.
    @discardableResult
    private static func remove(_ handle: RowHandle, in database: Database) throws -> Bool {
        let statement = try database.cachedStatement(sql: "DELETE FROM \(handle.place.table) WHERE id = ? AND metadata_binding = ?")
        try statement.execute(arguments: [handle.id, Data(handle.metadataBinding)])
        return database.changesCount == 1
    }

    static func exists(_ handle: RowHandle, in database: Database) throws -> Bool {
        let statement = try database.cachedStatement(
            sql: "SELECT EXISTS(SELECT 1 FROM \(handle.place.table) WHERE id = ? AND metadata_binding = ?)")
        return try Bool.fetchOne(statement, arguments: [handle.id, Data(handle.metadataBinding)]) ?? false
    }

    static func overwrite(_ change: RowChange, in database: Database) throws {
        let row = change.row
        if change.changesBlinds {
            let sql = """
                UPDATE item SET (\(Schema.columnNames)) = (?,?,?,?,?,?,?,?,?,?,?,?,?) WHERE id = ?
                """
            try database.cachedStatement(sql: sql).execute(arguments: row.arguments + [change.old.id])
            try database.cachedStatement(sql: "DELETE FROM lookup WHERE item = ?").execute(arguments: [change.old.id])
            try insertLookups(row.blinds, for: change.old.id, in: database)
        } else {
            let sql = """
                UPDATE \(change.old.place.table)
                SET (generation, metadata_binding, metadata, secret_binding, wrapped_key, secret) = (?,?,?,?,?,?) WHERE id = ?
                """
            let generation: StatementArguments = [Data(row.generation)]
            try database.cachedStatement(sql: sql).execute(arguments: generation + row.halves.arguments + [change.old.id])
        }
    }

    private static func insertLookups(_ blinds: RowBlinds, for id: Int64, in database: Database) throws {
        for blind in blinds.lookups + (blinds.device?.lookups ?? []) {
            try database.cachedStatement(sql: "INSERT INTO lookup(blind, item) VALUES (?, ?)").execute(arguments: [Data(blind), id])
        }
    }
}

extension StoredRow {
    /// In the order of `Schema.columnNames`.
    var arguments: StatementArguments {
        let front: StatementArguments = [
            Data(item), kind, protection, Data(generation), Data(blinds.primary), (blinds.device?.primary).map { Data($0) },
            Data(blinds.list), (blinds.device?.list).map { Data($0) },
        ]
        return front + halves.arguments
    }
}

extension RowHalves {
    fileprivate var arguments: StatementArguments {
        [Data(metadataBinding), Data(metadata), Data(secretBinding), Data(wrappedKey), Data(secret)]
    }
}

// Rows by the class key that wraps them: counting them, moving them to another key, and removing those of a destroyed key.

internal import Foundation
internal import GRDB
internal import VaubanLinuxHost

/// The rows of one class under one generation of its key.
package struct RowGeneration: Hashable, Sendable {
    /// The class's number, as in the column `protection`.
    package let protection: Int64
    package let generation: [UInt8]
    package let count: Int

    package init(protection: Int64, generation: [UInt8], count: Int = 0) {
        self.protection = protection
        self.generation = generation
        self.count = count
    }
}

extension KeychainDatabase {
    /// Returns every class and generation that has rows.
    package func generations() throws(StorageError) -> [RowGeneration] { try generations(in: "item") }

    /// Returns the same for earlier values and deleted items.
    package func historyGenerations() throws(StorageError) -> [RowGeneration] { try generations(in: "history") }

    /// Returns the same for quarantined rows.
    package func quarantinedGenerations() throws(StorageError) -> [RowGeneration] { try generations(in: "quarantine") }

    private func generations(in table: String) throws(StorageError) -> [RowGeneration] {
        try read { try Self.generations(in: table, $0) }
    }

    /// The tables that contain rows.
    private static let tables = ["item", "quarantine", "history"]

    static func generations(in table: String, _ database: Database) throws -> [RowGeneration] {
        let sql = "SELECT protection, generation, count(*) FROM \(table) GROUP BY protection, generation"
        var generations: [RowGeneration] = []
        try database.forEachRow(sql) { row in
            generations.append(RowGeneration(protection: row.number(0), generation: row.bytes(1), count: Int(row.number(2))))
            return true
        }
        return generations
    }

    /// Returns the next rows of a generation after the row `id`, as `rows(of:after:count:bytesMax:)` does for a selection.
    package func rows(of generation: RowGeneration, after id: Int64, count: Int, bytesMax: Int) throws(StorageError) -> [StoredRow] {
        try read { database in
            let sql = "SELECT \(Column.whole) FROM item WHERE protection = ? AND generation = ? AND id > ? ORDER BY id"
            let parameters: [StatementParameter] = [.number(generation.protection), .bytes(generation.generation), .number(id)]
            return try database.storedRows(sql, parameters: parameters, count: count, bytesMax: bytesMax)
        }
    }

    /// Returns the present row with a number.
    package func row(_ id: Int64) throws(StorageError) -> StoredRow? {
        try read { database in
            try database.storedRows("SELECT \(Column.whole) FROM item WHERE id = ?", parameters: [.number(id)], count: 1).first
        }
    }

    /// Writes the rows that were not written by others since they were read, and returns their number.
    package func move(_ changes: [RowChange]) throws(StorageError) -> Int {
        guard !changes.isEmpty else { return 0 }
        return try write { database in
            var written = 0
            for change in changes where try Self.exists(change.old, in: database) && !isClosed(change.row) {
                try Self.overwrite(change, in: database)
                written += 1
            }
            return (written, .commit)
        }
    }

    /// Closes those of these generations that have no row, quarantined rows included, and returns them. Nothing is written under them from
    /// then on; a request that began under one starts over.
    package func close(_ generations: [RowGeneration]) throws(StorageError) -> [RowGeneration] {
        guard !generations.isEmpty else { return [] }
        // Done in a write transaction, so that every write either precedes it or finds the generation closed.
        return try write { database in
            let used = try Self.tables.flatMap { try Self.generations(in: $0, database) }
            let unused = generations.filter { wanted in
                !used.contains { $0.protection == wanted.protection && $0.generation == wanted.generation }
            }
            closed.withLock { $0.formUnion(unused.map { RowGeneration(protection: $0.protection, generation: $0.generation) }) }
            return (unused, .commit)
        }
    }

    /// Returns the path of a database file that was set aside and is still here, whose rows may need older class keys; nil if there is
    /// none.
    package func fileSetAside() throws(StorageError) -> String? { try withDamageDetection { try file.firstSetAside() } }

    func isClosed(_ row: StoredRow) -> Bool {
        closed.withLock { $0.contains(RowGeneration(protection: row.protection, generation: row.generation)) }
    }

    /// Removes one row that can no longer be opened. Returns false if it was written since it was read.
    package func remove(_ handle: RowHandle) throws(StorageError) -> Bool { try delete([RowRemoval(handle, cause: .loss)]) }

    /// Removes all rows of a generation, quarantined ones included.
    package func remove(_ generation: RowGeneration) throws(StorageError) {
        try write { database in
            let arguments: StatementArguments = [generation.protection, Data(generation.generation)]
            for table in Self.tables {
                try database.execute(sql: "DELETE FROM \(table) WHERE protection = ? AND generation = ?", arguments: arguments)
            }
            _ = try Self.removeOrphanedHistory(in: database)
            return ((), .commit)
        }
    }

    /// Removes everything and returns true if the blinds were made with this index key. If two requests find the keychain erased, the
    /// second removes nothing that was added after the first.
    package func empty(ifIndexKey purpose: Int64, is generation: [UInt8]) throws(StorageError) -> Bool {
        let isRecorded = { (database: Database) in
            let sql = "SELECT EXISTS(SELECT 1 FROM index_key WHERE purpose = ? AND generation = ?)"
            return try database.isTrue(sql, [.number(purpose), .bytes(generation)])
        }
        guard try read(isRecorded) else { return false }
        // If this process is killed after the database is emptied, nothing shows any more that the copy has to be removed.
        try forgetVerified()
        let isEmptied = try write { database in
            guard try isRecorded(database) else { return (false, .rollback) }
            for table in ["lookup"] + Self.tables + ["index_key", "setting", "tombstone", "log", "log_series", "log_uses"] {
                try database.execute(sql: "DELETE FROM \(table)")
            }
            return (true, .commit)
        }
        if isEmptied {
            indexKeys.withLock { $0 = [:] }
            history.withLock { $0 = HistoryState() }
            tombstones.withLock { $0 = false }
            // Another request may have made a copy meanwhile.
            try forgetVerified()
            try forgetOldPages(isEmpty: true)
        }
        return isEmptied
    }
}

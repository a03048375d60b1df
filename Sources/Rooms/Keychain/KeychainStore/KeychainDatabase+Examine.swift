// The queries of a check of the whole database: the file's consistency, all rows, their look-ups, and the quarantine. Like this whole
// module, they use no keys.

internal import Foundation
internal import GRDB

/// The condition of the file, independent of the content of its rows.
package enum FileCondition: Hashable, Sendable {
    case whole
    /// SQLite's indexes did not match the rows and were rebuilt.
    case indexesRebuilt
    /// Pages are damaged, or the indexes cannot be rebuilt. The next request checks the whole file and may set it aside.
    case damaged
}

/// Rows that were quarantined for one reason.
package struct QuarantinedRows: Hashable, Sendable {
    package let reason: QuarantineReason
    package let count: Int
    /// When the first of them was quarantined, in microseconds since the reference date.
    package let since: Int64
}

extension KeychainDatabase {
    /// Checks every page and index on a separate connection, so that no request waits for it. Stops at the first error, since the
    /// consequence does not depend on their number.
    package func examineFile() throws(StorageError) -> FileCondition {
        if try passes("PRAGMA integrity_check(1)") { return .whole }
        if try passes("PRAGMA quick_check(1)") {
            do throws(StorageError) {
                try rebuildIndexes()
                if try passes("PRAGMA integrity_check(1)") { return .indexesRebuilt }
            } catch {}
        }
        suspect()
        return .damaged
    }

    private func passes(_ check: String) throws(StorageError) -> Bool {
        try withDamageDetection {
            do {
                return try withOwnConnection { queue in try queue.unsafeRead { try String.fetchOne($0, sql: check) } == "ok" }
            } catch let error as DatabaseError where error.isDamage {
                return false
            }
        }
    }

    /// Calls `body` with a separate read-only connection, for long work.
    func withOwnConnection<Value>(_ body: (DatabaseQueue) throws -> Value) throws -> Value {
        var configuration = DatabaseFile.configuration()
        configuration.readonly = true
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        defer { try? queue.close() }
        return try body(queue)
    }

    package func rowCount() throws(StorageError) -> Int {
        try read { try Int.fetchOne($0, sql: "SELECT count(*) FROM item") ?? 0 }
    }

    /// Returns the next rows of any kind after the row `id`.
    package func rows(after id: Int64, count: Int, bytesMax: Int) throws(StorageError) -> [StoredRow] {
        try read { database in
            let sql = "SELECT \(Column.whole) FROM item WHERE id > ? ORDER BY id"
            return try database.storedRows(sql, parameters: [.number(id)], count: count, bytesMax: bytesMax)
        }
    }

    /// Returns the blinds by which a row is looked up.
    package func lookups(of id: Int64) throws(StorageError) -> Set<[UInt8]> {
        try read { database in
            var blinds: Set<[UInt8]> = []
            try database.forEachRow("SELECT blind FROM lookup WHERE item = ?", parameters: [.number(id)]) { row in
                blinds.insert(row.bytes(0))
                return true
            }
            return blinds
        }
    }

    /// Removes look-ups that refer to no row, and returns their number.
    package func removeOrphanedLookups() throws(StorageError) -> Int {
        let orphaned = "WHERE NOT EXISTS (SELECT 1 FROM item WHERE item.id = lookup.item)"
        let count = try read { try Int.fetchOne($0, sql: "SELECT count(*) FROM lookup \(orphaned)") ?? 0 }
        guard count > 0 else { return 0 }
        return try write { database in
            try database.execute(sql: "DELETE FROM lookup \(orphaned)")
            return (database.changesCount, .commit)
        }
    }

    // MARK: Quarantine

    /// Returns the quarantined rows by reason. A reason that this version does not know counts as unreadable content.
    package func quarantined() throws(StorageError) -> [QuarantinedRows] {
        try read { database in
            var content: [QuarantinedRows] = []
            try database.forEachRow("SELECT reason, count(*), min(date) FROM quarantine GROUP BY reason ORDER BY reason") { row in
                let reason = row.text(0).flatMap(QuarantineReason.init)
                content.append(QuarantinedRows(reason: reason ?? .content, count: Int(row.number(1)), since: row.number(2)))
                return true
            }
            return content
        }
    }

    /// Returns the next quarantined rows after number `id`, with that number: at most `count` and not many more bytes than `bytesMax`.
    package func quarantinedRows(after id: Int64, count: Int, bytesMax: Int) throws(StorageError) -> [StoredRow] {
        try read { database in
            let columns = Column.whole(of: "quarantine")
            let sql = "SELECT \(columns), state FROM quarantine WHERE id > ? ORDER BY id"
            return try database.storedRows(sql, parameters: [.number(id)], count: count, bytesMax: bytesMax) { row in
                StoredRow(row, place: RowPlace(rawValue: row.number(Column.state)) ?? .item)
            }
        }
    }

    /// Returns a quarantined row to its place: an item to the items, found by `blinds`; an earlier value or a deleted item to the history,
    /// with the label. Returns false if another row has its place, or if it no longer exists.
    package func readmit(_ row: StoredRow, blinds: RowBlinds, as label: HistoryLabel) throws(StorageError) -> Bool {
        try write { database in
            let whole = StoredRow(
                item: row.item, kind: row.kind, protection: row.protection, generation: row.generation, blinds: blinds, halves: row.halves)
            if isClosed(whole) { return (false, .rollback) }
            let remove = "DELETE FROM quarantine WHERE id = ? AND metadata_binding = ?"
            try database.execute(sql: remove, arguments: [row.id, Data(row.halves.metadataBinding)])
            guard database.changesCount == 1 else { return (false, .rollback) }
            guard row.place == .item else {
                try insertHistory(row, label, in: database)
                return (true, .commit)
            }
            guard try Self.hasRoom(for: whole, in: database) else { return (false, .rollback) }
            try Self.insert(whole, in: database)
            return (true, .commit)
        }
    }

    static func hasRoom(for row: StoredRow, in database: Database) throws -> Bool {
        let taken = "SELECT EXISTS(SELECT 1 FROM item WHERE item = ? OR primary_blind = ? OR device_blind = ?)"
        let device = row.blinds.device.map { Data($0.primary) }
        return try Bool.fetchOne(database, sql: taken, arguments: [Data(row.item), Data(row.blinds.primary), device]) == false
    }
}

// Earlier values and deleted items (Specs/history.md): whole rows, moved unchanged, so that nothing is decrypted. No search, count or
// reference reads this table.

internal import Foundation
internal import GRDB
internal import VaubanLinuxHost

/// The label of a row in the history.
package struct HistoryLabel: Hashable, Sendable {
    /// When it was replaced or deleted, in microseconds since the reference date.
    package let date: Int64
    /// The access group against whose allowance the row counts.
    package let owner: String

    package init(date: Int64, owner: String) {
        self.date = date
        self.owner = owner
    }
}

/// An earlier value or a deleted item.
package struct HistoryRow: Hashable, Sendable {
    package let row: StoredRow
    package let date: Int64
}

/// A row to delete, with the label under which it is kept as a deleted item; nil erases it.
package struct RowRemoval: Hashable, Sendable {
    package let row: RowHandle
    package let keeping: HistoryLabel?
    package let cause: Cause
    /// Whether the item is known not to be synchronizable.
    package let isLocal: Bool

    /// Whether the earlier values of the item are kept as long as the deleted item.
    var keepsEarlier: Bool { keeping != nil }

    /// Why the row is removed.
    package enum Cause: Hashable, Sendable {
        case user
        /// Another device deleted the item at its user's request.
        case otherDevice
        /// It can no longer be opened.
        case loss
    }

    package init(_ row: RowHandle, keeping: HistoryLabel? = nil, cause: Cause = .user, isLocal: Bool = false) {
        self.row = row
        self.keeping = keeping
        self.cause = cause
        self.isLocal = isLocal
    }
}

// MARK: Reading

extension KeychainDatabase {
    private static let columns = "\(Column.whole(of: "history")), state, date"

    /// Returns the earlier values of an item, the newest first.
    package func earlierRows(of item: [UInt8]) throws(StorageError) -> [HistoryRow] {
        try keptRows("item = ? AND state = 1 ORDER BY id DESC", [.bytes(item)])
    }

    /// Returns the next deleted items of all owners after number `id`, at most `count` and not many more bytes than `bytesMax`; an empty
    /// list means the end.
    package func deletedRows(after id: Int64, count: Int, bytesMax: Int = .max) throws(StorageError) -> [HistoryRow] {
        try keptRows("state = 2 AND id > ? ORDER BY id LIMIT ?", [.number(id), .number(Int64(count))], bytesMax: bytesMax)
    }

    /// Returns the deleted item with this identity.
    package func deletedRow(of item: [UInt8]) throws(StorageError) -> HistoryRow? {
        try keptRows("item = ? AND state = 2 ORDER BY id DESC LIMIT 1", [.bytes(item)]).first
    }

    /// Returns the next rows of the history after number `id`, of one class and generation if given.
    package func historyRows(of generation: RowGeneration? = nil, after id: Int64, count: Int, bytesMax: Int) throws(StorageError)
        -> [StoredRow]
    {
        try read { database in
            let condition = generation == nil ? "" : "AND protection = ? AND generation = ?"
            let sql = "SELECT \(Self.columns) FROM history WHERE id > ? \(condition) ORDER BY id"
            let which: [StatementParameter] = generation.map { [.number($0.protection), .bytes($0.generation)] } ?? []
            return try database.storedRows(sql, parameters: [.number(id)] + which, count: count, bytesMax: bytesMax) { HistoryRow($0).row }
        }
    }

    private func keptRows(
        _ condition: String, _ parameters: [StatementParameter], bytesMax: Int = .max
    ) throws(StorageError) -> [HistoryRow] {
        try read { database in
            var rows: [HistoryRow] = []
            var bytes = 0
            try database.forEachRow("SELECT \(Self.columns) FROM history WHERE \(condition)", parameters: parameters) { row in
                let kept = HistoryRow(row)
                rows.append(kept)
                bytes += kept.row.countedBytes
                return bytes < bytesMax
            }
            return rows
        }
    }
}

extension HistoryRow {
    init(_ row: RowColumns) {
        self.init(row: StoredRow(row, place: row.number(Column.state) == 2 ? .deleted : .earlier), date: row.number(Column.date))
    }
}

// MARK: Changing the history

extension KeychainDatabase {
    /// Whether earlier values and deleted items are kept.
    package var keepsHistory: Bool { history.withLock(\.isOn) }

    /// Sets whether earlier values and deleted items are kept from now on. Existing ones stay.
    package func setKeepsHistory(_ isOn: Bool) throws(StorageError) {
        try write { database in
            let sql = "INSERT INTO setting(name, value) VALUES ('history', ?) ON CONFLICT(name) DO UPDATE SET value = excluded.value"
            try database.execute(sql: sql, arguments: [isOn ? 1 : 0])
            return ((), .commit)
        }
        history.withLock { $0.isOn = isOn }
    }

    /// Returns a deleted item to the items, found by `blinds`. Returns a conflict if its name is taken.
    package func undelete(_ row: StoredRow, blinds: RowBlinds, appending addition: LogAddition? = nil) throws(StorageError) -> WriteOutcome
    {
        try write { database in
            let whole = StoredRow(
                item: row.item, kind: row.kind, protection: row.protection, generation: row.generation, blinds: blinds, halves: row.halves)
            if isClosed(whole) { return (.retired, .rollback) }
            try database.execute(
                sql: "DELETE FROM history WHERE id = ? AND state = 2 AND metadata_binding = ?",
                arguments: [row.id, Data(row.halves.metadataBinding)])
            guard database.changesCount == 1 else { return (.stale, .rollback) }
            if let other = try Self.row(withPrimary: blinds.primary, besides: 0, in: database) { return (.conflict(other), .rollback) }
            guard try Self.hasRoom(for: whole, in: database) else { return (.stale, .rollback) }
            try Self.insert(whole, in: database)
            try noteReturn(row.item, in: database)
            try Self.append(addition, in: database)
            return (.written, .commit)
        }
    }

    /// Erases the earlier values of one item and returns their number.
    package func clearEarlier(of item: [UInt8]) throws(StorageError) -> Int {
        try clear("item = ? AND state = 1", [Data(item)])
    }

    /// Erases all earlier values and deleted items of these owners, or of all, and returns their number.
    package func clearHistory(of owners: [String]?) throws(StorageError) -> Int {
        guard let owners else { return try clear("TRUE", []) }
        var count = 0
        for owner in owners { count += try clear("owner = ?", [owner]) }
        return count
    }

    private func clear(_ condition: String, _ arguments: StatementArguments) throws(StorageError) -> Int {
        let count = try write { database in
            try database.execute(sql: "DELETE FROM history WHERE \(condition)", arguments: arguments)
            return (database.changesCount, .commit)
        }
        // Older pages in the log must not outlive a deliberate erasure. A log that is in use is truncated later.
        if count > 0 { try? forgetOldPages() }
        return count
    }

    /// Erases expired deleted items. Reads nothing if this process knows that there are none.
    /// - Parameters:
    ///   - now: The wall clock, in microseconds since the reference date.
    ///   - boot: The clock that includes sleep and cannot be set, in nanoseconds since the boot.
    package func purgeExpired(now: Int64, boot: UInt64) throws(StorageError) {
        let time = history.withLock { $0.advance(now: now, boot: Int64(boot / 1000)) }
        let end = time - HistoryLimits.deletedMicroseconds
        while let oldest = history.withLock(\.oldestDeleted), oldest <= end {
            let next = try write { database in
                let expired = "SELECT id FROM history WHERE state = 2 AND date <= ? ORDER BY date, id LIMIT \(HistoryLimits.purgedRowsMax)"
                try Self.removeDeleted(expired, [end], in: database)
                return (try HistoryState.oldestDeleted(database), .commit)
            }
            history.withLock { $0.oldestDeleted = next }
        }
        if let (time, isEarlier) = history.withLock({ $0.timeToStore }) { try store(time, isEarlier: isEarlier) }
    }

    private func store(_ time: Int64, isEarlier: Bool) throws(StorageError) {
        try write { database in
            try Self.store(time, in: database)
            // The wall clock was ahead, so these were not deleted in the future.
            if isEarlier {
                try database.execute(sql: "UPDATE history SET date = ? WHERE state = 2 AND date > ?", arguments: [time, time])
            }
            return ((), .commit)
        }
        history.withLock { state in
            state.storedTime = time
            if isEarlier { state.oldestDeleted = state.oldestDeleted.map { min($0, time) } }
        }
    }

    /// Removes earlier values whose item neither exists nor is kept as a deleted item. Returns their number.
    package func removeOrphanedHistory() throws(StorageError) -> Int {
        try write { database in (try Self.removeOrphanedHistory(in: database), .commit) }
    }
}

// MARK: Parts of a transaction

extension KeychainDatabase {
    private static let bytes = "512 + length(blinds) + length(metadata) + length(wrapped_key) + length(secret)"

    private static func copy(_ handle: RowHandle, to place: RowPlace, as label: HistoryLabel, in database: Database) throws -> Int {
        let sql = """
            INSERT INTO history(state, date, owner, bytes, \(Schema.columnNames))
            SELECT ?, ?, ?, \(bytes), \(Schema.columnNames) FROM item WHERE id = ? AND metadata_binding = ?
            RETURNING bytes
            """
        let arguments: StatementArguments = [place.rawValue, label.date, label.owner, handle.id, Data(handle.metadataBinding)]
        return try Int.fetchOne(try database.cachedStatement(sql: sql), arguments: arguments) ?? 0
    }

    /// Keeps an item's present row as an earlier value and returns its bytes.
    static func keepEarlier(_ handle: RowHandle, _ label: HistoryLabel, in database: Database) throws -> Int {
        let bytes = try copy(handle, to: .earlier, as: label, in: database)
        let older = """
            DELETE FROM history WHERE id IN (
                SELECT history.id FROM history JOIN item ON item.item = history.item
                WHERE item.id = ? AND history.state = 1 ORDER BY history.id DESC LIMIT -1 OFFSET \(HistoryLimits.valuesMax))
            """
        try database.cachedStatement(sql: older).execute(arguments: [handle.id])
        return bytes
    }

    private static func store(_ time: Int64, in database: Database) throws {
        let sql = "INSERT INTO setting(name, value) VALUES ('retention', ?) ON CONFLICT(name) DO UPDATE SET value = excluded.value"
        try database.execute(sql: sql, arguments: [time])
    }

    /// Keeps an item's row as a deleted item and returns its bytes.
    func keepDeleted(_ handle: RowHandle, _ given: HistoryLabel, in database: Database) throws -> Int {
        let (label, timeToStore) = history.withLock { $0.deletion(given) }
        if let timeToStore { try Self.store(timeToStore, in: database) }
        let bytes = try Self.copy(handle, to: .deleted, as: label, in: database)
        let older = """
            SELECT history.id FROM history JOIN item ON item.primary_blind = history.primary_blind
            WHERE item.id = ? AND history.state = 2 ORDER BY history.id DESC LIMIT -1 OFFSET \(HistoryLimits.valuesMax)
            """
        try Self.removeDeleted(older, [handle.id], in: database)
        history.withLock { $0.oldestDeleted = min($0.oldestDeleted ?? label.date, label.date) }
        return bytes
    }

    /// Removes the earlier values of an item, or of a deleted item, that is being deleted.
    static func forgetEarlier(of handle: RowHandle, in database: Database) throws {
        let item: String
        switch handle.place {
        case .item: item = "SELECT item FROM item WHERE id = ? AND metadata_binding = ?"
        case .deleted:
            // The item may exist again, with these earlier values.
            item = """
                SELECT item FROM history AS deleted WHERE id = ? AND metadata_binding = ?
                    AND NOT EXISTS (SELECT 1 FROM item WHERE item.item = deleted.item)
                """
        case .earlier: return
        }
        let sql = "DELETE FROM history WHERE state = 1 AND item = (\(item))"
        try database.cachedStatement(sql: sql).execute(arguments: [handle.id, Data(handle.metadataBinding)])
    }

    /// Removes the deleted items whose numbers a query selects, with their earlier values.
    private static func removeDeleted(_ numbers: String, _ arguments: StatementArguments, in database: Database) throws {
        let earlier = """
            DELETE FROM history WHERE state = 1 AND item IN (SELECT item FROM history WHERE id IN (\(numbers)))
                AND NOT EXISTS (SELECT 1 FROM item WHERE item.item = history.item)
            """
        try database.cachedStatement(sql: earlier).execute(arguments: arguments)
        try database.cachedStatement(sql: "DELETE FROM history WHERE id IN (\(numbers))").execute(arguments: arguments)
    }

    static func giveHistory(of item: [UInt8], to owner: String, in database: Database) throws {
        try database.cachedStatement(sql: "UPDATE history SET owner = ? WHERE item = ?").execute(arguments: [owner, Data(item)])
    }

    /// Returns a row to the history from which it was quarantined.
    func insertHistory(_ row: StoredRow, _ given: HistoryLabel, in database: Database) throws {
        var label = given
        if row.place == .deleted {
            let (dated, timeToStore) = history.withLock { $0.deletion(given) }
            if let timeToStore { try Self.store(timeToStore, in: database) }
            history.withLock { $0.oldestDeleted = min($0.oldestDeleted ?? dated.date, dated.date) }
            label = dated
        }
        let sql = """
            INSERT INTO history(state, date, owner, bytes, \(Schema.columnNames)) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)
            """
        let halves = row.halves
        let bytes = 512 + row.blinds.list.count + halves.metadata.count + halves.wrappedKey.count + halves.secret.count
        let front: [StatementParameter] = [.number(row.place.rawValue), .number(label.date), .text(label.owner), .number(Int64(bytes))]
        try database.run(sql, front + row.parameters)
    }

    static func removeOrphanedHistory(in database: Database) throws -> Int {
        try database.execute(
            sql: """
                DELETE FROM history WHERE state = 1 AND NOT EXISTS (SELECT 1 FROM item WHERE item.item = history.item)
                    AND NOT EXISTS (SELECT 1 FROM quarantine WHERE quarantine.item = history.item AND quarantine.state = 0)
                    AND NOT EXISTS (SELECT 1 FROM history AS deleted WHERE deleted.item = history.item AND deleted.state = 2)
                """)
        return database.changesCount
    }

    /// Enforces each owner's allowance and the total. Removes the oldest rows of the largest owner first, so that no owner displaces the
    /// rows of one that has fewer.
    func makeRoom(for grown: [String: Int], in database: Database) throws {
        guard !grown.isEmpty else { return }
        var known = history.withLock(\.bytes)
        for (owner, bytes) in grown { known?[owner, default: 0] += bytes }
        // The sum in memory is an upper bound, since removed rows are not subtracted.
        if known.map(HistoryLimits.isExceeded) ?? true {
            known = try HistoryAllowance.hold(database)
        }
        history.withLock { $0.bytes = known }
    }
}

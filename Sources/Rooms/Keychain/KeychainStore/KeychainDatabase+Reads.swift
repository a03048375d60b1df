internal import GRDB

extension KeychainDatabase {
    /// Returns the next rows of a selection after the row `id`, at most `count` and not many more bytes than `bytesMax`; an empty list
    /// means the end. The rows are copies, so nothing of the database is locked afterwards, when the user may be prompted.
    package func rows(of selection: RowSelection, after id: Int64, count: Int, bytesMax: Int) throws(StorageError) -> [StoredRow] {
        try read { database in
            var rows: [StoredRow] = []
            var bytes = 0
            try Self.scan(selection, after: id, in: database, query: RowQuery.whole) { row in
                let stored = StoredRow(row)
                rows.append(stored)
                bytes += stored.countedBytes
                return rows.count < count && bytes < bytesMax
            }
            return rows
        }
    }

    /// Returns the handles of all rows of a selection.
    package func handles(of selection: RowSelection) throws(StorageError) -> [RowHandle] {
        var handles: [RowHandle] = []
        try forEachHandle(of: selection) { handle in
            handles.append(handle)
            return true
        }
        return handles
    }

    /// Calls `body` with the handles of the rows of a selection until it returns false.
    package func forEachHandle(of selection: RowSelection, _ body: (RowHandle) -> Bool) throws(StorageError) {
        try read { database in
            try Self.scan(selection, after: 0, in: database, query: RowQuery.handles) { row in
                body(RowHandle(id: row.number(Column.id), metadataBinding: row.bytes(Column.metadataBinding)))
            }
        }
    }

    /// Returns whether the kind has a row that is only in the first-unlock index.
    package func hasRowsOutsideDeviceIndex(kind: Int64) throws(StorageError) -> Bool {
        try read { database in
            // The unary plus keeps SQLite from using an index that would read the rows of all kinds.
            try database.isTrue("SELECT EXISTS(SELECT 1 FROM item WHERE kind = ? AND +device_blind IS NULL)", [.number(kind)])
        }
    }

    /// Returns the generations of the index keys that this database was written with. A missing one was never used.
    package func indexKeyGenerations() throws(StorageError) -> [Int64: [UInt8]] {
        try read { database in
            var generations: [Int64: [UInt8]] = [:]
            try database.forEachRow("SELECT purpose, generation FROM index_key") { row in
                generations[row.number(0)] = row.bytes(1)
                return true
            }
            return generations
        }
    }

    /// Returns the selection with the rarest of its `lookups` as its `lookup`, so that a search that reads it in batches counts only once.
    package func narrowed(_ selection: RowSelection) throws(StorageError) -> RowSelection {
        guard selection.item == nil, selection.lookup == nil, selection.lookups.count > 1 else { return selection }
        var narrowed = selection
        narrowed.lookup = try read { database in try Self.rarest(of: selection.lookups, in: database) }
        return narrowed
    }

    /// How many rows of each blind are counted first, and by how much more if each blind has as many.
    private static let countedFirst: Int64 = 64
    private static let countedFactor: Int64 = 8

    /// Returns the blind with the fewest rows. Counts in steps until a blind has fewer rows than the step counts, so that the cost grows
    /// with the rows of the rarest blind, however many the others have.
    private static func rarest(of blinds: [[UInt8]], in database: Database) throws -> [UInt8]? {
        guard blinds.count > 1 else { return blinds.first }
        let sql = "SELECT COUNT(*) FROM (SELECT 1 FROM lookup WHERE blind = ? LIMIT ?)"
        var countedMax = countedFirst
        while true {
            var rarest: [UInt8]?
            var fewest = countedMax
            for blind in blinds where fewest > 0 {
                var count: Int64 = 0
                try database.forEachRow(sql, parameters: [.bytes(blind), .number(fewest)]) { row in
                    count = row.number(0)
                    return false
                }
                if count < fewest {
                    rarest = blind
                    fewest = count
                }
            }
            if let rarest { return rarest }
            countedMax *= countedFactor
        }
    }

    /// Calls `body` with the rows that pass the selection's filters, ordered by number, until it returns false.
    private static func scan(
        _ selection: RowSelection, after id: Int64, in database: Database, query: RowQuery, body: (RowColumns) -> Bool
    ) throws {
        let (sql, key): (String, StatementParameter) =
            if let item = selection.item {
                (query.byItem, .bytes(item))
            } else if let lookup = try selection.lookup ?? rarest(of: selection.lookups, in: database) {
                (query.byLookup, .bytes(lookup))
            } else {
                (selection.usesDeviceIndex ? query.byKindOnDevice : query.byKind, .number(selection.kind))
            }
        let list = selection.usesDeviceIndex ? Column.deviceBlinds : Column.blinds
        try database.forEachRow(sql, parameters: [key, .number(id)]) { row in
            guard row.number(Column.kind) == selection.kind, selection.protection.map({ row.number(Column.protection) == $0 }) ?? true
            else { return true }
            let passes = row.withBytes(list) { list in
                BlindList.contains(list, selection.filter)
                    && (selection.anyOf.isEmpty || selection.anyOf.contains { BlindList.contains(list, $0) })
            }
            return passes ? body(row) : true
        }
    }
}

/// The positions of columns in a result. The first few are in every result, the rest in whole rows.
enum Column {
    static let id = 0
    static let kind = 1
    static let protection = 2
    static let blinds = 3
    static let deviceBlinds = 4
    static let metadataBinding = 5
    static let item = 6
    static let generation = 7
    static let primaryBlind = 8
    static let deviceBlind = 9
    static let metadata = 10
    static let secretBinding = 11
    static let wrappedKey = 12
    static let secret = 13
    /// After the columns that all tables have.
    static let state = 14
    static let date = 15

    fileprivate static let names = [
        "id", "kind", "protection", "blinds", "device_blinds", "metadata_binding", "item", "generation", "primary_blind", "device_blind",
        "metadata", "secret_binding", "wrapped_key", "secret",
    ]
    /// All columns of `item`, in this order.
    static let whole = names.map { "item.\($0)" }.joined(separator: ", ")
    /// Returns all columns of another table that has them, in this order.
    static func whole(of table: String) -> String { names.map { "\(table).\($0)" }.joined(separator: ", ") }
    fileprivate static let handles = names.prefix(6).map { "item.\($0)" }.joined(separator: ", ")
}

/// The statements for one kind of result, composed once.
private struct RowQuery {
    static let whole = RowQuery(columns: Column.whole)
    static let handles = RowQuery(columns: Column.handles)

    let byItem: String
    let byLookup: String
    let byKind: String
    let byKindOnDevice: String

    init(columns: String) {
        byItem = "SELECT \(columns) FROM item WHERE item = ? AND id > ?"
        byLookup = """
            SELECT \(columns) FROM lookup JOIN item ON item.id = lookup.item
            WHERE lookup.blind = ? AND lookup.item > ? ORDER BY lookup.item
            """
        byKind = "SELECT \(columns) FROM item WHERE kind = ? AND id > ? ORDER BY id"
        byKindOnDevice = "SELECT \(columns) FROM item WHERE kind = ? AND id > ? AND device_blind IS NOT NULL ORDER BY id"
    }
}

extension StoredRow {
    /// Reads a row with any content. A value of a wrong type becomes one that matches no binding.
    init(_ row: RowColumns) { self.init(row, place: .item) }

    init(_ row: RowColumns, place: RowPlace) {
        var device: DeviceBlinds?
        if row.hasValue(Column.deviceBlind) {
            device = DeviceBlinds(primary: row.bytes(Column.deviceBlind), list: row.bytes(Column.deviceBlinds), lookups: [])
        }
        self.init(
            id: row.number(Column.id), item: row.bytes(Column.item), kind: row.number(Column.kind),
            protection: row.number(Column.protection),
            generation: row.bytes(Column.generation),
            blinds: RowBlinds(primary: row.bytes(Column.primaryBlind), list: row.bytes(Column.blinds), lookups: [], device: device),
            halves: RowHalves(
                secretBinding: row.bytes(Column.secretBinding), wrappedKey: row.bytes(Column.wrappedKey), secret: row.bytes(Column.secret),
                metadataBinding: row.bytes(Column.metadataBinding), metadata: row.bytes(Column.metadata)),
            place: place)
    }
}

extension Database {
    /// Returns the rows of a statement, at most `count` and not many more bytes than `bytesMax`.
    func storedRows(
        _ sql: String, parameters: [StatementParameter], count: Int = .max, bytesMax: Int = .max,
        stored: (RowColumns) -> StoredRow = { StoredRow($0) }
    ) throws -> [StoredRow] {
        var rows: [StoredRow] = []
        var bytes = 0
        guard count > 0 else { return rows }
        try forEachRow(sql, parameters: parameters) { columns in
            let row = stored(columns)
            rows.append(row)
            bytes += row.countedBytes
            return rows.count < count && bytes < bytesMax
        }
        return rows
    }
}

internal import Foundation
internal import GRDB

extension KeychainDatabase {
    /// The next rows of a selection after the row `id`, at most `count` and not many more bytes than `bytesMax`; fewer
    /// than one means that there are no more. The rows are copies: nothing of the database is held when this returns,
    /// since a person may be asked before the next call.
    package func rows(of selection: RowSelection, after id: Int64, count: Int, bytesMax: Int) throws(StorageFault) -> [StoredRow] {
        try read { database in
            var rows: [StoredRow] = []
            var bytes = 0
            try Self.scan(selection, after: id, in: database, columns: Schema.columnNames) { row in
                let stored = StoredRow(row)
                rows.append(stored)
                bytes += stored.halves.secret.count + stored.halves.metadata.count
                return rows.count < count && bytes < bytesMax
            }
            return rows
        }
    }

    /// All rows of a selection, by name only.
    package func handles(of selection: RowSelection) throws(StorageFault) -> [RowHandle] {
        try read { database in
            var handles: [RowHandle] = []
            let columns = "metadata_binding, kind, protection, blinds, device_blinds"
            try Self.scan(selection, after: 0, in: database, columns: columns) { row in
                handles.append(RowHandle(id: row.number("id"), metadataBinding: row.bytes("metadata_binding")))
                return true
            }
            return handles
        }
    }

    /// Whether the kind has a row that only the first-unlock index knows.
    package func hasRowsOutsideDeviceIndex(kind: Int64) throws(StorageFault) -> Bool {
        try read { database in
            let statement = try database.cachedStatement(sql: "SELECT EXISTS(SELECT 1 FROM item WHERE kind = ? AND device_blind IS NULL)")
            return try Bool.fetchOne(statement, arguments: [kind]) ?? false
        }
    }

    /// The generations of the index keys that this database was written with; a missing one was never used.
    package func indexKeyGenerations() throws(StorageFault) -> [Int64: [UInt8]] {
        try read { database in
            var generations: [Int64: [UInt8]] = [:]
            let rows = try Row.fetchCursor(try database.cachedStatement(sql: "SELECT purpose, generation FROM index_key"))
            while let row = try rows.next() { generations[row.number("purpose")] = row.bytes("generation") }
            return generations
        }
    }

    /// Goes through the rows that pass the selection's filters, in the order of their numbers, until `body` has enough.
    private static func scan(
        _ selection: RowSelection, after id: Int64, in database: Database, columns: String, _ body: (Row) -> Bool
    ) throws {
        let cursor: RowCursor
        if let lookup = selection.lookup {
            let sql = """
                SELECT item.id AS id, \(qualified(columns)) FROM lookup JOIN item ON item.id = lookup.item
                WHERE lookup.blind = ? AND lookup.item > ? ORDER BY lookup.item
                """
            cursor = try Row.fetchCursor(try database.cachedStatement(sql: sql), arguments: [Data(lookup), id])
        } else {
            let sql = """
                SELECT item.id AS id, \(qualified(columns)) FROM item
                WHERE kind = ? AND id > ? \(selection.usesDeviceIndex ? "AND device_blind IS NOT NULL" : "") ORDER BY id
                """
            cursor = try Row.fetchCursor(try database.cachedStatement(sql: sql), arguments: [selection.kind, id])
        }
        while let row = try cursor.next() {
            guard row.number("kind") == selection.kind, selection.protection.map({ row.number("protection") == $0 }) ?? true else { continue }
            let passes = try row.withUnsafeData(named: selection.usesDeviceIndex ? "device_blinds" : "blinds") { data in
                data?.withUnsafeBytes { BlindList.contains($0, selection.filter) } ?? false
            }
            guard passes else { continue }
            guard body(row) else { return }
        }
    }

    static func qualified(_ columns: String) -> String {
        columns.split(separator: ", ").map { "item.\($0) AS \($0)" }.joined(separator: ", ")
    }
}

extension StoredRow {
    /// Reads what is there, whatever it is: a value of a wrong type becomes one that fits no binding.
    init(_ row: Row) {
        let device: DeviceBlinds? = row.hasValue("device_blind")
            ? DeviceBlinds(primary: row.bytes("device_blind"), list: row.bytes("device_blinds"), lookups: []) : nil
        self.init(
            id: row.number("id"), item: row.bytes("item"), kind: row.number("kind"), protection: row.number("protection"),
            generation: row.bytes("generation"),
            blinds: RowBlinds(primary: row.bytes("primary_blind"), list: row.bytes("blinds"), lookups: [], device: device),
            halves: RowHalves(
                secretBinding: row.bytes("secret_binding"), wrappedKey: row.bytes("wrapped_key"), secret: row.bytes("secret"),
                metadataBinding: row.bytes("metadata_binding"), metadata: row.bytes("metadata")))
    }
}

extension Row {
    func number(_ column: String) -> Int64 { Int64.fromDatabaseValue(self[column]) ?? -1 }

    func hasValue(_ column: String) -> Bool { !(self[column] as DatabaseValue).isNull }

    func bytes(_ column: String) -> [UInt8] {
        (try? withUnsafeData(named: column) { data in data.map { [UInt8]($0) } }) ?? []
    }
}

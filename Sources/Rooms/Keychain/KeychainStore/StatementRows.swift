// Rows as SQLite returns them. GRDB manages the connections, the transactions and the prepared statements, but its `Row`, which builds a
// map of the columns and a value for each, took three quarters of the time of a look-up.

internal import GRDB
internal import GRDBSQLite

/// A value for a parameter of a statement.
enum StatementParameter {
    case number(Int64)
    case bytes([UInt8])
    case text(String)
    case null

    /// Creates a blob, or NULL for nil.
    init(_ bytes: [UInt8]?) { self = bytes.map { .bytes($0) } ?? .null }
}

/// The columns of a statement's current row, by their number. They are valid until the next row is read.
struct RowColumns {
    fileprivate let statement: OpaquePointer

    /// Returns the number in a column; -1 for a value of another type.
    func number(_ column: Int) -> Int64 {
        sqlite3_column_type(statement, Int32(column)) == SQLITE_INTEGER ? sqlite3_column_int64(statement, Int32(column)) : -1
    }

    func hasValue(_ column: Int) -> Bool { sqlite3_column_type(statement, Int32(column)) != SQLITE_NULL }

    /// Returns the text in a column; nil for a value that is not UTF-8.
    func text(_ column: Int) -> String? { withBytes(column) { String(validating: $0, as: UTF8.self) } }

    /// Returns a copy of the bytes in a column; empty for a value of another type.
    func bytes(_ column: Int) -> [UInt8] { withBytes(column) { [UInt8]($0) } }

    /// Calls `body` with the bytes in a column, which are valid only during the call.
    func withBytes<Value>(_ column: Int, _ body: (UnsafeRawBufferPointer) throws -> Value) rethrows -> Value {
        let column = Int32(column)
        let type = sqlite3_column_type(statement, column)
        guard type == SQLITE_BLOB || type == SQLITE_TEXT else { return try body(UnsafeRawBufferPointer(start: nil, count: 0)) }
        // SQLite requires this order: first the bytes, then their number.
        let start = sqlite3_column_blob(statement, column)
        return try body(UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(statement, column))))
    }
}

extension Database {
    /// Runs a statement, which is prepared once on each connection, and calls `body` with each row of the result until it returns false.
    func forEachRow(_ sql: String, parameters: [StatementParameter] = [], body: (RowColumns) throws -> Bool) throws {
        let prepared = try cachedStatement(sql: sql)
        let statement = prepared.sqliteStatement
        defer {
            sqlite3_reset(statement)
            sqlite3_clear_bindings(statement)
            withExtendedLifetime(prepared) {}
        }
        for (index, parameter) in parameters.enumerated() { try bind(parameter, to: statement, at: Int32(index + 1)) }
        while true {
            switch sqlite3_step(statement) {
            case SQLITE_ROW: guard try body(RowColumns(statement: statement)) else { return }
            case SQLITE_DONE: return
            case let code: throw failure(code)
            }
        }
    }

    /// Runs a statement that returns no rows.
    func run(_ sql: String, _ parameters: [StatementParameter]) throws { try forEachRow(sql, parameters: parameters) { _ in true } }

    /// Returns whether a statement's first row begins with a number other than 0.
    func isTrue(_ sql: String, _ parameters: [StatementParameter]) throws -> Bool {
        var answer = false
        try forEachRow(sql, parameters: parameters) { row in
            answer = row.number(0) != 0
            return false
        }
        return answer
    }

    private func bind(_ parameter: StatementParameter, to statement: OpaquePointer, at index: Int32) throws {
        let code =
            switch parameter {
            case .number(let number): sqlite3_bind_int64(statement, index, number)
            case .null: sqlite3_bind_null(statement, index)
            case .text(let text): sqlite3_bind_text(statement, index, text, -1, Self.copied)
            // SQLite takes a blob with a null pointer for NULL.
            case .bytes(let bytes) where bytes.isEmpty: sqlite3_bind_zeroblob(statement, index, 0)
            case .bytes(let bytes):
                sqlite3_bind_blob(statement, index, bytes, Int32(bytes.count), Self.copied)
            }
        if code != SQLITE_OK { throw failure(code) }
    }

    /// SQLITE_TRANSIENT, which is a cast in C that Swift does not import. With it, SQLite copies the bytes at once.
    private static var copied: sqlite3_destructor_type { unsafeBitCast(-1, to: sqlite3_destructor_type.self) }

    private func failure(_ code: Int32) -> DatabaseError {
        DatabaseError(resultCode: ResultCode(rawValue: code), message: lastErrorMessage)
    }
}

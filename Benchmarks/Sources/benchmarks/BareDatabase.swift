import CSQLite
import Foundation

/// The cost of an add that consists only of a synced transaction: with the same settings, columns and indexes as keychaind's, and a row of
/// the same size, filled with random bytes.
final class BareDatabase {
    private var database: OpaquePointer?
    private var insertItem: OpaquePointer?
    private var insertLookup: OpaquePointer?

    /// The bytes of each column that keychaind writes for the items measured here (determined in its file with sqlite3's length()).
    private static let columns: [(name: String, bytes: Int, constraint: String)] = [
        ("item", 16, "NOT NULL UNIQUE"), ("generation", 8, "NOT NULL"), ("primary_blind", 16, "NOT NULL UNIQUE"),
        ("blinds", 60, "NOT NULL"), ("metadata_binding", 70, "NOT NULL"), ("metadata", 284, "NOT NULL"),
        ("secret_binding", 70, "NOT NULL"), ("wrapped_key", 70, "NOT NULL"), ("secret", 92, "NOT NULL"),
    ]
    private static let lookups = 4
    private static let lookupBytes = 16
    private var state: UInt64 = 1

    init(path: String) throws {
        guard sqlite3_open(path, &database) == SQLITE_OK else { throw Failure("no database at \(path)") }
        try run("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA secure_delete = ON; PRAGMA cell_size_check = ON")
        let columns = Self.columns.map { "\($0.name) BLOB \($0.constraint)" }.joined(separator: ", ")
        try run(
            """
            CREATE TABLE item(id INTEGER PRIMARY KEY, kind INTEGER NOT NULL, protection INTEGER NOT NULL, device_blind BLOB UNIQUE, \
            device_blinds BLOB, \(columns)) STRICT;
            CREATE INDEX item_kind ON item(kind);
            CREATE INDEX item_generation ON item(protection, generation);
            CREATE TABLE lookup(
                blind BLOB NOT NULL, item INTEGER NOT NULL REFERENCES item(id) ON DELETE CASCADE, PRIMARY KEY(blind, item)
            ) STRICT, WITHOUT ROWID;
            CREATE INDEX lookup_item ON lookup(item);
            """)
        let names = Self.columns.map(\.name).joined(separator: ", ")
        let marks = Self.columns.map { _ in "?" }.joined(separator: ", ")
        insertItem = try prepare("INSERT INTO item(kind, protection, \(names)) VALUES (1, 1, \(marks))")
        insertLookup = try prepare("INSERT INTO lookup(blind, item) VALUES (?, ?)")
    }

    func close() {
        sqlite3_finalize(insertItem)
        sqlite3_finalize(insertLookup)
        sqlite3_close(database)
    }

    /// Adds rows without measuring or syncing each.
    func fill(_ count: Int) throws {
        var left = count
        while left > 0 {
            let batch = min(left, 10_000)
            try run("BEGIN IMMEDIATE")
            for _ in 0..<batch { try insert() }
            try run("COMMIT")
            left -= batch
        }
    }

    /// Adds one row and its lookups; they are on disk when this returns.
    func add() throws {
        try run("BEGIN IMMEDIATE")
        try insert()
        try run("COMMIT")
    }

    private func insert() throws {
        for (index, column) in Self.columns.enumerated() { bind(insertItem, at: Int32(index + 1), bytes: random(column.bytes)) }
        try step(insertItem)
        let row = sqlite3_last_insert_rowid(database)
        for _ in 0..<Self.lookups {
            bind(insertLookup, at: 1, bytes: random(Self.lookupBytes))
            sqlite3_bind_int64(insertLookup, 2, row)
            try step(insertLookup)
        }
    }

    /// Returns random bytes, so that they spread over an index. The generator is cheap, since it runs within the measured time.
    private func random(_ count: Int) -> [UInt8] {
        (0..<count).map { _ in
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return UInt8(truncatingIfNeeded: state >> 56)
        }
    }

    private func bind(_ statement: OpaquePointer?, at index: Int32, bytes: [UInt8]) {
        // SQLITE_TRANSIENT, which C defines with a cast that Swift does not import: the bytes are copied at once.
        sqlite3_bind_blob(statement, index, bytes, Int32(bytes.count), unsafeBitCast(-1, to: sqlite3_destructor_type.self))
    }

    private func step(_ statement: OpaquePointer?) throws {
        defer { sqlite3_reset(statement) }
        guard sqlite3_step(statement) == SQLITE_DONE else { throw Failure(String(cString: sqlite3_errmsg(database))) }
    }

    private func prepare(_ sql: String) throws -> OpaquePointer? {
        var statement: OpaquePointer?
        guard sqlite3_prepare_v2(database, sql, -1, &statement, nil) == SQLITE_OK else {
            throw Failure(String(cString: sqlite3_errmsg(database)))
        }
        return statement
    }

    private func run(_ sql: String) throws {
        guard sqlite3_exec(database, sql, nil, nil, nil) == SQLITE_OK else { throw Failure(String(cString: sqlite3_errmsg(database))) }
    }
}

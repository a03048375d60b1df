internal import GRDB

/// The database's schema as an append-only list of migrations. A file with a migration that is not in the list was written by a later
/// version and is refused untouched.
enum Schema {
    static let migrator: DatabaseMigrator = {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1 items") { database in
            try database.execute(
                sql: """
                    CREATE TABLE item(
                        id INTEGER PRIMARY KEY,
                        \(columns(primaryBlind: "NOT NULL UNIQUE", item: "NOT NULL UNIQUE", deviceBlind: "UNIQUE"))
                    ) STRICT;
                    CREATE INDEX item_kind ON item(kind);
                    CREATE TABLE lookup(
                        blind BLOB NOT NULL,
                        item INTEGER NOT NULL REFERENCES item(id) ON DELETE CASCADE,
                        PRIMARY KEY(blind, item)
                    ) STRICT, WITHOUT ROWID;
                    CREATE INDEX lookup_item ON lookup(item);
                    CREATE TABLE quarantine(
                        id INTEGER PRIMARY KEY,
                        date INTEGER NOT NULL,
                        reason TEXT NOT NULL,
                        \(columns(primaryBlind: "", item: "", deviceBlind: ""))
                    ) STRICT;
                    CREATE TABLE index_key(
                        purpose INTEGER PRIMARY KEY,
                        generation BLOB NOT NULL
                    ) STRICT;
                    """)
        }
        // While rows move to another class key, queries by class key are frequent, so they get an index.
        migrator.registerMigration("2 generations") { database in
            try database.execute(sql: "CREATE INDEX item_generation ON item(protection, generation)")
        }
        // Earlier values and deleted items: whole rows, unchanged. They have no row in `item`.
        migrator.registerMigration("3 history") { database in
            try database.execute(
                sql: """
                    CREATE TABLE history(
                        id INTEGER PRIMARY KEY,
                        state INTEGER NOT NULL,
                        date INTEGER NOT NULL,
                        owner TEXT NOT NULL,
                        bytes INTEGER NOT NULL,
                        \(columns(primaryBlind: "", item: "", deviceBlind: ""))
                    ) STRICT;
                    CREATE INDEX history_item ON history(item);
                    CREATE INDEX history_deleted ON history(date) WHERE state = 2;
                    CREATE INDEX history_name ON history(primary_blind) WHERE state = 2;
                    CREATE TABLE setting(
                        name TEXT PRIMARY KEY,
                        value INTEGER NOT NULL
                    ) STRICT, WITHOUT ROWID;
                    ALTER TABLE quarantine ADD COLUMN state INTEGER NOT NULL DEFAULT 0;
                    """)
        }
        // The identities of deleted items, so that an item that is missing without one is known to be lost (Specs/sync.md).
        migrator.registerMigration("4 tombstones") { database in
            try database.execute(
                sql: """
                    CREATE TABLE tombstone(
                        id INTEGER PRIMARY KEY AUTOINCREMENT,
                        item BLOB NOT NULL UNIQUE,
                        state INTEGER NOT NULL
                    ) STRICT;
                    """)
        }
        // What was read and changed, by whom (Specs/access-log.md).
        migrator.registerMigration("5 access log") { database in
            try database.execute(
                sql: """
                    CREATE TABLE log_series(
                        first INTEGER PRIMARY KEY,
                        key BLOB NOT NULL
                    ) STRICT;
                    CREATE TABLE log(
                        number INTEGER PRIMARY KEY,
                        series INTEGER NOT NULL,
                        sealed BLOB NOT NULL,
                        chain BLOB NOT NULL
                    ) STRICT;
                    """)
        }
        // The last uses of items in each series that has ended (Specs/access-log.md).
        migrator.registerMigration("6 log uses") { database in
            try database.execute(
                sql: """
                    CREATE TABLE log_uses(
                        series INTEGER PRIMARY KEY,
                        sealed BLOB NOT NULL
                    ) STRICT;
                    """)
        }
        return migrator
    }()

    /// Returns whether the file has a migration that is not in the list or a version number, which only a later version sets.
    static func isNewer(_ database: Database) throws -> Bool {
        if try Int.fetchOne(database, sql: "PRAGMA user_version") != 0 { return true }
        return try migrator.hasBeenSuperseded(database)
    }

    /// Returns the columns common to rows and quarantined rows, in the order of `columnNames`.
    private static func columns(primaryBlind: String, item: String, deviceBlind: String) -> String {
        """
        item BLOB \(item),
        kind INTEGER NOT NULL,
        protection INTEGER NOT NULL,
        generation BLOB NOT NULL,
        primary_blind BLOB \(primaryBlind),
        device_blind BLOB \(deviceBlind),
        blinds BLOB NOT NULL,
        device_blinds BLOB,
        metadata_binding BLOB NOT NULL,
        metadata BLOB NOT NULL,
        secret_binding BLOB NOT NULL,
        wrapped_key BLOB NOT NULL,
        secret BLOB NOT NULL
        """
    }

    static let columnNames = """
        item, kind, protection, generation, primary_blind, device_blind, blinds, device_blinds, metadata_binding, metadata, \
        secret_binding, wrapped_key, secret
        """
}

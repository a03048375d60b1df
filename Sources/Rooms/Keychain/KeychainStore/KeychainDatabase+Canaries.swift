// How many uses of canary items there were, and how many of them the user has seen (Specs/canaries.md). The numbers are settings: they can
// be read while the keychain is locked. What was used, and by whom, is in the access log.

internal import GRDB

/// The uses of canaries so far.
package struct StoredAlerts: Hashable, Sendable {
    package var total: Int64 = 0
    package var seen: Int64 = 0
    /// The number of the log record with the first one that the user has not seen.
    package var from: Int64?
}

extension KeychainDatabase {
    private static let total = "canary alerts"
    private static let seen = "canary alerts seen"
    private static let from = "canary alerts from"

    package func canaryAlerts() throws(StorageError) -> StoredAlerts {
        try read { try Self.canaryAlerts(in: $0) }
    }

    private static func canaryAlerts(in database: Database) throws -> StoredAlerts {
        func number(_ name: String) throws -> Int64? {
            try Int64.fetchOne(database, sql: "SELECT value FROM setting WHERE name = ?", arguments: [name])
        }
        return StoredAlerts(total: try number(total) ?? 0, seen: try number(seen) ?? 0, from: try number(from))
    }

    /// Records that the user has seen the first `count` uses, of those that there are.
    package func acknowledgeAlerts(_ count: Int64) throws(StorageError) {
        try write { database in
            let alerts = try Self.canaryAlerts(in: database)
            guard count > alerts.seen else { return ((), .rollback) }
            try Self.set(Self.seen, to: min(count, alerts.total), in: database)
            if count >= alerts.total {
                try database.execute(sql: "DELETE FROM setting WHERE name = ?", arguments: [Self.from])
            }
            return ((), .commit)
        }
    }

    static func countAlerts(of addition: LogAddition, in database: Database) throws {
        guard addition.alerts > 0 else { return }
        let alerts = try canaryAlerts(in: database)
        try set(total, to: alerts.total + addition.alerts, in: database)
        if alerts.from == nil, let first = addition.firstAlert { try set(from, to: first, in: database) }
    }

    private static func set(_ name: String, to value: Int64, in database: Database) throws {
        let sql = "INSERT INTO setting(name, value) VALUES (?, ?) ON CONFLICT(name) DO UPDATE SET value = excluded.value"
        try database.execute(sql: sql, arguments: [name, value])
    }
}

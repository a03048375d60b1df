// Tombstones: the identities of deleted items. They are kept from the first use of a circle or the first backup on (Specs/sync.md,
// Specs/backup.md). An item that is missing without a tombstone is then known to be lost, and is deleted neither on other devices nor in a
// backup.

internal import Foundation
internal import GRDB
internal import VaubanLinuxHost

/// What is known of an item without its content.
package enum RowStatus: Hashable, Sendable {
    case present(StoredRow)
    /// It was deleted and exists again.
    case returned
    case deleted
    /// It was deleted because another device had deleted it.
    case deletedElsewhere
    /// It was damaged, or the database is an earlier one.
    case gone
}

/// The state of a tombstone.
private enum Tombstone: Int64 {
    case deleted = 1
    case returned = 2
    case deletedElsewhere = 3
    /// Another device had deleted it, and it was restored from a backup: the deletion still applies to the circle.
    case restored = 4
}

extension KeychainDatabase {
    /// The newest tombstones are kept: this many of synchronizable items, and as many of others, so that a program that deletes its own
    /// items displaces none that a circle needs.
    package static let tombstonesMax = 100_000

    /// The kind of permissions (Specs/keychain-database.md), which are in no circle and no backup, and therefore have no tombstones.
    private static let permissionKind: Int64 = 200

    static func keepsTombstones(_ database: Database) throws -> Bool {
        try database.isTrue("SELECT EXISTS(SELECT 1 FROM setting WHERE name IN ('sync', 'backup'))", [])
    }

    /// Begins a list of synchronizable items and returns its number, one more than the last. From the first list on, the identities of
    /// deleted items are kept. A number lower than one seen before reveals an earlier copy of the database.
    package func beginList() throws(StorageError) -> Int64 {
        let number = try write { database in
            let sql = """
                INSERT INTO setting(name, value) VALUES ('sync', 1) ON CONFLICT(name) DO UPDATE SET value = value + 1 RETURNING value
                """
            return (try Int64.fetchOne(database, sql: sql) ?? 0, .commit)
        }
        tombstones.withLock { $0 = true }
        return number
    }

    /// Returns a random number that identifies this database, and the number of its last backup; starts to keep the identities of deleted
    /// items. With `isNext` the number is increased by one. A number lower than one seen before reveals an earlier copy of the database.
    package func backupRun(isNext: Bool) throws(StorageError) -> (database: Int64, number: Int64) {
        let known = try read { try Self.backupRun($0) }
        if let known, !isNext { return known }
        let run = try write { database in
            let setting = "INSERT INTO setting(name, value) VALUES (?, ?) ON CONFLICT(name)"
            let identity = Int64.random(in: 1...Int64.max)
            try database.execute(sql: "\(setting) DO NOTHING", arguments: ["backup database", identity])
            try database.execute(sql: "\(setting) DO UPDATE SET value = value + ?", arguments: ["backup", 0, isNext ? 1 : 0])
            return (try Self.backupRun(database) ?? (identity, 0), .commit)
        }
        tombstones.withLock { $0 = true }
        return run
    }

    private static func backupRun(_ database: Database) throws -> (database: Int64, number: Int64)? {
        let value = { (name: String) in
            try Int64.fetchOne(database, sql: "SELECT value FROM setting WHERE name = ?", arguments: [name])
        }
        guard let identity = try value("backup database"), let number = try value("backup") else { return nil }
        return (identity, number)
    }

    /// Whether the identities of deleted items are kept.
    package var keepsTombstones: Bool { tombstones.withLock { $0 } }

    /// Returns the status at one moment: between two reads, a deletion would make the item look lost.
    package func status(ofItem item: [UInt8]) throws(StorageError) -> RowStatus {
        let (row, tombstone) = try read { database -> (row: StoredRow?, tombstone: Tombstone?) in
            var found: (row: StoredRow?, tombstone: Tombstone?) = (nil, nil)
            try database.inTransaction(.deferred) {
                found.tombstone = try Int64.fetchOne(database, sql: "SELECT state FROM tombstone WHERE item = ?", arguments: [Data(item)])
                    .flatMap(Tombstone.init)
                found.row = try Self.row(ofItem: item, in: database)
                return .commit
            }
            return found
        }
        if let row { return tombstone == .returned ? .returned : .present(row) }
        switch tombstone {
        case .deleted: return .deleted
        case .deletedElsewhere: return .deletedElsewhere
        case .returned, .restored, nil: return .gone
        }
    }

    // MARK: Parts of a transaction

    /// Records that the item of a row is being deleted.
    func noteDeletion(_ removal: RowRemoval, in database: Database) throws {
        let handle = removal.row
        guard tombstones.withLock({ $0 }), handle.place == .item else { return }
        let state: Tombstone
        switch removal.cause {
        case .user: state = .deleted
        case .otherDevice: state = .deletedElsewhere
        case .loss: return
        }
        // Tombstones of items that are known not to be synchronizable are numbered downward from -1.
        let number = removal.isLocal ? "(SELECT min(0, ifnull(min(id), 0)) - 1 FROM tombstone)" : "NULL"
        try database.run(
            """
            INSERT OR REPLACE INTO tombstone(id, item, state)
            SELECT \(number), item, ? FROM item WHERE id = ? AND metadata_binding = ? AND kind <> \(Self.permissionKind)
            """, [.number(state.rawValue), .number(handle.id), .bytes(handle.metadataBinding)])
        try database.run(
            removal.isLocal
                ? "DELETE FROM tombstone WHERE id < 0 AND id >= (SELECT min(id) FROM tombstone) + \(Self.tombstonesMax)"
                : "DELETE FROM tombstone WHERE id > 0 AND id <= (SELECT max(id) FROM tombstone) - \(Self.tombstonesMax)", [])
    }

    /// Records that an item was added again with its former identity. An item restored from a backup stays deleted for the circle if
    /// another device deleted it, even if it was restored before and then lost.
    func noteReturn(_ item: [UInt8], isRestored: Bool = false, in database: Database) throws {
        guard tombstones.withLock({ $0 }) else { return }
        let afterOther: Tombstone = isRestored ? .restored : .returned
        let others = "\(Tombstone.deletedElsewhere.rawValue), \(Tombstone.restored.rawValue)"
        try database.run(
            "UPDATE tombstone SET state = CASE WHEN state IN (\(others)) THEN ? ELSE ? END WHERE item = ?",
            [.number(afterOther.rawValue), .number(Tombstone.returned.rawValue), .bytes(item)])
    }
}

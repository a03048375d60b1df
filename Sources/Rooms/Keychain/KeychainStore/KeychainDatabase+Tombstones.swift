// Tombstones: the identities of deleted items. They are kept from the first use of a circle on (Specs/sync.md), so that an item which is
// gone without one is known to be lost, and is not deleted on other devices too.

internal import Foundation
internal import GRDB
internal import VaubanLinuxHost

/// What is known of an item without its content.
package enum RowFate: Hashable, Sendable {
    case present(StoredRow)
    /// It is there again after it was deleted.
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
}

extension KeychainDatabase {
    /// The newest ones stay.
    package static let tombstonesMax = 100_000

    static func keepsTombstones(_ database: Database) throws -> Bool {
        try Int64.fetchOne(database, sql: "SELECT value FROM setting WHERE name = 'sync'") != nil
    }

    /// Begins a list of synchronizable items and returns its number, one more than the last. From the first list on, the identities of
    /// deleted items are kept. A database with a lower number than was seen is an earlier copy.
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

    package func fate(of item: [UInt8]) throws(StorageError) -> RowFate {
        try read { database in
            let tombstone = try Int64.fetchOne(database, sql: "SELECT state FROM tombstone WHERE item = ?", arguments: [Data(item)])
                .flatMap(Tombstone.init)
            if let row = try Self.row(ofItem: item, in: database) { return tombstone == .returned ? .returned : .present(row) }
            switch tombstone {
            case .deleted: return .deleted
            case .deletedElsewhere: return .deletedElsewhere
            case .returned, nil: return .gone
            }
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
        try database.run(
            "INSERT OR REPLACE INTO tombstone(item, state) SELECT item, ? FROM item WHERE id = ? AND metadata_binding = ?",
            [.number(state.rawValue), .number(handle.id), .bytes(handle.metadataBinding)])
        try database.run("DELETE FROM tombstone WHERE id <= (SELECT max(id) FROM tombstone) - \(Self.tombstonesMax)", [])
    }

    /// Records that an item was added again with the identity that it had.
    func noteReturn(_ item: [UInt8], in database: Database) throws {
        guard tombstones.withLock({ $0 }) else { return }
        try database.run(
            "UPDATE tombstone SET state = ? WHERE item = ?", [.number(Tombstone.returned.rawValue), .bytes(item)])
    }
}

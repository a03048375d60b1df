// Tombstones: the identities of deleted items. They are kept from the first use of a circle on (Specs/sync.md), so that an item which is
// gone without one is known to be lost, and is not deleted on other devices too.

internal import Foundation
internal import GRDB
internal import VaubanLinuxHost

/// What became of an item.
package enum RowFate: Hashable, Sendable {
    case present
    /// It is there again after it was deleted.
    case returned
    case deleted
    /// It was damaged, or the database is an earlier one.
    case lost
}

extension KeychainDatabase {
    /// The newest ones stay.
    package static let tombstonesMax = 100_000

    static func keepsTombstones(_ database: Database) throws -> Bool {
        try Int64.fetchOne(database, sql: "SELECT value FROM setting WHERE name = 'tombstones'") == 1
    }

    /// Keeps the identities of items that are deleted from now on.
    package func keepTombstones() throws(StorageError) {
        guard !tombstones.withLock({ $0 }) else { return }
        try write { database in
            try database.execute(sql: "INSERT OR REPLACE INTO setting(name, value) VALUES ('tombstones', 1)")
            return ((), .commit)
        }
        tombstones.withLock { $0 = true }
    }

    /// Returns what became of items, in their order.
    package func fates(of items: [[UInt8]]) throws(StorageError) -> [RowFate] {
        try read { database in
            try items.map { item in
                let isThere = try database.isTrue("SELECT EXISTS(SELECT 1 FROM item WHERE item = ?)", [.bytes(item)])
                switch try Int64.fetchOne(database, sql: "SELECT returned FROM tombstone WHERE item = ?", arguments: [Data(item)]) {
                case nil: return isThere ? .present : .lost
                case 0: return isThere ? .present : .deleted
                default: return isThere ? .returned : .lost
                }
            }
        }
    }

    // MARK: Parts of a transaction

    /// Records that the item of a row is being deleted.
    func bury(_ handle: RowHandle, in database: Database) throws {
        guard tombstones.withLock({ $0 }), handle.place == .item else { return }
        try database.run(
            "INSERT OR REPLACE INTO tombstone(item, returned) SELECT item, 0 FROM item WHERE id = ? AND metadata_binding = ?",
            [.number(handle.id), .bytes(handle.metadataBinding)])
        try database.run("DELETE FROM tombstone WHERE id <= (SELECT max(id) FROM tombstone) - \(Self.tombstonesMax)", [])
    }

    /// Records that an item may be there again.
    func unearth(_ item: [UInt8], in database: Database) throws {
        guard tombstones.withLock({ $0 }) else { return }
        try database.run("UPDATE tombstone SET returned = 1 WHERE item = ?", [.bytes(item)])
    }
}

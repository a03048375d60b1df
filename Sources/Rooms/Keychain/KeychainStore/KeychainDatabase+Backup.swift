// The queries of backups and restores.

internal import Foundation
internal import GRDB

/// A row that can be backed up, without its content.
package struct RowOutline: Hashable, Sendable {
    package let id: Int64
    package let item: [UInt8]
    package let metadataBinding: [UInt8]
}

extension KeychainDatabase {
    /// Returns the next rows of the given kinds after the row `id`, in ascending order.
    package func outlines(of kinds: [Int64], after id: Int64, count: Int) throws(StorageError) -> [RowOutline] {
        try read { database in
            var outlines: [RowOutline] = []
            try database.forEachRow("SELECT id, kind, item, metadata_binding FROM item WHERE id > ? ORDER BY id", parameters: [.number(id)])
            { row in
                guard kinds.contains(row.number(1)) else { return true }
                outlines.append(RowOutline(id: row.number(0), item: row.bytes(2), metadataBinding: row.bytes(3)))
                return outlines.count < count
            }
            return outlines
        }
    }

    /// Returns the row with this name.
    package func row(named primary: [UInt8]) throws(StorageError) -> StoredRow? {
        try read { try Self.row(withPrimary: primary, besides: 0, in: $0) }
    }

    /// Returns the row of an item's identity.
    package func row(ofItem item: [UInt8]) throws(StorageError) -> StoredRow? { try read { try Self.row(ofItem: item, in: $0) } }

    static func row(ofItem item: [UInt8], in database: Database) throws -> StoredRow? {
        try database.storedRows("SELECT \(Column.whole) FROM item WHERE item = ?", parameters: [.bytes(item)], count: 1).first
    }

    /// Returns the row of an item's identity, otherwise the one with its name.
    package func row(ofItem item: [UInt8], orNamed primary: [UInt8]) throws(StorageError) -> StoredRow? {
        try read { database in
            if let row = try Self.row(ofItem: item, in: database) { return row }
            return try Self.row(withPrimary: primary, besides: 0, in: database)
        }
    }
}

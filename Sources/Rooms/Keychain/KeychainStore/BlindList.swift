/// The blinds of a row's attributes in one column: for each attribute its four-letter name and the first eight bytes of its blind, ordered
/// by name.
package enum BlindList {
    package static let nameBytes = 4
    package static let blindBytes = 8
    package static let entryBytes = nameBytes + blindBytes

    /// Returns whether `list` contains every entry of `wanted`. Both are ordered, so one pass suffices. A list with an invalid length
    /// contains nothing.
    package static func contains(_ list: UnsafeRawBufferPointer, _ wanted: [UInt8]) -> Bool {
        guard list.count % entryBytes == 0, wanted.count % entryBytes == 0 else { return false }
        return wanted.withUnsafeBytes { wanted in
            var position = 0
            for start in stride(from: 0, to: wanted.count, by: entryBytes) {
                let entry = wanted[start..<start + entryBytes]
                while position < list.count, !list[position..<position + entryBytes].elementsEqual(entry) { position += entryBytes }
                guard position < list.count else { return false }
                position += entryBytes
            }
            return true
        }
    }

    /// Returns whether a list has an entry for the attribute with this four-letter name. A list of an invalid length counts as having it.
    package static func hasEntry(named name: String, in list: [UInt8]) -> Bool {
        guard list.count % entryBytes == 0 else { return true }
        return stride(from: 0, to: list.count, by: entryBytes).contains { list[$0...].starts(with: name.utf8) }
    }
}

/// The rows that a request may match, described so that the database can select them without a key.
package struct RowSelection: Hashable, Sendable {
    package let kind: Int64
    package let protection: Int64?
    /// The one item to be looked up by its identity.
    package var item: [UInt8]?
    /// A blind by which rows are looked up; nil reads all rows of the kind.
    package var lookup: [UInt8]?
    /// Blinds that each row must have, if there is no `lookup`: rows are looked up by the rarest of them.
    package var lookups: [[UInt8]] = []
    /// A `BlindList` whose entries the row must contain.
    package let filter: [UInt8]
    /// `BlindList`s of one entry each, of which the row must contain one; an empty list demands none.
    package let anyOf: [[UInt8]]
    /// Whether only the device index can be used, as before the first unlock. Only its rows are then visible.
    package let usesDeviceIndex: Bool

    package init(kind: Int64, protection: Int64?, lookup: [UInt8]?, filter: [UInt8], anyOf: [[UInt8]] = [], usesDeviceIndex: Bool) {
        self.kind = kind
        self.protection = protection
        self.lookup = lookup
        self.filter = filter
        self.anyOf = anyOf
        self.usesDeviceIndex = usesDeviceIndex
    }
}

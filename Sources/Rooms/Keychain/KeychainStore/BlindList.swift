/// The blinds of a row's attributes in one column: for each attribute its four-letter name and the first eight bytes of its
/// blind, in the order of the names.
package enum BlindList {
    package static let nameBytes = 4
    package static let blindBytes = 8
    package static let entryBytes = nameBytes + blindBytes

    /// Whether every entry of `wanted` is in `list`. Both are in order, so one walk over them is enough; a list of a wrong
    /// length holds nothing.
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
}

/// Which rows a request may mean, in terms that the database can decide without a key.
package struct RowSelection: Hashable, Sendable {
    package let kind: Int64
    package let protection: Int64?
    /// The one item that is meant; it is looked up by its identity then.
    package var item: [UInt8]?
    /// One blind by which rows are looked up; nil goes through all of the kind.
    package let lookup: [UInt8]?
    /// Blinds that each row has, where there is no `lookup`: rows are looked up by the one that the fewest rows have.
    package var lookups: [[UInt8]] = []
    /// A `BlindList` of what must be among the row's own.
    package let filter: [UInt8]
    /// `BlindList`s of one entry each, of which the row must have one; empty asks for none of them.
    package let anyOf: [[UInt8]]
    /// Before the first unlock only the device index can be used, and only its rows can be seen.
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

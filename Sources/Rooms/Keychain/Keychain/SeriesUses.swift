// The last uses of each item in one series of the access log, so that a search for them need not read the series again
// (Specs/access-log.md).

import VaubanKeychainWire

/// A kind of use that `vauban show` reports for an item: its last read, its last change, and its last use as a private key.
package enum LastUseKind: Int, CaseIterable, Sendable {
    case read
    case changed
    case keyUsed

    /// Creates the kind of use that a record contains; nil if the use was not made, or is of another kind.
    init?(_ record: AccessRecord) {
        guard record.outcome == .done || record.outcome == .approved else { return nil }
        switch record.action {
        case .read: self = .read
        case .added, .changed: self = .changed
        case .signed, .decrypted: self = .keyUsed
        case .deleted, .backedUp, .synchronized: return nil
        }
    }
}

/// The last uses in a series as they are kept: for each item, in the order of their identities, 16 bytes of identity and for each kind of
/// use two bytes, which are 0 or one more than the distance of its log record from the first of the series. A search looks at a few of
/// thousands of items, so they are not decoded.
package struct SeriesUses: Sendable {
    fileprivate static let itemBytes = 16
    fileprivate static let entryBytes = itemBytes + 2 * LastUseKind.allCases.count
    private let series: Int64
    private let bytes: [UInt8]

    /// Returns nil if these bytes are not such a list.
    init?(_ bytes: [UInt8], of series: Int64) {
        guard bytes.count.isMultiple(of: Self.entryBytes) else { return nil }
        self.bytes = bytes
        self.series = series
    }

    /// The identities of the items.
    package var items: [[UInt8]] { (0..<count).map { Array(bytes[$0 * Self.entryBytes..<$0 * Self.entryBytes + Self.itemBytes]) } }

    /// Returns the number of the log record with the last use of an item; nil if the series has none.
    package func number(of kind: LastUseKind, of item: [UInt8]) -> Int64? {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            let start = middle * Self.entryBytes
            let other = bytes[start..<start + Self.itemBytes]
            if other.elementsEqual(item) {
                let place = start + Self.itemBytes + 2 * kind.rawValue
                let distance = Int64(bytes[place]) << 8 | Int64(bytes[place + 1])
                return distance == 0 ? nil : series + distance - 1
            }
            if other.lexicographicallyPrecedes(item) { low = middle + 1 } else { high = middle }
        }
        return nil
    }

    private var count: Int { bytes.count / Self.entryBytes }
}

/// Collects the last uses in a series, record by record.
struct CollectedUses {
    /// Beyond this nothing is kept: no log of 32 MiB has so many items in a series.
    private static let itemsMax = 1 << 16
    private let series: Int64
    private var distances: [[UInt8]: [UInt16]] = [:]

    init(of series: Int64) { self.series = series }

    /// Adds the uses in the next log record.
    mutating func add(_ record: AccessRecord, number: Int64) {
        guard let kind = LastUseKind(record), let distance = UInt16(exactly: number - series + 1) else { return }
        for used in record.items where used.item.count == SeriesUses.itemBytes {
            distances[used.item, default: [UInt16](repeating: 0, count: LastUseKind.allCases.count)][kind.rawValue] = distance
        }
    }

    /// The list to keep; nil if it has too many items.
    var bytes: [UInt8]? {
        guard distances.count <= Self.itemsMax else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(distances.count * SeriesUses.entryBytes)
        for (item, distances) in distances.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
            bytes += item
            for distance in distances { bytes += [UInt8(distance >> 8), UInt8(distance & 0xFF)] }
        }
        return bytes
    }
}

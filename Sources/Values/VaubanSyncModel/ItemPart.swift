/// A part of a synchronized item, for which a conflict is decided separately (Specs/sync.md, "Parts"): the value, the protection class, or
/// an attribute that is neither in the item's name nor a date. The numbers are in states and messages.
package enum ItemPart: UInt8, CaseIterable, Hashable, Sendable {
    case value = 1
    case protection = 2
    case label = 3
    case comment = 4
    case description = 5
    case generic = 6
    case alias = 7
    case creator = 8
    case type = 9
    case isInvisible = 10
    case isNegative = 11
    case certificateEncoding = 12
    case subject = 13
    case subjectKeyID = 14
    case publicKeyHash = 15
}

/// The keyed digests of the parts that an item has. They reveal whether two parts are equal, and nothing else.
package struct PartDigests: Hashable, Sendable {
    package static let bytesMax = ItemPart.allCases.count * pairBytes
    private static let pairBytes = 9

    /// For each part, in the order of the numbers: number (1) ‖ digest (8). A state has as many of these as there are items, so they are
    /// kept as they are stored.
    package let bytes: [UInt8]

    package init(_ digests: [ItemPart: UInt64]) {
        bytes = digests.filter { $0.value != 0 }.sorted { $0.key.rawValue < $1.key.rawValue }.flatMap { part, digest in
            [part.rawValue] + withUnsafeBytes(of: digest.bigEndian) { Array($0) }
        }
    }

    /// Returns nil if the parts are unknown or not in their order, or a digest is 0.
    package init?(bytes: [UInt8]) {
        guard bytes.count.isMultiple(of: Self.pairBytes) else { return nil }
        self.init(checked: bytes)
        let parts = stride(from: 0, to: bytes.count, by: Self.pairBytes).map { bytes[$0] }
        guard zip(parts, parts.dropFirst()).allSatisfy(<), parts.allSatisfy({ ItemPart(rawValue: $0).map { self[$0] != 0 } ?? false })
        else {
            return nil
        }
    }

    private init(checked bytes: [UInt8]) { self.bytes = bytes }

    /// The digest of a part; 0 if the item does not have it.
    package subscript(part: ItemPart) -> UInt64 {
        guard let place = stride(from: 0, to: bytes.count, by: Self.pairBytes).first(where: { bytes[$0] == part.rawValue }) else {
            return 0
        }
        return bytes[place + 1..<place + Self.pairBytes].reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// The parts that differ from those of another version, among them those that only one of the two has.
    package func parts(otherThanIn other: PartDigests) -> [ItemPart] {
        self == other ? [] : ItemPart.allCases.filter { self[$0] != other[$0] }
    }
}

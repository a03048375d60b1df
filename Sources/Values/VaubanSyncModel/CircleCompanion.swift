// Companions (Specs/sync.md, "A companion"): devices that receive the items on a list and change nothing for the other devices.

package import VaubanDER

/// The blinded names of items, sorted and distinct.
package struct BlindedNames: Hashable, Sendable {
    package static let countMax = 100
    package static let nameBytes = 16
    package static let empty = BlindedNames()

    package let all: [[UInt8]]

    private init() { all = [] }

    /// Sorts the names, of 16 bytes each. Returns nil if there are more than 100, or a name has another length.
    package init?(_ names: some Sequence<[UInt8]>) {
        let distinct = Set(names)
        guard distinct.count <= Self.countMax, distinct.allSatisfy({ $0.count == Self.nameBytes }) else { return nil }
        all = distinct.sorted { $0.lexicographicallyPrecedes($1) }
    }

    /// Reads joined names. Returns nil if they are not sorted, or a name occurs twice.
    package init?(joined bytes: [UInt8]) {
        guard bytes.count.isMultiple(of: Self.nameBytes) else { return nil }
        let names = stride(from: 0, to: bytes.count, by: Self.nameBytes).map { Array(bytes[$0..<$0 + Self.nameBytes]) }
        guard let sorted = BlindedNames(names), sorted.all == names else { return nil }
        self = sorted
    }

    package var joined: [UInt8] { all.flatMap(\.self) }

    package func contains(_ name: [UInt8]) -> Bool { all.contains(name) }
}

extension DERFields {
    package mutating func names(_ field: StaticString) throws -> BlindedNames {
        guard let names = BlindedNames(joined: try octets(field, in: 0...BlindedNames.countMax * BlindedNames.nameBytes)) else {
            throw DERError("\(field) are not sorted names")
        }
        return names
    }
}

/// A companion, as visible outside the enclave.
package struct CircleCompanion: Hashable, Sendable, DERReadable, DERWritable {
    /// The device. Its signatures have no effect in the circle.
    package let device: CircleMember
    /// The names of the items that it receives.
    package let names: BlindedNames

    package init(device: CircleMember, names: BlindedNames) {
        self.device = device
        self.names = names
    }

    package init(from fields: inout DERFields) throws {
        device = try fields.value("device")
        names = try fields.names("names")
    }

    package func write(into der: inout DERWriter) throws {
        try der.sequence { fields in
            try fields.value(device)
            try fields.octets(names.joined)
        }
    }
}

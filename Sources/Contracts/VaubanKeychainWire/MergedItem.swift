package import VaubanDER
package import VaubanSyncModel

/// The outcome for an item of another device that was merged with the item here (Specs/sync.md, "Parts").
package struct MergedItem: Hashable, Sendable {
    /// What the row here contains now.
    package enum Content: Int64, CaseIterable, Hashable, Sendable {
        /// The received item, unchanged.
        case received = 1
        /// What it contained before: nothing was written.
        case here = 2
        /// Parts of both.
        case both = 3
    }

    package let content: Content
    /// The row's mark, identity and date of change.
    package let mark: [UInt8]
    package let item: [UInt8]
    package let changed: Int64
    /// The digests of the received item's parts.
    package let parts: PartDigests
    /// The parts that both devices changed, differently; nil if the conflict was decided for the whole item.
    package let contested: [ItemPart]?

    package init(content: Content, mark: [UInt8], item: [UInt8], changed: Int64, parts: PartDigests, contested: [ItemPart]?) {
        self.content = content
        self.mark = mark
        self.item = item
        self.changed = changed
        self.parts = parts
        self.contested = contested
    }
}

/// `MergedItem ::= SEQUENCE { content INTEGER, mark OCTET STRING, item OCTET STRING, changed INTEGER, parts OCTET STRING,
///   contested [0] OCTET STRING OPTIONAL }`; the numbers of contested parts, in their order
extension MergedItem: DERReadable, DERWritable {
    package init(from fields: inout DERFields) throws {
        guard let content = Content(rawValue: try fields.integer("content", in: 1...3)) else { throw DERError("content is unknown") }
        self.content = content
        mark = try fields.octets("mark", in: SyncRequest.markBytes...SyncRequest.markBytes)
        item = try fields.octets("item", in: SyncRequest.itemBytes...SyncRequest.itemBytes)
        changed = try fields.integer("changed", in: Int64.min...Int64.max)
        parts = try fields.parts()
        let numbers = try fields.optionalOctets(0, "contested parts", in: 0...ItemPart.allCases.count)
        contested = try numbers.map { numbers in
            guard zip(numbers, numbers.dropFirst()).allSatisfy(<) else { throw DERError("contested parts are out of order") }
            return try numbers.map { number in
                guard let part = ItemPart(rawValue: number) else { throw DERError("contested part is unknown") }
                return part
            }
        }
    }

    package func write(into der: inout DERWriter) throws {
        try der.sequence { fields in
            try fields.integer(content.rawValue)
            try fields.octets(mark)
            try fields.octets(item)
            try fields.integer(changed)
            try fields.octets(parts.bytes)
            try fields.optionalOctets(0, contested?.map(\.rawValue))
        }
    }
}

/// `PartMerge ::= FIELDS { common SEQUENCE OF OCTET STRING, own SEQUENCE OF OCTET STRING, receivedWins BOOLEAN }`
extension PartMerge {
    init(from fields: inout DERFields) throws {
        let common = try fields.versions()
        guard !common.isEmpty else { throw DERError("common versions are missing") }
        self.init(common: common, own: try fields.versions(), receivedWins: try fields.boolean("received wins"))
    }

    func write(into der: inout DERWriter) throws {
        for versions in [common, own] { try der.sequence { list in for version in versions { try list.octets(version.bytes) } } }
        try der.boolean(receivedWins)
    }
}

extension DERFields {
    fileprivate mutating func versions() throws -> [PartDigests] {
        try sequence("versions") { list in
            var versions: [PartDigests] = []
            while !list.isEmpty {
                guard versions.count < SyncedVersion.countMax else { throw DERError("versions are too many") }
                versions.append(try list.parts())
            }
            return versions
        }
    }

    mutating func parts() throws -> PartDigests {
        guard let parts = PartDigests(bytes: try octets("parts", in: 0...PartDigests.bytesMax)) else {
            throw DERError("parts are out of order")
        }
        return parts
    }

    mutating func optionalParts(_ number: UInt) throws -> PartDigests? {
        guard let bytes = try optionalOctets(number, "parts", in: 0...PartDigests.bytesMax) else { return nil }
        guard let parts = PartDigests(bytes: bytes) else { throw DERError("parts are out of order") }
        return parts
    }
}

package import VaubanAccessPolicy
package import VaubanDER

/// The identity of a row, authenticated in each of its ciphertexts: a row that was moved, downgraded, mixed or renamed does not open
/// (Specs/key-hierarchy.md). Its DER bytes are the additional data of both halves and of the wrapped item key.
///
/// `RowBinding ::= SEQUENCE { format INTEGER (1..2), user INTEGER, protection INTEGER, generation OCTET STRING (SIZE (8)),
///   item OCTET STRING (SIZE (16)), version OCTET STRING (SIZE (16)), kind INTEGER, accessGroup UTF8String,
///   accessControl [0] AccessControl OPTIONAL }`
package struct RowBinding: Hashable, Sendable, DERReadable, DERWritable {
    package static let accessGroupBytesMax = 512

    /// The parts that are bound to the generation of the class key: in format 1 all of them; in format 2 only what a class key wraps, so
    /// that a row can be rewrapped without opening its secret.
    package enum Format: Int64, Sendable {
        case generationBound = 1
        case generationSeparate = 2
    }

    package let format: Format
    package let user: UInt32
    package let protection: ProtectionClass
    /// The class-key generation that wraps the item key.
    package let generation: [UInt8]
    /// The item's identity, for its whole life.
    package let item: [UInt8]
    /// New with each write, so that halves of two writes never fit together.
    package let version: [UInt8]
    package let kind: Int64
    package let accessGroup: String
    package let accessControl: AccessControl?

    package init(
        format: Format = .generationSeparate, user: UInt32, protection: ProtectionClass, generation: [UInt8], item: [UInt8],
        version: [UInt8], kind: Int64, accessGroup: String, accessControl: AccessControl?
    ) {
        self.format = format
        self.user = user
        self.protection = protection
        self.generation = generation
        self.item = item
        self.version = version
        self.kind = kind
        self.accessGroup = accessGroup
        self.accessControl = accessControl
    }

    package init(from fields: inout DERFields) throws {
        format = try fields.integer("format", in: 1...2) == 1 ? .generationBound : .generationSeparate
        user = UInt32(try fields.integer("user", in: 0...Int64(UInt32.max)))
        guard let protection = ProtectionClass(number: try fields.integer("protection", in: 1...64)) else {
            throw DERError("protection is unknown")
        }
        self.protection = protection
        generation = try fields.octets("generation", in: 8...8)
        item = try fields.octets("item", in: 16...16)
        version = try fields.octets("version", in: 16...16)
        kind = try fields.integer("kind", in: 1...255)
        accessGroup = try fields.text("access group", max: Self.accessGroupBytesMax)
        accessControl = try fields.optional(0, "access control") { try $0.value("access control", as: AccessControl.self) }
        if let accessControl, accessControl.protection != protection { throw DERError("access control is of another class") }
    }

    package func write(into der: inout DERWriter) throws {
        try der.sequence { fields in
            try fields.integer(format.rawValue)
            try fields.integer(Int64(user))
            try fields.integer(protection.number)
            try fields.octets(generation)
            try fields.octets(item)
            try fields.octets(version)
            try fields.integer(kind)
            try fields.text(accessGroup)
            if let accessControl { try fields.tagged(0) { try $0.value(accessControl) } }
        }
    }

    /// Returns the same row under another generation of its class key.
    package func with(generation: [UInt8]) -> RowBinding {
        RowBinding(
            format: format, user: user, protection: protection, generation: generation, item: item, version: version, kind: kind,
            accessGroup: accessGroup, accessControl: accessControl)
    }

    /// The binding of the item's own secrets: in format 2 the row with eight zero bytes in place of its generation, in format 1 the whole
    /// row.
    package var itemBinding: RowBinding { format == .generationBound ? self : with(generation: [UInt8](repeating: 0, count: 8)) }
}

package import SwiftASN1
package import VaubanAccessPolicy
package import VaubanDER

/// What a row is, bound into every ciphertext of it: moved, downgraded, mixed or renamed, it no longer opens
/// (Specs/key-hierarchy.md). Its DER bytes are the additional data of both halves and of the wrapped item key.
///
/// `RowBinding ::= SEQUENCE { format INTEGER (1), person INTEGER, protection INTEGER, generation OCTET STRING (SIZE (8)),
///   item OCTET STRING (SIZE (16)), version OCTET STRING (SIZE (16)), kind INTEGER, accessGroup UTF8String,
///   accessControl [0] AccessControl OPTIONAL }`
package struct RowBinding: Hashable, Sendable, DERReadable, DERWritable {
    package static let accessGroupBytesMax = 512

    package let person: UInt32
    package let protection: Protection
    /// The class-key generation that wraps the item key.
    package let generation: [UInt8]
    /// The item's identity, for its whole life.
    package let item: [UInt8]
    /// Fresh at each write, so that halves of two writes never fit.
    package let version: [UInt8]
    package let kind: Int64
    package let accessGroup: String
    package let accessControl: AccessControl?

    package init(
        person: UInt32, protection: Protection, generation: [UInt8], item: [UInt8], version: [UInt8], kind: Int64, accessGroup: String,
        accessControl: AccessControl?
    ) {
        self.person = person
        self.protection = protection
        self.generation = generation
        self.item = item
        self.version = version
        self.kind = kind
        self.accessGroup = accessGroup
        self.accessControl = accessControl
    }

    package init(from fields: inout DERFields) throws {
        _ = try fields.integer("format", in: 1...1)
        person = UInt32(try fields.integer("person", in: 0...Int64(UInt32.max)))
        guard let protection = Protection(number: try fields.integer("protection", in: 1...64)) else {
            throw DERFault("protection is unknown")
        }
        self.protection = protection
        generation = try fields.octets("generation", in: 8...8)
        item = try fields.octets("item", in: 16...16)
        version = try fields.octets("version", in: 16...16)
        kind = try fields.integer("kind", in: 1...255)
        accessGroup = try fields.text("access group", max: Self.accessGroupBytesMax)
        accessControl = try fields.optional(0, "access control") { try $0.value("access control", as: AccessControl.self) }
        if let accessControl, accessControl.protection != protection { throw DERFault("access control is of another class") }
    }

    package func write(into der: inout DER.Serializer) throws {
        try der.sequence { fields in
            try fields.integer(1)
            try fields.integer(Int64(person))
            try fields.integer(protection.number)
            try fields.octets(generation)
            try fields.octets(item)
            try fields.octets(version)
            try fields.integer(kind)
            try fields.text(accessGroup)
            if let accessControl { try fields.tagged(0) { try $0.value(accessControl) } }
        }
    }
}

// The few shapes of all our ASN.1 modules. swift-asn1 does the encoding.

package import SwiftASN1

/// A value that has exactly one DER form.
package protocol DERWritable {
    func write(into der: inout DER.Serializer) throws
}

/// A value that is decoded from DER strictly: every byte is consumed, and there is no second encoding.
package protocol DERReadable {
    init(from fields: inout DERFields) throws
}

package typealias DERValue = DERReadable & DERWritable

extension DER.Serializer {
    package mutating func sequence(_ body: (inout DER.Serializer) throws -> Void) rethrows {
        try appendConstructedNode(identifier: .sequence, body)
    }

    /// Writes an alternative of a CHOICE or an optional field: a constructed context tag around its fields.
    package mutating func tagged(_ number: UInt, _ body: (inout DER.Serializer) throws -> Void) rethrows {
        try appendConstructedNode(identifier: ASN1Identifier(tagWithNumber: number, tagClass: .contextSpecific), body)
    }

    package mutating func integer(_ value: Int64) throws { try serialize(value) }
    package mutating func boolean(_ value: Bool) throws { try serialize(value) }
    package mutating func octets(_ bytes: [UInt8]) throws { try serialize(ASN1OctetString(contentBytes: bytes[...])) }
    package mutating func text(_ value: String) throws { try serialize(ASN1UTF8String(value)) }
    package mutating func value(_ value: some DERWritable) throws { try value.write(into: &self) }

    package mutating func optionalText(_ number: UInt, _ value: String?) throws {
        if let value { try tagged(number) { try $0.text(value) } }
    }

    package mutating func optionalOctets(_ number: UInt, _ value: [UInt8]?) throws {
        if let value { try tagged(number) { try $0.octets(value) } }
    }

    package mutating func optionalInteger(_ number: UInt, _ value: Int64?) throws {
        if let value { try tagged(number) { try $0.integer(value) } }
    }

    package mutating func list(_ values: some Sequence<some DERWritable>) throws {
        try sequence { list in for value in values { try value.write(into: &list) } }
    }
}

extension DERWritable {
    /// Returns the value's bytes. Encoding fails only for a value that its own type should have refused.
    package func encoded() throws -> [UInt8] {
        var serializer = DER.Serializer()
        try write(into: &serializer)
        return serializer.serializedBytes
    }
}

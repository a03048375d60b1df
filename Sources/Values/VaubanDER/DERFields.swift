// Decoding: bytes become a value that is valid by its type, or an error that says what was wrong. The reader sets the limits, never the
// sender.

package import SwiftASN1

/// Why bytes were refused. The text names a field, never its value.
package struct DERError: Error, CustomStringConvertible {
    package let description: String
    /// The version that the bytes name if it is later than any known one: they may be intact. Nil for damage, including a version before
    /// the first.
    package let newerVersion: Int64?

    package init(_ description: String, newerVersion: Int64? = nil) {
        self.description = description
        self.newerVersion = newerVersion
    }
}

/// The fields of one SEQUENCE or tagged alternative, read in order.
package struct DERFields {
    private var nodes: ASN1NodeCollection.Iterator
    private var ahead: ASN1Node?

    package init(_ collection: ASN1NodeCollection) {
        nodes = collection.makeIterator()
        ahead = nodes.next()
    }

    package var isEmpty: Bool { ahead == nil }

    package mutating func next(_ field: StaticString) throws -> ASN1Node {
        guard let node = ahead else { throw DERError("\(field) is missing") }
        ahead = nodes.next()
        return node
    }

    /// Throws if fields are left.
    package func end(_ type: StaticString) throws {
        if ahead != nil { throw DERError("\(type) has a field too many") }
    }

    package mutating func integer(_ field: StaticString, in range: ClosedRange<Int64>) throws -> Int64 {
        let value = try Int64(derEncoded: next(field))
        guard range.contains(value) else { throw DERError("\(field) is out of range") }
        return value
    }

    /// Reads the version that begins a message or a blob. Another one is refused before anything after it is read.
    package mutating func version(_ known: Int64) throws {
        let version = try Int64(derEncoded: next("version"))
        guard version == known else {
            throw DERError(
                "version \(version) is not known; this Vauban speaks version \(known)", newerVersion: version > known ? version : nil)
        }
    }

    /// Reads the version of a format whose older versions are read too, and returns it.
    package mutating func version(_ known: ClosedRange<Int64>) throws -> Int64 {
        let version = try Int64(derEncoded: next("version"))
        guard known.contains(version) else {
            throw DERError(
                "version \(version) is not known; this Vauban speaks versions \(known.lowerBound) to \(known.upperBound)",
                newerVersion: version > known.upperBound ? version : nil)
        }
        return version
    }

    package mutating func boolean(_ field: StaticString) throws -> Bool {
        try Bool(derEncoded: next(field))
    }

    package mutating func octets(_ field: StaticString, in range: ClosedRange<Int>) throws -> [UInt8] {
        let value = try ASN1OctetString(derEncoded: next(field)).bytes
        guard range.contains(value.count) else { throw DERError("\(field) has a wrong length") }
        return Array(value)
    }

    package mutating func text(_ field: StaticString, max: Int) throws -> String {
        let bytes = try ASN1UTF8String(derEncoded: next(field)).bytes
        guard bytes.count <= max else { throw DERError("\(field) is too long") }
        guard let text = String(validating: bytes, as: UTF8.self) else { throw DERError("\(field) is not UTF-8") }
        return text
    }

    package mutating func sequence<Value>(_ field: StaticString, _ body: (inout DERFields) throws -> Value) throws -> Value {
        try Self.inside(next(field), identifier: .sequence, field, body)
    }

    package mutating func value<Value: DERReadable>(_ field: StaticString, as type: Value.Type = Value.self) throws -> Value {
        try sequence(field) { try Value(from: &$0) }
    }

    package mutating func list<Value: DERReadable>(_ field: StaticString, max: Int, of type: Value.Type = Value.self) throws -> [Value] {
        try sequence(field) { fields in
            var values: [Value] = []
            while !fields.isEmpty {
                guard values.count < max else { throw DERError("\(field) has too many elements") }
                values.append(try fields.value(field))
            }
            return values
        }
    }

    /// Reads an alternative or optional field with a context tag. Returns nil if the next field has another tag.
    package mutating func optional<Value>(
        _ number: UInt, _ field: StaticString, _ body: (inout DERFields) throws -> Value
    ) throws -> Value? {
        guard let tag = ahead?.identifier, tag.tagClass == .contextSpecific, tag.tagNumber == number else { return nil }
        return try Self.inside(next(field), identifier: tag, field, body)
    }

    package mutating func optionalText(_ number: UInt, _ field: StaticString, max: Int) throws -> String? {
        try optional(number, field) { try $0.text(field, max: max) }
    }

    package mutating func optionalOctets(_ number: UInt, _ field: StaticString, in range: ClosedRange<Int>) throws -> [UInt8]? {
        try optional(number, field) { try $0.octets(field, in: range) }
    }

    package mutating func optionalInteger(_ number: UInt, _ field: StaticString, in range: ClosedRange<Int64>) throws -> Int64? {
        try optional(number, field) { try $0.integer(field, in: range) }
    }

    /// Returns the number of the next context tag, which names an alternative of a CHOICE.
    package func choice(_ field: StaticString) throws -> UInt {
        guard let tag = ahead?.identifier, tag.tagClass == .contextSpecific else { throw DERError("\(field) has no alternative") }
        return tag.tagNumber
    }

    private static func inside<Value>(
        _ node: ASN1Node, identifier: ASN1Identifier, _ field: StaticString, _ body: (inout DERFields) throws -> Value
    ) throws -> Value {
        guard node.identifier == identifier, case .constructed(let collection) = node.content else {
            throw DERError("\(field) has a wrong type")
        }
        var fields = DERFields(collection)
        let value = try body(&fields)
        try fields.end("a sequence")
        return value
    }
}

extension DERReadable {
    /// Decodes one value. Throws if anything follows it.
    package init(derBytes bytes: [UInt8]) throws {
        let root = try DER.parse(bytes)
        guard root.identifier == .sequence, case .constructed(let collection) = root.content else {
            throw DERError("not a sequence")
        }
        var fields = DERFields(collection)
        try self.init(from: &fields)
        try fields.end("the message")
    }
}

// Decoding of bytes into a value that is valid by its type, or into an error with the reason. The reader sets the limits, never the sender.

internal import SwiftASN1

/// Why bytes were refused. The fault is in what the peer sent, or in what the disk returned. The text names a field, never its value.
package struct DERError: Error, CustomStringConvertible {
    package let description: String
    /// The version that the bytes state if it is later than any known one: they may be intact. Nil for damage, including a version before
    /// the first.
    package let newerVersion: Int64?

    package init(_ description: String, newerVersion: Int64? = nil) {
        self.description = description
        self.newerVersion = newerVersion
    }
}

/// The fields of one SEQUENCE or tagged alternative, read in order.
///
/// Every message between processes and every row passes through here, so the few forms in our modules are decoded without building a tree:
/// an identifier is one byte, a length has one form, and each byte is read once. It accepts exactly what swift-asn1 accepts for these
/// forms, which tests and fuzzers verify. Generic functions are inlinable, so that the compiler specializes them for the types that are
/// read.
package struct DERFields {
    @usableFromInline var reader: DERReader
    /// The position after the fields.
    @usableFromInline var end: Int
    @usableFromInline var depth = 1

    @usableFromInline init(_ bytes: [UInt8]) {
        reader = DERReader(bytes)
        end = bytes.count
    }

    @inlinable package var isEmpty: Bool { reader.position == end }

    /// Throws if fields remain.
    package func end(_ type: StaticString) throws {
        if !isEmpty { throw DERError("\(type) has a field too many") }
    }

    package mutating func integer(_ field: StaticString, in range: ClosedRange<Int64>) throws -> Int64 {
        let value = try integer(field)
        guard range.contains(value) else { throw DERError("\(field) is out of range") }
        return value
    }

    /// Reads the version that begins a message or a blob. Another one is refused before anything after it is read.
    package mutating func version(_ known: Int64) throws {
        let version = try integer("version")
        guard version == known else { throw unknownVersion(version, "version \(known)", isNewer: version > known) }
    }

    /// Reads and returns the version of a format whose older versions are accepted too.
    package mutating func version(_ known: ClosedRange<Int64>) throws -> Int64 {
        let version = try integer("version")
        guard known.contains(version) else {
            throw unknownVersion(version, "versions \(known.lowerBound) to \(known.upperBound)", isNewer: version > known.upperBound)
        }
        return version
    }

    package mutating func boolean(_ field: StaticString) throws -> Bool {
        let content = try primitive(.boolean, field)
        guard content.count == 1, let byte = content.first, byte == 0 || byte == 0xFF else { throw DERError("\(field) is not a Boolean") }
        return byte == 0xFF
    }

    package mutating func octets(_ field: StaticString, in range: ClosedRange<Int>) throws -> [UInt8] {
        let content = try primitive(.octetString, field)
        guard range.contains(content.count) else { throw DERError("\(field) has a wrong length") }
        return Array(content)
    }

    package mutating func text(_ field: StaticString, max: Int) throws -> String {
        let content = try primitive(.utf8String, field)
        guard content.count <= max else { throw DERError("\(field) is too long") }
        guard let text = try? UTF8Span(validating: content.span) else { throw DERError("\(field) is not UTF-8") }
        return String(copying: text)
    }

    @inlinable package mutating func sequence<Value>(_ field: StaticString, _ body: (inout DERFields) throws -> Value) throws -> Value {
        try inside(.sequence, field, read: body)
    }

    @inlinable package mutating func value<Value: DERReadable>(_ field: StaticString, as type: Value.Type = Value.self) throws -> Value {
        try sequence(field) { try Value(from: &$0) }
    }

    @inlinable package mutating func list<Value: DERReadable>(_ field: StaticString, max: Int, of type: Value.Type = Value.self) throws
        -> [Value]
    {
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
    @inlinable package mutating func optional<Value>(
        _ number: UInt, _ field: StaticString, read body: (inout DERFields) throws -> Value
    ) throws -> Value? {
        guard number <= 30 else {
            guard reader.contextNumber(before: end) == number else { return nil }
            // The type has no such alternative; `body` names it in its error.
            var nothing = DERFields([])
            _ = try body(&nothing)
            throw DERError("\(field) has an unknown alternative")
        }
        guard let tag = reader.identifier(before: end), tag.contextNumber == number else { return nil }
        return try inside(.context(number), field, read: body)
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
        guard let number = reader.contextNumber(before: end) else { throw DERError("\(field) has no alternative") }
        return number
    }

    // MARK: Parts

    private mutating func integer(_ field: StaticString) throws -> Int64 {
        let content = try primitive(.integer, field)
        guard let first = content.first, content.count <= 8 else { throw DERError("\(field) is not a number of at most eight bytes") }
        if content.count > 1 {
            // The first nine bits must differ, or the number would have a shorter form.
            let isNegative = content[content.startIndex + 1] & 0x80 != 0
            guard first != (isNegative ? 0xFF : 0) else { throw DERError("\(field) is longer than it need be") }
        }
        return content.reduce(Int64(Int8(bitPattern: first) >> 7)) { $0 << 8 | Int64($1) }
    }

    private mutating func primitive(_ identifier: DERIdentifier, _ field: StaticString) throws -> ArraySlice<UInt8> {
        let length = try reader.begin(identifier, field, before: end)
        defer { reader.position += length }
        return reader.bytes[reader.position..<reader.position + length]
    }

    /// Calls `body` with the content of a constructed field, all of which it must read.
    @inlinable mutating func inside<Value>(
        _ identifier: DERIdentifier, _ field: StaticString, read body: (inout DERFields) throws -> Value
    ) throws -> Value {
        let length = try reader.begin(identifier, field, before: end)
        guard depth < DERReader.depthMax else { throw DERError("\(field) is too deep") }
        let outerEnd = end
        end = reader.position + length
        depth += 1
        let value = try body(&self)
        try end("a sequence")
        end = outerEnd
        depth -= 1
        return value
    }

    /// Returns the error for an unknown version. Bytes count as of a later version, whose tags may differ, only if swift-asn1 can read them
    /// to the end.
    private func unknownVersion(_ version: Int64, _ known: String, isNewer: Bool) -> DERError {
        DERError(
            "version \(version) is not known; this Vauban speaks \(known)",
            newerVersion: isNewer && (try? DER.parse(reader.bytes)) != nil ? version : nil)
    }
}

extension DERReadable {
    /// Reads one value and nothing after it.
    @inlinable package init(derBytes bytes: [UInt8]) throws {
        var fields = DERFields(bytes)
        self = try fields.value("the message")
        try fields.end("the message")
    }
}

// The tags and lengths of DER (X.690, 8.1 and 10.1), as far as our modules use them.

/// The identifier of a field, as one byte, which it is for tag numbers below 31.
@usableFromInline struct DERIdentifier: Equatable, Sendable {
    static let boolean = Self(byte: 0x01)
    static let integer = Self(byte: 0x02)
    static let octetString = Self(byte: 0x04)
    static let utf8String = Self(byte: 0x0C)
    @usableFromInline static let sequence = Self(byte: 0x30)
    @inlinable static func context(_ number: UInt) -> Self { Self(byte: 0xA0 | UInt8(number)) }

    @usableFromInline let byte: UInt8

    @inlinable init(byte: UInt8) { self.byte = byte }

    /// The number of a context tag; nil for tags of other classes and for numbers from 31 on, which need further bytes.
    @inlinable var contextNumber: UInt? { byte & 0xC0 == 0x80 && byte & 0x1F != 0x1F ? UInt(byte & 0x1F) : nil }
}

/// A place in bytes, from which fields are read. Every access is within the bounds of the array.
@usableFromInline struct DERReader {
    /// The maximum nesting depth of fields.
    @usableFromInline static let depthMax = 50

    @usableFromInline let bytes: [UInt8]
    @usableFromInline var position = 0

    @usableFromInline init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// The identifier of the next field; nil at the end.
    @inlinable func identifier(before end: Int) -> DERIdentifier? { position < end ? DERIdentifier(byte: bytes[position]) : nil }

    /// Returns the number of the next field's context tag, even if the number takes further bytes (X.690, 8.1.2.4); nil for other tags. No
    /// format here has such numbers, so this is only used to name an unknown alternative in an error.
    @usableFromInline func contextNumber(before end: Int) -> UInt? {
        guard let identifier = identifier(before: end), identifier.byte & 0xC0 == 0x80 else { return nil }
        guard identifier.byte & 0x1F == 0x1F else { return identifier.contextNumber }
        var number: UInt = 0
        // Four bytes of seven bits, the first of which is not zero.
        for offset in 1...4 where position + offset < end {
            let byte = bytes[position + offset]
            guard offset > 1 || byte != 0x80 else { return nil }
            number = number << 7 | UInt(byte & 0x7F)
            if byte & 0x80 == 0 { return number > 30 ? number : nil }
        }
        return nil
    }

    /// Enters a field that must have this identifier and end before `end`. Returns the length of its content.
    @usableFromInline mutating func begin(_ wanted: DERIdentifier, _ field: StaticString, before end: Int) throws -> Int {
        guard let identifier = identifier(before: end) else { throw DERError("\(field) is missing") }
        guard identifier == wanted else { throw DERError("\(field) has a wrong type") }
        position += 1
        guard let length = length(before: end) else { throw DERError("\(field) has no length that is right") }
        return length
    }

    /// Reads the next length, which must have its shortest form and not exceed the remaining bytes; nil for any other.
    private mutating func length(before end: Int) -> Int? {
        guard position < end else { return nil }
        let first = bytes[position]
        position += 1
        var length = Int(first)
        if first & 0x80 != 0 {
            // No message or file of ours needs more than four bytes.
            let count = Int(first & 0x7F)
            guard (1...4).contains(count), count <= end - position else { return nil }
            length = 0
            for _ in 0..<count {
                length = length << 8 | Int(bytes[position])
                position += 1
            }
            guard length >= 0x80, length >> (8 * (count - 1)) != 0 else { return nil }
        }
        return length <= end - position ? length : nil
    }
}

/// Writes the few forms in our ASN.1 modules (X.690, 8 and 10).
///
/// Every message between processes and every row is written here, each byte once: the length of a constructed field is reserved as one
/// byte, which suffices for most of them, and the content is moved if it needs more. Tests compare it with swift-asn1. Generic functions
/// are inlinable, so that the compiler specializes them for the types that are written.
///
/// The functions that write fields throw, since a type may refuse to be written; here only texts and octets do, if they are longer than the
/// reader accepts.
package struct DERWriter {
    /// The bytes written so far.
    package private(set) var bytes: [UInt8] = []
    /// The initial capacity, with which most messages are written without reallocation.
    private static let capacity = 512

    package init() { bytes.reserveCapacity(Self.capacity) }

    @inlinable package mutating func sequence(_ body: (inout DERWriter) throws -> Void) rethrows {
        let start = begin(.sequence)
        try body(&self)
        endConstructed(at: start)
    }

    /// Writes an alternative of a CHOICE or an optional field: a constructed context tag around its fields. The number is at most 30.
    @inlinable package mutating func tagged(_ number: UInt, _ body: (inout DERWriter) throws -> Void) rethrows {
        let start = begin(.context(number))
        try body(&self)
        endConstructed(at: start)
    }

    package mutating func integer(_ value: Int64) throws {
        // The first nine bits of the shortest form differ.
        let bits = 65 - (value < 0 ? ~value : value).leadingZeroBitCount
        let count = (bits + 7) / 8
        bytes.append(DERIdentifier.integer.byte)
        bytes.append(UInt8(count))
        for place in stride(from: count - 1, through: 0, by: -1) { bytes.append(UInt8(truncatingIfNeeded: value >> (8 * place))) }
    }

    package mutating func boolean(_ value: Bool) throws {
        bytes.append(DERIdentifier.boolean.byte)
        bytes.append(1)
        bytes.append(value ? 0xFF : 0)
    }

    package mutating func octets(_ content: [UInt8]) throws {
        try beginPrimitive(.octetString, count: content.count)
        bytes.append(contentsOf: content)
    }

    package mutating func text(_ value: String) throws {
        try beginPrimitive(.utf8String, count: value.utf8.count)
        bytes.append(contentsOf: value.utf8)
    }

    @inlinable package mutating func value(_ value: some DERWritable) throws { try value.write(into: &self) }

    package mutating func optionalText(_ number: UInt, _ value: String?) throws {
        if let value { try tagged(number) { try $0.text(value) } }
    }

    package mutating func optionalOctets(_ number: UInt, _ value: [UInt8]?) throws {
        if let value { try tagged(number) { try $0.octets(value) } }
    }

    package mutating func optionalInteger(_ number: UInt, _ value: Int64?) throws {
        if let value { try tagged(number) { try $0.integer(value) } }
    }

    @inlinable package mutating func list(_ values: some Sequence<some DERWritable>) throws {
        try sequence { list in for value in values { try value.write(into: &list) } }
    }

    // MARK: Parts

    /// Begins a constructed field with a length of one byte. Returns the position of its content.
    @usableFromInline mutating func begin(_ identifier: DERIdentifier) -> Int {
        bytes.append(identifier.byte)
        bytes.append(0)
        return bytes.count
    }

    @usableFromInline mutating func endConstructed(at start: Int) {
        let count = bytes.count - start
        guard count >= 0x80 else { return bytes[start - 1] = UInt8(count) }
        let places = Self.lengthBytes(of: count)
        bytes[start - 1] = 0x80 | UInt8(places)
        bytes.insert(contentsOf: (0..<places).reversed().map { UInt8(truncatingIfNeeded: count >> (8 * $0)) }, at: start)
    }

    /// Throws for content that the reader would refuse.
    private mutating func beginPrimitive(_ identifier: DERIdentifier, count: Int) throws {
        guard count <= UInt32.max else { throw DERError("a field is too long") }
        bytes.append(identifier.byte)
        guard count >= 0x80 else { return bytes.append(UInt8(count)) }
        let places = Self.lengthBytes(of: count)
        bytes.append(0x80 | UInt8(places))
        for place in (0..<places).reversed() { bytes.append(UInt8(truncatingIfNeeded: count >> (8 * place))) }
    }

    /// The number of bytes of a length in its long form.
    private static func lengthBytes(of count: Int) -> Int { (Int.bitWidth - count.leadingZeroBitCount + 7) / 8 }
}

// The data types of SSH (RFC 4251, section 5), read strictly from bytes of another process.

package import VaubanSecretBytes

/// Why bytes are not what the protocol says. The text carries no content.
package struct SSHError: Error, Hashable, CustomStringConvertible {
    package let description: String
    package init(_ description: String) { self.description = description }
}

/// Reads the fields of one message. It lends parts of the bytes that it was given, so it lives no longer than they do.
package struct SSHReader {
    private let bytes: UnsafeRawBufferPointer
    /// How many bytes were read.
    package private(set) var offset = 0

    package init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    /// Reads bytes that are no secret.
    package static func read<Value>(_ bytes: [UInt8], _ body: (inout SSHReader) throws(SSHError) -> Value) throws(SSHError) -> Value {
        let read: Result<Value, SSHError> = bytes.withUnsafeBytes { bytes in
            var reader = SSHReader(bytes)
            do throws(SSHError) { return .success(try body(&reader)) } catch { return .failure(error) }
        }
        return try read.get()
    }

    package var isAtEnd: Bool { offset == bytes.count }

    package mutating func byte() throws(SSHError) -> UInt8 {
        guard offset < bytes.count else { throw SSHError("a byte is missing") }
        defer { offset += 1 }
        return bytes[offset]
    }

    /// A Boolean as senders must write it: 0 or 1.
    package mutating func flag() throws(SSHError) -> Bool {
        let value = try byte()
        guard value <= 1 else { throw SSHError("a Boolean is neither 0 nor 1") }
        return value == 1
    }

    package mutating func number() throws(SSHError) -> UInt32 {
        guard bytes.count - offset >= 4 else { throw SSHError("a number is cut off") }
        defer { offset += 4 }
        return bytes[offset..<offset + 4].reduce(0) { $0 << 8 | UInt32($1) }
    }

    /// The bytes of a string, lent.
    package mutating func string() throws(SSHError) -> UnsafeRawBufferPointer {
        let count = Int(try number())
        guard bytes.count - offset >= count else { throw SSHError("a string is longer than its message") }
        defer { offset += count }
        return UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + count])
    }

    package mutating func octets() throws(SSHError) -> [UInt8] { [UInt8](try string()) }

    package mutating func text() throws(SSHError) -> String {
        let octets = try string()
        guard !octets.contains(0), let text = String(validating: octets, as: UTF8.self) else { throw SSHError("a text is not UTF-8") }
        return text
    }

    /// A string as a secret of its own.
    package mutating func secret() throws(SSHError) -> SecretBytes { SecretBytes(copying: try string()) }

    /// The bytes of a number that is not negative, without the zero that keeps it so (mpint).
    package mutating func magnitude() throws(SSHError) -> UnsafeRawBufferPointer {
        let octets = try string()
        guard let first = octets.first else { return octets }
        guard first & 0x80 == 0 else { throw SSHError("a number is negative") }
        guard first == 0 else { return octets }
        guard octets.count > 1, octets[1] & 0x80 != 0 else { throw SSHError("a number is not written in its shortest form") }
        return UnsafeRawBufferPointer(rebasing: octets[1...])
    }

    /// What has not been read, lent; nothing is left after it.
    package mutating func rest() -> UnsafeRawBufferPointer {
        defer { offset = bytes.count }
        return UnsafeRawBufferPointer(rebasing: bytes[offset...])
    }

    package func end() throws(SSHError) {
        guard isAtEnd else { throw SSHError("something follows the end of a message") }
    }
}

/// Writes the fields of one message that holds no secret.
package struct SSHWriter {
    package private(set) var bytes: [UInt8] = []

    package init() {}

    package mutating func byte(_ value: UInt8) { bytes.append(value) }
    package mutating func number(_ value: UInt32) { withUnsafeBytes(of: value.bigEndian) { bytes.append(contentsOf: $0) } }

    /// Bytes that are fields already.
    package mutating func raw(_ octets: [UInt8]) { bytes.append(contentsOf: octets) }

    package mutating func string(_ octets: some Collection<UInt8>) {
        number(UInt32(octets.count))
        bytes.append(contentsOf: octets)
    }

    package mutating func text(_ text: String) { string(text.utf8) }

    /// A number from its bytes, most significant first (mpint).
    package mutating func magnitude(_ octets: some Collection<UInt8>) {
        let digits = octets.drop { $0 == 0 }
        guard let first = digits.first else { return number(0) }
        number(UInt32(digits.count) + (first & 0x80 == 0 ? 0 : 1))
        if first & 0x80 != 0 { byte(0) }
        bytes.append(contentsOf: digits)
    }

    /// The fields as a message on the stream: its length, then themselves.
    package var framed: [UInt8] {
        var frame = SSHWriter()
        frame.string(bytes)
        return frame.bytes
    }

    package static func of(_ write: (inout SSHWriter) -> Void) -> [UInt8] {
        var writer = SSHWriter()
        write(&writer)
        return writer.bytes
    }
}

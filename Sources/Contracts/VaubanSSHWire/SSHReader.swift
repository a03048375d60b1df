// The data types of SSH (RFC 4251, section 5), decoded strictly from another process's bytes.

package import VaubanSecretBytes

/// A violation of the protocol in bytes of a peer, or in a stored key. The text contains nothing of the message.
package struct SSHError: Error, Hashable, CustomStringConvertible {
    package let description: String
    package init(_ description: String) { self.description = description }
}

/// Reads the fields of one message. It returns parts of the given bytes, so it must not outlive them.
package struct SSHReader {
    private let bytes: UnsafeRawBufferPointer
    /// Number of bytes read.
    package private(set) var offset = 0

    package init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    /// Reads bytes that are not secret.
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

    /// Reads a Boolean, which must be 0 or 1.
    package mutating func flag() throws(SSHError) -> Bool {
        let value = try byte()
        guard value <= 1 else { throw SSHError("a Boolean is neither 0 nor 1") }
        return value == 1
    }

    package mutating func number() throws(SSHError) -> UInt32 {
        guard bytes.count - offset >= 4 else { throw SSHError("a number is truncated") }
        defer { offset += 4 }
        return bytes[offset..<offset + 4].reduce(0) { $0 << 8 | UInt32($1) }
    }

    /// Reads a string. The bytes are not copied.
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

    /// Reads a string into a new secret.
    package mutating func secret() throws(SSHError) -> SecretBytes { SecretBytes(copying: try string()) }

    /// Reads a nonnegative number (mpint), without the zero byte that marks its sign.
    package mutating func magnitude() throws(SSHError) -> UnsafeRawBufferPointer {
        let octets = try string()
        guard let first = octets.first else { return octets }
        guard first & 0x80 == 0 else { throw SSHError("a number is negative") }
        guard first == 0 else { return octets }
        guard octets.count > 1, octets[1] & 0x80 != 0 else { throw SSHError("a number is not in its shortest form") }
        return UnsafeRawBufferPointer(rebasing: octets[1...])
    }

    /// Reads the remaining bytes. They are not copied.
    package mutating func rest() -> UnsafeRawBufferPointer {
        defer { offset = bytes.count }
        return UnsafeRawBufferPointer(rebasing: bytes[offset...])
    }

    package func end() throws(SSHError) {
        guard isAtEnd else { throw SSHError("data follow the end of a message") }
    }
}

/// Writes the fields of one message without secrets.
package struct SSHWriter {
    package private(set) var bytes: [UInt8] = []

    package init() {}

    package mutating func byte(_ value: UInt8) { bytes.append(value) }
    package mutating func number(_ value: UInt32) { withUnsafeBytes(of: value.bigEndian) { bytes.append(contentsOf: $0) } }

    /// Writes bytes that are already encoded fields.
    package mutating func raw(_ octets: [UInt8]) { bytes.append(contentsOf: octets) }

    package mutating func string(_ octets: some Collection<UInt8>) {
        number(UInt32(octets.count))
        bytes.append(contentsOf: octets)
    }

    package mutating func text(_ text: String) { string(text.utf8) }

    /// Writes a number (mpint) from its bytes, most significant first.
    package mutating func magnitude(_ octets: some Collection<UInt8>) {
        let digits = octets.drop { $0 == 0 }
        guard let first = digits.first else { return number(0) }
        number(UInt32(digits.count) + (first & 0x80 == 0 ? 0 : 1))
        if first & 0x80 != 0 { byte(0) }
        bytes.append(contentsOf: digits)
    }

    /// The fields as a message: the length, then the fields.
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

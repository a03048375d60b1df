package import VaubanSecretBytes

/// The keys in a QR code with which Google Authenticator transfers accounts to another device: `otpauth-migration://offline?data=BASE64`.
/// The data is a Protocol Buffers message with key, name, issuer, algorithm, digits, type and counter of each account.
package struct MigrationCodes: ~Copyable {
    /// One account. The secret is its raw key.
    package struct Account: ~Copyable {
        package var secret = SecretBytes(count: 0) { _ in }
        package var name = ""
        package var issuer = ""
        package var algorithm: UInt64 = 0
        package var digits: UInt64 = 0
        package var type: UInt64 = 0
        package var counter: UInt64 = 0
    }

    /// The place of a code in a series: an authenticator distributes many accounts over several codes.
    package struct Place: Hashable, Sendable {
        /// From 1 to `count`.
        package let number: UInt64
        package let count: UInt64
    }

    package static let prefix = "otpauth-migration://offline?data="

    /// Calls `body` with each account of the message, in order. Returns the code's place in its series; nil for a code that is not part of
    /// a series.
    ///
    /// - Parameter message: The decoded data.
    /// - Throws: `OneTimeCodeError.notAnAddress` for bytes that are not such a message; whatever `body` throws.
    @discardableResult
    package static func forEachAccount(in message: UnsafeRawBufferPointer, _ body: (borrowing Account) throws -> Void) throws -> Place? {
        var (count, index): (UInt64, UInt64) = (1, 0)
        var reader = ProtocolBufferReader(message)
        while let field = try reader.next() {
            switch (field.number, field.value) {
            case (1, .bytes(let bytes)): try body(try account(bytes))
            case (3, .number(let number)): count = number
            case (4, .number(let number)): index = number
            default: break
            }
        }
        return count > 1 && index < count ? Place(number: index + 1, count: count) : nil
    }

    private static func account(_ bytes: UnsafeRawBufferPointer) throws(OneTimeCodeError) -> Account {
        var account = Account()
        var reader = ProtocolBufferReader(bytes)
        while let field = try reader.next() {
            switch (field.number, field.value) {
            case (1, .bytes(let bytes)): account.secret = SecretBytes(copying: bytes)
            case (2, .bytes(let bytes)): account.name = String(decoding: bytes, as: UTF8.self)
            case (3, .bytes(let bytes)): account.issuer = String(decoding: bytes, as: UTF8.self)
            case (4, .number(let number)): account.algorithm = number
            case (5, .number(let number)): account.digits = number
            case (6, .number(let number)): account.type = number
            case (7, .number(let number)): account.counter = number
            default: break
            }
        }
        return account
    }
}

/// A reader for the fields of one Protocol Buffers message, limited to the types in this format: numbers and bytes.
struct ProtocolBufferReader {
    enum Value {
        case number(UInt64)
        case bytes(UnsafeRawBufferPointer)
    }

    private var rest: Slice<UnsafeRawBufferPointer>

    init(_ message: UnsafeRawBufferPointer) { rest = message[...] }

    /// Returns the next field; nil at the end.
    mutating func next() throws(OneTimeCodeError) -> (number: UInt64, value: Value)? {
        guard !rest.isEmpty else { return nil }
        let tag = try varint()
        switch tag & 7 {
        case 0: return (tag >> 3, .number(try varint()))
        case 2:
            let count = try varint()
            guard count <= UInt64(rest.count) else { throw .notAnAddress }
            let bytes = UnsafeRawBufferPointer(rebasing: rest.prefix(Int(count)))
            rest = rest.dropFirst(Int(count))
            return (tag >> 3, .bytes(bytes))
        default: throw .notAnAddress
        }
    }

    private mutating func varint() throws(OneTimeCodeError) -> UInt64 {
        var number: UInt64 = 0
        for shift in stride(from: UInt64(0), to: 64, by: 7) {
            guard let byte = rest.popFirst() else { throw .notAnAddress }
            number |= UInt64(byte & 0x7F) << shift
            if byte & 0x80 == 0 { return number }
        }
        throw .notAnAddress
    }
}

// An item key under everything that its control asks for, inside out: the application's password, then for each way to
// satisfy the control one seal after another. The class key wraps the result.

import SwiftASN1
import VaubanDER
import VaubanSecretBytes

/// `LayeredItemKey ::= SEQUENCE { ways SEQUENCE (SIZE (1..8)) OF Way, password [0] StretchParameters OPTIONAL }`,
/// `Way ::= SEQUENCE { seals SEQUENCE (SIZE (0..4)) OF Seal, ciphertext OCTET STRING }`. `Or` is several ways, `And` several
/// seals of one; the last seal is the outermost.
struct LayeredItemKey: Sendable, DERReadable, DERWritable {
    /// One HPKE seal to a factor pair; its ciphertext is what the next seal encrypts.
    struct Seal: Sendable, DERReadable, DERWritable {
        let pair: [UInt8]
        let encapsulated: [UInt8]

        init(pair: [UInt8], encapsulated: [UInt8]) {
            self.pair = pair
            self.encapsulated = encapsulated
        }

        init(from fields: inout DERFields) throws {
            pair = try fields.octets("pair", in: 8...8)
            encapsulated = try fields.octets("encapsulated key", in: 32...32)
        }

        func write(into der: inout DER.Serializer) throws {
            try der.sequence {
                try $0.octets(pair); try $0.octets(encapsulated)
            }
        }
    }

    struct Way: Sendable, DERReadable, DERWritable {
        let seals: [Seal]
        let ciphertext: [UInt8]

        init(seals: [Seal], ciphertext: [UInt8]) {
            self.seals = seals
            self.ciphertext = ciphertext
        }

        init(from fields: inout DERFields) throws {
            seals = try fields.list("seals", max: 4)
            ciphertext = try fields.octets("ciphertext", in: 16...256)
        }

        func write(into der: inout DER.Serializer) throws {
            try der.sequence {
                try $0.list(seals); try $0.octets(ciphertext)
            }
        }
    }

    private static let passwordLabel = "vauban application password v1"
    static let waysMax = 8
    let ways: [Way]
    let password: StretchParameters?

    init(ways: [Way], password: StretchParameters?) {
        self.ways = ways
        self.password = password
    }

    /// The one seal of a row in the first form.
    init(firstForm fields: inout DERFields) throws {
        let pair = try fields.octets("pair", in: 8...8)
        let encapsulated = try fields.octets("encapsulated key", in: 32...32)
        ways = [Way(seals: [Seal(pair: pair, encapsulated: encapsulated)], ciphertext: try fields.octets("ciphertext", in: 16...256))]
        password = nil
    }

    init(from fields: inout DERFields) throws {
        ways = try fields.list("ways", max: Self.waysMax)
        guard !ways.isEmpty else { throw DERError("ways is empty") }
        password = try fields.optional(0, "password") { try $0.value("password", as: StretchParameters.self) }
    }

    func write(into der: inout DER.Serializer) throws {
        try der.sequence { fields in
            try fields.list(ways)
            if let password { try fields.tagged(0) { try $0.value(password) } }
        }
    }

    // MARK: The innermost layer

    /// The item key under a key of the application's password.
    static func wrap(_ key: borrowing SecretBytes, underPassword password: borrowing SecretBytes, row: [UInt8]) throws(WrapError) -> [UInt8]
    {
        try KeyWrap.wrap(key, under: password, label: passwordLabel, context: row)
    }

    static func unwrap(_ wrapped: borrowing SecretBytes, withPassword password: borrowing SecretBytes, row: [UInt8]) throws(WrapError)
        -> SecretBytes
    {
        try KeyWrap.unwrap(wrapped.withUnsafeBytes { Array($0) }, under: password, label: passwordLabel, context: row)
    }

    // MARK: The ways

    /// Seals what lies inside to every way; each way is a list of pairs, the first innermost.
    init(_ inner: borrowing SecretBytes, to ways: [[KeySlot]], password: StretchParameters?, row: [UInt8]) throws(WrapError) {
        var made: [Way] = []
        for pairs in ways { made.append(try Self.way(inner, to: pairs, row)) }
        self.ways = made
        self.password = password
    }

    static func way(_ inner: borrowing SecretBytes, to pairs: [KeySlot], _ row: [UInt8]) throws(WrapError) -> Way {
        var seals: [Seal] = []
        var content = inner.duplicate()
        for slot in pairs {
            guard let publicKey = slot.publicKey else { throw WrapError() }
            let sealed = try FactorSeal.seal(content, to: publicKey, row: row)
            seals.append(Seal(pair: slot.generation, encapsulated: sealed.encapsulated))
            content = SecretBytes(copying: sealed.ciphertext)
        }
        return Way(seals: seals, ciphertext: content.withUnsafeBytes { Array($0) })
    }

    /// Opens one way with the private halves that `key` gives, the outermost seal first.
    static func open(
        _ way: Way, row: [UInt8], _ openSeal: (Seal, borrowing SecretBytes) throws(WrapError) -> SecretBytes
    ) throws(WrapError) -> SecretBytes {
        var content = SecretBytes(copying: way.ciphertext)
        for seal in way.seals.reversed() { content = try openSeal(seal, content) }
        return content
    }
}

// An item key inside all layers that its access control requires. From the inside out: the application password, then for each
// authentication method one seal after another. The class key wraps the result.

import VaubanDER
import VaubanSecretBytes

/// `LayeredItemKey ::= SEQUENCE { ways SEQUENCE (SIZE (1..8)) OF Way, password [0] StretchParameters OPTIONAL }`,
/// `Way ::= SEQUENCE { seals SEQUENCE (SIZE (0..4)) OF Seal, ciphertext OCTET STRING }`. `Or` gives several methods, `And` several
/// seals in one; the last seal is the outermost.
struct LayeredItemKey: Sendable, DERReadable, DERWritable {
    /// One HPKE seal to a factor pair. The next seal encrypts its ciphertext.
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

        func write(into der: inout DERWriter) throws {
            try der.sequence {
                try $0.octets(pair); try $0.octets(encapsulated)
            }
        }
    }

    struct Method: Sendable, DERReadable, DERWritable {
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

        func write(into der: inout DERWriter) throws {
            try der.sequence {
                try $0.list(seals); try $0.octets(ciphertext)
            }
        }
    }

    private static let passwordLabel = "vauban application password v1"
    static let methodsMax = 8
    let methods: [Method]
    let password: StretchParameters?

    init(methods: [Method], password: StretchParameters?) {
        self.methods = methods
        self.password = password
    }

    /// Reads the single seal of a row in format version 1.
    init(firstForm fields: inout DERFields) throws {
        let pair = try fields.octets("pair", in: 8...8)
        let encapsulated = try fields.octets("encapsulated key", in: 32...32)
        methods = [Method(seals: [Seal(pair: pair, encapsulated: encapsulated)], ciphertext: try fields.octets("ciphertext", in: 16...256))]
        password = nil
    }

    init(from fields: inout DERFields) throws {
        methods = try fields.list("methods", max: Self.methodsMax)
        guard !methods.isEmpty else { throw DERError("ways is empty") }
        password = try fields.optional(0, "password") { try $0.value("password", as: StretchParameters.self) }
    }

    func write(into der: inout DERWriter) throws {
        try der.sequence { fields in
            try fields.list(methods)
            if let password { try fields.tagged(0) { try $0.value(password) } }
        }
    }

    // MARK: Application password

    /// Wraps the item key with a key derived from the application password.
    static func wrap(_ key: borrowing SecretBytes, underPassword password: borrowing SecretBytes, row: [UInt8]) throws(WrapError) -> [UInt8]
    {
        try KeyWrap.wrap(key, under: password, label: passwordLabel, context: row)
    }

    static func unwrap(_ wrapped: borrowing SecretBytes, withPassword password: borrowing SecretBytes, row: [UInt8]) throws(WrapError)
        -> SecretBytes
    {
        try KeyWrap.unwrap(wrapped.withUnsafeBytes { Array($0) }, under: password, label: passwordLabel, context: row)
    }

    // MARK: Authentication methods

    /// Seals the inner bytes once for each method. A method is a list of pairs, the innermost first.
    init(_ inner: borrowing SecretBytes, to methods: [[KeySlot]], password: StretchParameters?, row: [UInt8]) throws(WrapError) {
        var made: [Method] = []
        for pairs in methods { made.append(try Self.method(inner, to: pairs, row)) }
        self.methods = made
        self.password = password
    }

    static func method(_ inner: borrowing SecretBytes, to pairs: [KeySlot], _ row: [UInt8]) throws(WrapError) -> Method {
        var seals: [Seal] = []
        var content = inner.duplicate()
        for slot in pairs {
            guard let publicKey = slot.publicKey else { throw WrapError() }
            let sealed = try FactorSeal.seal(content, to: publicKey, row: row)
            seals.append(Seal(pair: slot.generation, encapsulated: sealed.encapsulated))
            content = SecretBytes(copying: sealed.ciphertext)
        }
        return Method(seals: seals, ciphertext: content.withUnsafeBytes { Array($0) })
    }

    /// Opens one method with the private halves from `openSeal`, the outermost seal first.
    static func open(
        _ method: Method, row: [UInt8], _ openSeal: (Seal, borrowing SecretBytes) throws(WrapError) -> SecretBytes
    ) throws(WrapError) -> SecretBytes {
        var content = SecretBytes(copying: method.ciphertext)
        for seal in method.seals.reversed() { content = try openSeal(seal, content) }
        return content
    }
}

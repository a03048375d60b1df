// What the enclave stores of a user's access log (Specs/access-log.md): the last record that it knows, and the key to which the keys of
// records are sealed.

import Crypto
import EnclaveWire
import FoundationEssentials
import VaubanDER
import VaubanSecretBytes

/// `AccessLogState ::= SEQUENCE { version INTEGER (1..2), end AccessLogEnd, pairs SEQUENCE OF AccessLogKeyPair,
///   began [0] INTEGER (0..281474976710656) OPTIONAL }`
struct AccessLogState: DERReadable, DERWritable {
    /// The most key pairs: one for each generation of the keys that wrap them.
    static let pairsMax = EnclaveLimits.privateKeyGenerationsMax

    var end = AccessLogEnd.empty
    /// The key pairs, the newest first. There is none until the first is made, which requires an unlocked device.
    var pairs: [AccessLogKeyPair] = []

    /// The number of the last log record that was erased, 0 if none was. Nil if that is unknown: the state was damaged, or has version 1.
    var began: Int64?

    init(began: Int64?) { self.began = began }

    init(from fields: inout DERFields) throws {
        let version = try fields.version(1...2)
        end = try fields.value("end")
        pairs = try fields.list("key pairs", max: Self.pairsMax)
        began = version == 1 ? nil : try fields.optionalInteger(0, "began", in: 0...end.number)
    }

    func write(into der: inout DERWriter) throws {
        try der.sequence { fields in
            try fields.integer(2)
            try fields.value(end)
            try fields.list(pairs)
            try fields.optionalInteger(0, began)
        }
    }
}

/// `AccessLogKeyPair ::= SEQUENCE { generation OCTET STRING (SIZE (8)), public OCTET STRING (SIZE (1216)), wrapped OCTET STRING }`
struct AccessLogKeyPair: DERReadable, DERWritable {
    static let label = "vauban access log keys v1"
    private static let info = Data("vauban access log v1".utf8)
    private static let suite = HPKE.Ciphersuite.XWingMLKEM768X25519_SHA256_AES_GCM_256
    private static let encapsulatedBytes = EnclaveRequest.sealedSeriesKeyBytes - EnclaveLimits.keyBytes - 16

    /// The key for private keys that wraps the seed.
    let generation: [UInt8]
    let publicKey: [UInt8]
    let wrapped: [UInt8]

    init(generation: [UInt8], publicKey: [UInt8], wrapped: [UInt8]) {
        self.generation = generation
        self.publicKey = publicKey
        self.wrapped = wrapped
    }

    init(from fields: inout DERFields) throws {
        generation = try fields.octets("generation", in: 8...8)
        publicKey = try fields.octets("public key", in: 1216...1216)
        wrapped = try fields.octets("wrapped key", in: 60...60)
    }

    func write(into der: inout DERWriter) throws {
        try der.sequence { fields in
            try fields.octets(generation)
            try fields.octets(publicKey)
            try fields.octets(wrapped)
        }
    }

    /// Makes a key pair, and returns it wrapped by `outer`. `context` returns what the wrapping is bound to, given the pair without its
    /// wrapped key.
    static func make(
        wrappedBy outer: borrowing SecretBytes, generation: [UInt8], context: (AccessLogKeyPair) -> [UInt8]
    ) throws -> AccessLogKeyPair {
        let key = try XWingMLKEM768X25519.PrivateKey.generate()
        var seed = key.seedRepresentation
        let bytes = SecretBytes(absorbing: &seed)
        let bare = AccessLogKeyPair(generation: generation, publicKey: Array(key.publicKey.rawRepresentation), wrapped: [])
        let wrapped = try KeyWrap.wrap(bytes, under: outer, label: label, context: context(bare))
        return AccessLogKeyPair(generation: generation, publicKey: bare.publicKey, wrapped: wrapped)
    }

    /// Returns the key, sealed: encapsulated key ‖ ciphertext.
    func seal(_ key: borrowing SecretBytes) throws -> [UInt8] {
        let recipient = try XWingMLKEM768X25519.PublicKey(rawRepresentation: publicKey)
        var sender = try HPKE.Sender(recipientKey: recipient, ciphersuite: Self.suite, info: Self.info)
        let sealed = try key.withUnsafeBytes { try sender.seal($0) }
        return Array(sender.encapsulatedKey + sealed)
    }

    static func open(_ sealed: [UInt8], seed: borrowing SecretBytes) throws -> SecretBytes {
        let key = try seed.withUnsafeBytes { try XWingMLKEM768X25519.PrivateKey(seedRepresentation: $0, publicKey: nil) }
        var recipient = try HPKE.Recipient(
            privateKey: key, ciphersuite: suite, info: info, encapsulatedKey: Data(sealed.prefix(encapsulatedBytes)))
        var opened = try recipient.open(sealed.dropFirst(encapsulatedBytes))
        let bytes = SecretBytes(absorbing: &opened)
        guard bytes.count == EnclaveLimits.keyBytes else { throw WrapError() }
        return bytes
    }
}

// Presence as cryptography: an item's key is sealed to the public half of a factor pair, and only what the person gives
// brings the private half (house: "Presence is cryptographic").

internal import Crypto
import Foundation
import SwiftASN1
import VaubanDER
import VaubanSecretBytes

/// `FactorSeal ::= SEQUENCE { pair OCTET STRING (SIZE (8)), encapsulated OCTET STRING (SIZE (32)), ciphertext OCTET STRING }`
/// HPKE base mode (RFC 9180), X25519, HKDF-SHA256, AES-256-GCM; `info` is a label and the row's binding.
struct FactorSeal: DERReadable, DERWritable {
    let pair: [UInt8]
    let encapsulated: [UInt8]
    let ciphertext: [UInt8]

    static let suite = HPKE.Ciphersuite(kem: .Curve25519_HKDF_SHA256, kdf: .HKDF_SHA256, aead: .AES_GCM_256)

    init(_ key: borrowing SecretBytes, toPair pair: [UInt8], publicKey: [UInt8], row: [UInt8]) throws(WrapFault) {
        do {
            let recipient = try Curve25519.KeyAgreement.PublicKey(rawRepresentation: publicKey)
            var sender = try HPKE.Sender(recipientKey: recipient, ciphersuite: Self.suite, info: Self.info(row))
            ciphertext = Array(try key.withUnsafeBytes { try sender.seal($0) })
            encapsulated = Array(sender.encapsulatedKey)
            self.pair = pair
        } catch {
            throw WrapFault()
        }
    }

    func open(with privateKey: borrowing SecretBytes, row: [UInt8]) throws(WrapFault) -> SecretBytes {
        do {
            let key = try privateKey.withUnsafeBytes { try Curve25519.KeyAgreement.PrivateKey(rawRepresentation: $0) }
            var recipient = try HPKE.Recipient(
                privateKey: key, ciphersuite: Self.suite, info: Self.info(row), encapsulatedKey: Data(encapsulated))
            var opened = try recipient.open(ciphertext)
            return SecretBytes(absorbing: &opened)
        } catch {
            throw WrapFault()
        }
    }

    private static func info(_ row: [UInt8]) -> Data { Data("vauban factor seal v1".utf8) + [0] + row }

    init(from fields: inout DERFields) throws {
        pair = try fields.octets("pair", in: 8...8)
        encapsulated = try fields.octets("encapsulated key", in: 32...32)
        ciphertext = try fields.octets("ciphertext", in: 16...256)
    }

    func write(into der: inout DER.Serializer) throws {
        try der.sequence { fields in
            try fields.octets(pair)
            try fields.octets(encapsulated)
            try fields.octets(ciphertext)
        }
    }
}

/// A new pair: the private half as a secret, the public half as bytes.
struct FactorPair: ~Copyable {
    let privateKey: SecretBytes
    let publicKey: [UInt8]

    init() {
        let key = Curve25519.KeyAgreement.PrivateKey()
        var raw = key.rawRepresentation
        privateKey = SecretBytes(absorbing: &raw)
        publicKey = Array(key.publicKey.rawRepresentation)
    }
}

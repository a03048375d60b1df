// Enforces user presence by cryptography: an item's key is sealed to the public half of a factor pair, and only the user's passcode or
// fingerprint makes the private half available.

internal import Crypto
import FoundationEssentials
import SwiftASN1
import VaubanDER
import VaubanSecretBytes

/// HPKE base mode (RFC 9180), X25519, HKDF-SHA256, AES-256-GCM; `info` is a label and the row's binding.
enum FactorSeal {
    static let suite = HPKE.Ciphersuite(kem: .Curve25519_HKDF_SHA256, kdf: .HKDF_SHA256, aead: .AES_GCM_256)

    static func seal(_ inner: borrowing SecretBytes, to publicKey: [UInt8], row: [UInt8]) throws(WrapError) -> (
        encapsulated: [UInt8], ciphertext: [UInt8]
    ) {
        do {
            let recipient = try Curve25519.KeyAgreement.PublicKey(rawRepresentation: publicKey)
            var sender = try HPKE.Sender(recipientKey: recipient, ciphersuite: suite, info: info(row))
            let ciphertext = Array(try inner.withUnsafeBytes { try sender.seal($0) })
            return (Array(sender.encapsulatedKey), ciphertext)
        } catch {
            throw WrapError()
        }
    }

    static func open(
        _ ciphertext: borrowing SecretBytes, encapsulated: [UInt8], with privateKey: borrowing SecretBytes, row: [UInt8]
    ) throws(WrapError) -> SecretBytes {
        do {
            let key = try privateKey.withUnsafeBytes { try Curve25519.KeyAgreement.PrivateKey(rawRepresentation: $0) }
            var recipient = try HPKE.Recipient(privateKey: key, ciphersuite: suite, info: info(row), encapsulatedKey: Data(encapsulated))
            var opened = try ciphertext.withUnsafeBytes { try recipient.open($0) }
            return SecretBytes(absorbing: &opened)
        } catch {
            throw WrapError()
        }
    }

    private static func info(_ row: [UInt8]) -> Data { Data("vauban factor seal v1".utf8) + [0] + row }
}

/// A new factor pair.
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

// The recovery key of a keybag: a key pair. The public half is stored, so that every new passcode can be sealed to it without entering the
// recovery key. Only the user has the private half, on paper.

internal import Crypto
import FoundationEssentials
package import VaubanDER
import VaubanPasscode
import VaubanSecretBytes

/// `RecoveryRecord ::= SEQUENCE { publicKey OCTET STRING (SIZE (32)), encapsulated OCTET STRING (SIZE (32)),
///   wrapped OCTET STRING }`: the passcode key, sealed to the public half by HPKE and then wrapped by the device, so that it opens only
/// with the recovery key on this device.
package struct RecoveryRecord: Hashable, Sendable, DERReadable, DERWritable {
    package let publicKey: [UInt8]
    package let encapsulated: [UInt8]
    package let wrapped: [UInt8]

    private static let sealLabel = "vauban recovery seal v1"
    private static let wrapLabel = "vauban recovery v1"

    /// Returns the public half of a recovery key.
    static func publicKey(of recoveryKey: borrowing RecoveryKey, for bag: Keybag) throws(WrapError) -> [UInt8] {
        let secret = privateKey(of: recoveryKey, for: bag)
        do {
            return Array(
                try secret.withUnsafeBytes { try Curve25519.KeyAgreement.PrivateKey(rawRepresentation: $0) }.publicKey.rawRepresentation)
        } catch {
            throw WrapError()
        }
    }

    init(_ passcodeKey: borrowing SecretBytes, to publicKey: [UInt8], device: borrowing SecretBytes, for bag: Keybag) throws(WrapError) {
        do {
            let recipient = try Curve25519.KeyAgreement.PublicKey(rawRepresentation: publicKey)
            var sender = try HPKE.Sender(recipientKey: recipient, ciphersuite: FactorSeal.suite, info: Self.info(bag))
            let ciphertext = Array(try passcodeKey.withUnsafeBytes { try sender.seal($0) })
            encapsulated = Array(sender.encapsulatedKey)
            self.publicKey = publicKey
            wrapped = try KeyWrap.wrap(SecretBytes(copying: ciphertext), under: device, label: Self.wrapLabel, context: Self.context(bag))
        } catch {
            throw WrapError()
        }
    }

    /// Returns the passcode key. Throws if the recovery key is wrong.
    func open(with recoveryKey: borrowing RecoveryKey, device: borrowing SecretBytes, for bag: Keybag) throws(WrapError) -> SecretBytes {
        let ciphertext = try KeyWrap.unwrap(wrapped, under: device, label: Self.wrapLabel, context: Self.context(bag))
        let secret = Self.privateKey(of: recoveryKey, for: bag)
        do {
            let key = try secret.withUnsafeBytes { try Curve25519.KeyAgreement.PrivateKey(rawRepresentation: $0) }
            var recipient = try HPKE.Recipient(
                privateKey: key, ciphersuite: FactorSeal.suite, info: Self.info(bag), encapsulatedKey: Data(encapsulated))
            var opened = try ciphertext.withUnsafeBytes { try recipient.open(Data($0)) }
            return SecretBytes(absorbing: &opened)
        } catch {
            throw WrapError()
        }
    }

    private static func privateKey(of recoveryKey: borrowing RecoveryKey, for bag: Keybag) -> SecretBytes {
        let bytes = recoveryKey.bytes()
        return KeyWrap.derive(from: bytes, label: "vauban recovery key v1", context: context(bag))
    }

    private static func context(_ bag: Keybag) -> [UInt8] { bag.identifier + withUnsafeBytes(of: bag.user.bigEndian) { Array($0) } }
    private static func info(_ bag: Keybag) -> Data { Data(sealLabel.utf8) + [0] + context(bag) }

    package init(from fields: inout DERFields) throws {
        publicKey = try fields.octets("public key", in: 32...32)
        encapsulated = try fields.octets("encapsulated key", in: 32...32)
        wrapped = try fields.octets("wrapped key", in: 28...256)
    }

    package func write(into der: inout DERWriter) throws {
        try der.sequence { fields in
            try fields.octets(publicKey)
            try fields.octets(encapsulated)
            try fields.octets(wrapped)
        }
    }
}

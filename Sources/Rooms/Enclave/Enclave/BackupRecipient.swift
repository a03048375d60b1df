// The recipient of a backup (Specs/backup.md): a key pair whose private half, the restore key, is kept outside the device.

import Crypto
import EnclaveWire
import FoundationEssentials
import VaubanDER
import VaubanSecretBytes

/// The opening key of a backup, sealed to a recipient.
struct BackupRecipient: Hashable, Sendable {
    /// The SHA-256 of the recipient. The backup does not contain the recipient itself, so that a backup alone does not suffice to create
    /// another one for the same restore key.
    let digest: [UInt8]
    let encapsulated: [UInt8]
    let sealed: [UInt8]

    private static let suite = HPKE.Ciphersuite.XWingMLKEM768X25519_SHA256_AES_GCM_256

    /// Throws if the recipient is no public key.
    init(_ key: borrowing SecretBytes, to recipient: [UInt8], context: [UInt8]) throws(WrapError) {
        do {
            let publicKey = try XWingMLKEM768X25519.PublicKey(rawRepresentation: recipient)
            var sender = try HPKE.Sender(recipientKey: publicKey, ciphersuite: Self.suite, info: Self.info(context))
            sealed = Array(try key.withUnsafeBytes { try sender.seal($0) })
            encapsulated = Array(sender.encapsulatedKey)
            digest = Array(SHA256.hash(data: recipient))
        } catch {
            throw WrapError()
        }
    }

    /// Returns whether this is the private half of the recipient.
    func isOpened(by restoreKey: borrowing SecretBytes) -> Bool {
        guard let key = try? Self.privateKey(restoreKey) else { return false }
        return Array(SHA256.hash(data: key.publicKey.rawRepresentation)) == digest
    }

    /// Returns the opening key.
    func open(with restoreKey: borrowing SecretBytes, context: [UInt8]) throws(WrapError) -> SecretBytes {
        do {
            var recipient = try HPKE.Recipient(
                privateKey: try Self.privateKey(restoreKey), ciphersuite: Self.suite, info: Self.info(context),
                encapsulatedKey: Data(encapsulated))
            var opened = try recipient.open(sealed)
            let key = SecretBytes(absorbing: &opened)
            guard key.count == EnclaveLimits.keyBytes else { throw WrapError() }
            return key
        } catch {
            throw WrapError()
        }
    }

    private static func privateKey(_ seed: borrowing SecretBytes) throws -> XWingMLKEM768X25519.PrivateKey {
        guard seed.count == EnclaveLimits.keyBytes else { throw WrapError() }
        return try seed.withUnsafeBytes { try XWingMLKEM768X25519.PrivateKey(seedRepresentation: $0, publicKey: nil) }
    }

    private static func info(_ context: [UInt8]) -> Data { Data("vauban backup recipient v1".utf8) + [0] + context }
}

/// The opening key of a backup for a recipient, wrapped by a passphrase as well.
struct BackupPassphrase: Hashable, Sendable {
    static let label = "vauban backup passphrase v1"

    let cost: StretchParameters
    let wrapped: [UInt8]
}

extension BackupRecipient: DERReadable, DERWritable {
    init(from fields: inout DERFields) throws {
        digest = try fields.octets("digest", in: 32...32)
        encapsulated = try fields.octets("encapsulated key", in: 1120...1120)
        sealed = try fields.octets("sealed key", in: 48...48)
    }

    func write(into der: inout DERWriter) throws {
        try der.sequence { fields in
            try fields.octets(digest)
            try fields.octets(encapsulated)
            try fields.octets(sealed)
        }
    }
}

extension BackupPassphrase: DERReadable, DERWritable {
    init(from fields: inout DERFields) throws {
        cost = try fields.value("cost")
        wrapped = try fields.octets("wrapped key", in: 60...60)
    }

    func write(into der: inout DERWriter) throws {
        try der.sequence { fields in
            try fields.value(cost)
            try fields.octets(wrapped)
        }
    }
}

// The encryption of a row's two halves: AES-256-GCM with a fresh nonce each, bound to the row's identity and to each other
// (Specs/keychain-database.md).

package import Crypto
internal import EnclaveWire
internal import Foundation
internal import KeychainStore
internal import VaubanDER
internal import VaubanKeychainModel
package import VaubanSecretBytes

/// The bytes do not decrypt under their key and binding. The disk is to blame, or whoever wrote the row.
package struct DecryptionError: Error {}

package enum RowCipher {
    private enum Half: UInt8 {
        case metadata = 1
        case secret = 2
    }

    // MARK: The secret half, bound to `RowBinding.itemBinding`

    static func seal(_ value: borrowing PaddedValue, key: borrowing SecretBytes, binding: [UInt8]) throws -> [UInt8] {
        try key.withUnsafeBytes { key throws in
            try value.bytes.withUnsafeBytes { value throws in
                try combined(AES.GCM.seal(value, using: SymmetricKey(data: key), authenticating: binding + [Half.secret.rawValue]))
            }
        }
    }

    package static func open(_ secret: [UInt8], key: borrowing SecretBytes, binding: [UInt8]) throws -> PaddedValue {
        let opened = try key.withUnsafeBytes { key throws(DecryptionError) in
            var data = try open(secret, key: SymmetricKey(data: key), binding: binding, half: .secret)
            return SecretBytes(absorbing: &data)
        }
        guard let value = PaddedValue(decrypted: opened) else { throw DecryptionError() }
        return value
    }

    // MARK: The metadata half

    static func seal(_ metadata: RowMetadata, key: SymmetricKey, binding: [UInt8]) throws -> [UInt8] {
        let plaintext = Padding.pad(try metadata.encoded())
        return try combined(AES.GCM.seal(plaintext, using: key, authenticating: binding + [Half.metadata.rawValue]))
    }

    /// Returns the plaintext without its padding.
    package static func openMetadata(_ metadata: [UInt8], key: SymmetricKey, binding: [UInt8]) throws(DecryptionError) -> [UInt8] {
        let data = try open(metadata, key: key, binding: binding, half: .metadata)
        guard let end = data.withUnsafeBytes({ Padding.end(of: $0) }) else { throw DecryptionError() }
        return [UInt8](data.prefix(end))
    }

    // MARK: Both

    private static func open(
        _ combined: [UInt8], key: SymmetricKey, binding: [UInt8], half: Half
    ) throws(DecryptionError) -> Data {
        do {
            return try AES.GCM.open(AES.GCM.SealedBox(combined: combined), using: key, authenticating: binding + [half.rawValue])
        } catch {
            throw DecryptionError()
        }
    }

    private static func combined(_ box: AES.GCM.SealedBox) throws -> [UInt8] {
        guard let bytes = box.combined else { throw DecryptionError() }
        return [UInt8](bytes)
    }

    /// Returns the digest that the metadata half contains of the rest of its row: the secret half and every index column, each with its
    /// length, so that no part can come from another write.
    static func digest(_ halves: (binding: [UInt8], wrappedKey: [UInt8], secret: [UInt8]), _ blinds: RowBlinds) -> [UInt8] {
        var hash = SHA256()
        let device = blinds.device.map { [$0.primary, $0.list] } ?? [[], []]
        for part in [halves.binding, halves.wrappedKey, halves.secret, blinds.primary, blinds.list] + device {
            withUnsafeBytes(of: UInt64(part.count).bigEndian) { hash.update(bufferPointer: $0) }
            part.withUnsafeBytes { hash.update(bufferPointer: $0) }
        }
        return Array(hash.finalize())
    }
}

/// `RowMetadata ::= SEQUENCE { version INTEGER { ordinary (1), canary (2) }, digest OCTET STRING (SIZE (32)),
///   attributes ItemAttributes }`
struct RowMetadata: DERReadable, DERWritable {
    let digest: [UInt8]
    let attributes: ItemAttributes
    /// Whether the item is a canary. The version number encodes this, so that the size is the same either way.
    let isCanary: Bool

    init(digest: [UInt8], attributes: ItemAttributes, isCanary: Bool) {
        self.digest = digest
        self.attributes = attributes
        self.isCanary = isCanary
    }

    init(from fields: inout DERFields) throws {
        isCanary = try fields.integer("version", in: 1...2) == 2
        digest = try fields.octets("digest", in: 32...32)
        attributes = try fields.value("attributes")
    }

    func write(into der: inout DERWriter) throws {
        try der.sequence { fields in
            try fields.integer(isCanary ? 2 : 1)
            try fields.octets(digest)
            try fields.value(attributes)
        }
    }
}

// A second implementation of Specs/key-hierarchy.md with the libraries alone: what an independent reader does with the files, the passcode
// and the device secret. Tests compare it with the enclave, and compute with it the keys that must not be in memory.

internal import Crypto
internal import CryptoExtras
package import Enclave
import EnclaveWire
import Foundation
package import SwiftASN1
import VaubanDER
package import VaubanKeyWire
package import VaubanSecretBytes

package enum ByTheBook {
    package static func hkdf(_ key: [UInt8], label: String, context: [UInt8] = []) -> [UInt8] {
        HKDF<SHA256>.deriveKey(inputKeyMaterial: SymmetricKey(data: key), info: Array(label.utf8) + [0] + context, outputByteCount: 32)
            .withUnsafeBytes { Array($0) }
    }

    package static func open(_ sealed: [UInt8], key: [UInt8], label: String, context: [UInt8]) throws -> [UInt8] {
        Array(
            try AES.GCM.open(
                AES.GCM.SealedBox(combined: sealed), using: SymmetricKey(data: key), authenticating: Array(label.utf8) + [0] + context))
    }

    /// Returns the context that a slot's wrapping is bound to: identifier, user, purpose, wrapping, generation.
    package static func slotContext(_ slot: KeySlot, of bag: Keybag) -> [UInt8] {
        bag.identifier + bigEndian(bag.user) + [UInt8(slot.purpose.number), UInt8(slot.wrapping.rawValue)] + slot.generation
    }

    package static func slotKey(
        _ slot: KeySlot, of bag: Keybag, device: some EnclaveBackend, passcodeKey: borrowing SecretBytes
    ) throws -> SecretBytes {
        let wrapping =
            slot.wrapping == .device
            ? bytes(try device.deviceKey(label: "vauban keybag device wrap v1", context: bag.identifier)) : bytes(passcodeKey)
        return SecretBytes(
            copying: try open(slot.wrapped, key: wrapping, label: "vauban keybag slot v1", context: slotContext(slot, of: bag)))
    }

    /// Returns the keys of a backup that only a passphrase opens (Specs/backup.md).
    package static func backupKeys(_ keybag: [UInt8], passphrase: String) throws -> [[UInt8]] {
        let parts = try nodes(keybag)
        guard parts.count > 4, parts[3].nodes.count == 4 else { throw DERError("the keybag of a backup has other fields") }
        let numbers = parts[3].nodes.map(\.octets)
        let cost = numbers.dropFirst().map { number in number.reduce(0) { $0 << 8 | Int($1) } }
        let opener = try KDF.Scrypt.deriveKey(
            from: Array(passphrase.utf8), salt: numbers[0], outputByteCount: 32, rounds: 1 << cost[0], blockSize: cost[1],
            parallelism: cost[2]
        ).withUnsafeBytes { Array($0) }
        return try parts[4].nodes.map { slot throws -> [UInt8] in
            let fields = slot.nodes.map(\.octets)
            return try open(
                fields[1], key: opener, label: "vauban backup slot v1", context: parts[1].octets + parts[2].octets + fields[0])
        }
    }

    package static func bigEndian(_ number: UInt32) -> [UInt8] { withUnsafeBytes(of: number.bigEndian) { Array($0) } }

    /// Returns the fields of a SEQUENCE.
    package static func nodes(_ der: [UInt8]) throws -> [ASN1Node] { try DER.parse(der).nodes }
    package static func fields(_ der: [UInt8]) throws -> [[UInt8]] { try nodes(der).map(\.octets) }

    private static func bytes(_ secret: borrowing SecretBytes) -> [UInt8] { secret.withUnsafeBytes { Array($0) } }
}

/// The state folder of an enclave as stored on disk, with the device secret beside it.
package struct StateFolderByTheBook: Sendable {
    /// 32 bytes from `device-secret`, after the line that names its format.
    package let deviceSecret: [UInt8]
    private let people: String

    package init(enclaveFolder: String) throws {
        let file = try Data(contentsOf: URL(fileURLWithPath: "\(enclaveFolder)/device-secret"))
        deviceSecret = Array(file.suffix(32))
        people = "\(enclaveFolder)/people"
    }

    /// Returns the content of a state file without verifying its authentication code.
    package func keybag(of user: UInt32) throws -> Keybag {
        let envelope = try ByTheBook.fields(Array(try Data(contentsOf: URL(fileURLWithPath: "\(people)/\(user)/keybag"))))
        return try Keybag(derBytes: envelope[2])
    }

    /// Returns the passcode stretched by scrypt, and the result tangled with the device secret.
    package func passcodeKey(_ passcode: String, of bag: Keybag) throws -> (stretched: [UInt8], key: [UInt8]) {
        guard let parameters = bag.passcode else { throw DERError("no passcode is set") }
        let stretched = try KDF.Scrypt.deriveKey(
            from: Array(passcode.utf8), salt: parameters.salt, outputByteCount: 32, rounds: 1 << Int(parameters.log2Rounds),
            blockSize: Int(parameters.blockSize), parallelism: Int(parameters.parallelism)
        ).withUnsafeBytes { Array($0) }
        let tangling = ByTheBook.hkdf(deviceSecret, label: "vauban keybag passcode wrap v1", context: bag.identifier)
        return (stretched, Array(HMAC<SHA256>.authenticationCode(for: stretched, using: SymmetricKey(data: tangling))))
    }

    /// Returns every key of a keybag in the clear. Those of private keys are wrapped by the current key of their class.
    package func keys(of bag: Keybag, passcodeKey: [UInt8]) throws -> [(slot: KeySlot, key: [UInt8])] {
        let deviceWrap = ByTheBook.hkdf(deviceSecret, label: "vauban keybag device wrap v1", context: bag.identifier)
        func open(_ slot: KeySlot, _ wrapping: [UInt8]) throws -> (slot: KeySlot, key: [UInt8]) {
            (
                slot,
                try ByTheBook.open(
                    slot.wrapped, key: wrapping, label: "vauban keybag slot v1", context: ByTheBook.slotContext(slot, of: bag))
            )
        }
        let keys = try bag.slots.filter { $0.wrapping != .classKey }.map { try open($0, $0.wrapping == .device ? deviceWrap : passcodeKey) }
        return try keys
            + bag.slots.filter { $0.wrapping == .classKey }.map { slot in
                guard case .privateKeys(let protection) = slot.purpose,
                    let classKey = keys.first(where: { $0.slot.purpose == .protection(protection) })
                else { throw DERError("a slot lies under a class that is not there") }
                return try open(slot, classKey.key)
            }
    }

    /// Returns the bytes of a private key without an access control.
    package func privateKey(_ key: EnclaveKey, with keys: [(slot: KeySlot, key: [UInt8])]) throws -> [UInt8] {
        guard let outer = keys.first(where: { $0.slot.generation == key.generation })?.key else {
            throw DERError("the key is of another keybag")
        }
        return try ByTheBook.open(try ByTheBook.fields(key.wrapped)[2], key: outer, label: "vauban item key v1", context: key.head())
    }
}

/// A row as stored in the database, as far as opening it needs.
package struct RowByTheBook {
    private let binding: RowBinding
    private let wrapped: [UInt8]

    package init(binding: [UInt8], wrapped: [UInt8]) throws {
        self.binding = try RowBinding(derBytes: binding)
        self.wrapped = wrapped
    }

    package var protection: KeyPurpose { .protection(binding.protection) }

    /// Returns the value in the database's secret half, with its padding, decrypted with the item key.
    package func value(_ secret: [UInt8], itemKey: [UInt8]) throws -> [UInt8] {
        let box = try AES.GCM.SealedBox(combined: secret)
        return Array(try AES.GCM.open(box, using: SymmetricKey(data: itemKey), authenticating: try binding.itemBinding.encoded() + [2]))
    }

    /// Returns the item key, opened with the keys of a keybag. If an application password wraps it and none is given, returns the wrapped
    /// form.
    package func itemKey(with keys: [(slot: KeySlot, key: [UInt8])], password: String? = nil) throws -> [UInt8] {
        let row = try binding.encoded()
        let outer = try ByTheBook.fields(wrapped)
        guard let classKey = keys.first(where: { $0.slot.purpose == protection && $0.slot.generation == binding.generation })?.key else {
            throw DERError("the class key is not there")
        }
        if outer[1] == [0] { return try ByTheBook.open(outer[2], key: classKey, label: "vauban item key v1", context: row) }
        // The first method: its seals, the outermost last, and the ciphertext under them.
        let layered = try ByTheBook.nodes(ByTheBook.open(outer[2], key: classKey, label: "vauban layered item key v1", context: row))
        guard let way = layered.first?.nodes.first?.nodes, way.count == 2 else { throw DERError("no way leads to the item key") }
        var content = way[1].octets
        let bound = try binding.itemBinding.encoded()
        for seal in way[0].nodes.reversed() {
            let parts = seal.nodes.map(\.octets)
            guard let privateKey = keys.first(where: { $0.slot.generation == parts[0] })?.key else {
                throw DERError("the pair is not there")
            }
            var recipient = try HPKE.Recipient(
                privateKey: try Curve25519.KeyAgreement.PrivateKey(rawRepresentation: privateKey),
                ciphersuite: HPKE.Ciphersuite(kem: .Curve25519_HKDF_SHA256, kdf: .HKDF_SHA256, aead: .AES_GCM_256),
                info: Data("vauban factor seal v1".utf8) + [0] + bound, encapsulatedKey: Data(parts[1]))
            content = Array(try recipient.open(content))
        }
        guard let password, let numbers = layered.last?.nodes.first?.nodes, numbers.count == 4 else { return content }
        let cost = numbers.dropFirst().map { $0.octets.reduce(0) { $0 << 8 | Int($1) } }
        let stretched = try KDF.Scrypt.deriveKey(
            from: Array(password.utf8), salt: numbers[0].octets, outputByteCount: 32, rounds: 1 << cost[0], blockSize: cost[1],
            parallelism: cost[2]
        ).withUnsafeBytes { Array($0) }
        return try ByTheBook.open(content, key: stretched, label: "vauban application password v1", context: bound)
    }
}

extension ASN1Node {
    /// Its fields; empty if it is not constructed.
    package var nodes: [ASN1Node] {
        if case .constructed(let parts) = content { return Array(parts) }
        return []
    }

    package var octets: [UInt8] {
        if case .primitive(let bytes) = content { return Array(bytes) }
        return []
    }
}

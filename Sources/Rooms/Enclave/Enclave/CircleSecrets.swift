// The keys of a circle on this device and the operations with them (Specs/sync.md), with swift-crypto. No secret leaves in the clear.

import Crypto
import FoundationEssentials
import VaubanSecretBytes
import VaubanSyncModel

/// A device's keys: the seed of its encapsulation key, its signing key, and the circle keys, oldest first; 32 bytes each.
final class CircleSecrets: Sendable {
    static let keyBytes = EnclaveLimits.keyBytes
    private static let seeds = 2
    let bytes: SecretBytes

    init(_ bytes: consuming SecretBytes) { self.bytes = bytes }

    /// Makes the keys of a new device.
    static func make() throws -> CircleSecrets {
        var seed = try XWingMLKEM768X25519.PrivateKey.generate().seedRepresentation
        var signing = Curve25519.Signing.PrivateKey().rawRepresentation
        return CircleSecrets(joined(SecretBytes(absorbing: &seed), SecretBytes(absorbing: &signing)))
    }

    static func byteCount(epochs: Int64) -> Int { (seeds + Int(epochs)) * keyBytes }

    var epochs: Int { bytes.count / Self.keyBytes - Self.seeds }

    /// Returns the circle key of an epoch. The first epoch is 1.
    func key(of epoch: Int) -> SecretBytes { part(Self.seeds + epoch - 1) }

    /// Returns the keys of all epochs, with or without the last.
    func circleKeys(includingLast last: Bool) -> SecretBytes {
        bytes.part(Self.seeds * Self.keyBytes..<bytes.count - (last ? 0 : Self.keyBytes))
    }

    /// Returns the companion key of an epoch, which a companion has instead of the circle key. It is derived from the circle key, and does
    /// not allow computing it.
    func companionKey(of epoch: Int, circle: [UInt8], device: [UInt8]) -> SecretBytes {
        KeyWrap.derive(from: key(of: epoch), label: "vauban sync companion v1", context: circle + device)
    }

    /// Returns a companion's keys of all epochs before the last.
    func earlierCompanionKeys(circle: [UInt8], device: [UInt8]) -> SecretBytes {
        var keys = SecretBytes(count: 0) { _ in }
        for epoch in 1..<epochs { keys = Self.joined(keys, companionKey(of: epoch, circle: circle, device: device)) }
        return keys
    }

    func adding(_ keys: borrowing SecretBytes) -> CircleSecrets { CircleSecrets(Self.joined(bytes, keys)) }

    private func part(_ index: Int) -> SecretBytes { bytes.part(index * Self.keyBytes..<(index + 1) * Self.keyBytes) }

    static func joined(_ first: borrowing SecretBytes, _ second: borrowing SecretBytes) -> SecretBytes {
        first.withUnsafeBytes { one in
            second.withUnsafeBytes { two in
                SecretBytes(count: one.count + two.count) { target in
                    target.copyMemory(from: one)
                    UnsafeMutableRawBufferPointer(rebasing: target[one.count...]).copyMemory(from: two)
                }
            }
        }
    }

    static func number(_ number: Int64) -> [UInt8] { withUnsafeBytes(of: number.bigEndian) { Array($0) } }

    // MARK: The device's keys

    private func encapsulationKey() throws -> XWingMLKEM768X25519.PrivateKey {
        try part(0).withUnsafeBytes { try XWingMLKEM768X25519.PrivateKey(seedRepresentation: $0, publicKey: nil) }
    }

    private func signingKey() throws -> Curve25519.Signing.PrivateKey {
        try part(1).withUnsafeBytes { try Curve25519.Signing.PrivateKey(rawRepresentation: $0) }
    }

    func device(_ identifier: [UInt8], called name: String) throws -> CircleDevice {
        CircleDevice(
            device: identifier, name: name, encapsulation: Array(try encapsulationKey().publicKey.rawRepresentation),
            verification: Array(try signingKey().publicKey.rawRepresentation))
    }

    /// Returns the nonce of the device's one join request, which is secret until it is revealed.
    func nonce() -> [UInt8] { KeyWrap.derive(from: part(1), label: "vauban sync nonce v1").withUnsafeBytes { Array($0) } }

    /// Returns the key of the state that the command line stores for this circle.
    func stateKey() -> SecretBytes { KeyWrap.derive(from: part(1), label: "vauban sync state v1") }

    func sign(_ what: CircleSignature, _ bytes: [UInt8]) throws -> [UInt8] { Array(try signingKey().signature(for: what.bound(bytes))) }

    func openShare(_ share: CircleStatement.Share, info: [UInt8]) throws -> SecretBytes {
        var recipient = try HPKE.Recipient(
            privateKey: try encapsulationKey(), ciphersuite: .XWingMLKEM768X25519_SHA256_AES_GCM_256, info: Data(info),
            encapsulatedKey: Data(share.encapsulated))
        var opened = try recipient.open(share.sealed)
        let key = SecretBytes(absorbing: &opened)
        guard key.count == Self.keyBytes else { throw WrapError() }
        return key
    }

    /// Returns whether keys can be sealed to a device and its signatures verified.
    static func areUsable(_ device: CircleDevice) -> Bool {
        (try? share(SecretBytes(count: keyBytes) { _ in }, with: device, info: [])) != nil
            && (try? Curve25519.Signing.PublicKey(rawRepresentation: device.verification)) != nil
    }

    static func share(_ key: borrowing SecretBytes, with device: CircleDevice, info: [UInt8]) throws -> CircleStatement.Share {
        let recipient = try XWingMLKEM768X25519.PublicKey(rawRepresentation: device.encapsulation)
        var sender = try HPKE.Sender(recipientKey: recipient, ciphersuite: .XWingMLKEM768X25519_SHA256_AES_GCM_256, info: Data(info))
        let sealed = try key.withUnsafeBytes { try sender.seal($0) }
        return CircleStatement.Share(device: device.device, encapsulated: Array(sender.encapsulatedKey), sealed: Array(sealed))
    }
}

/// The kinds of signatures by a device. Each has its own label, so that a signature of one kind never counts as another.
enum CircleSignature: String {
    case statement = "vauban sync statement v1"
    case reveal = "vauban sync reveal v1"
    case file = "vauban sync file v1"
    case token = "vauban sync token v1"
    case recovery = "vauban sync recovery v1"
    case keyCard = "vauban sync key card v1"

    func bound(_ bytes: [UInt8]) -> [UInt8] { Array(rawValue.utf8) + [0] + bytes }

    func isValid(_ signature: [UInt8], of bytes: [UInt8], by device: CircleMember) -> Bool {
        isValid(signature, of: bytes, by: device.verification)
    }

    func isValid(_ signature: [UInt8], of bytes: [UInt8], by verification: [UInt8]) -> Bool {
        guard let key = try? Curve25519.Signing.PublicKey(rawRepresentation: verification) else { return false }
        return key.isValidSignature(signature, for: bound(bytes))
    }
}

/// The digests and codes of joining.
enum CircleCodes {
    static func digest(_ bytes: [UInt8]) -> [UInt8] { Array(SHA256.hash(data: bytes)) }

    /// Returns the digest that a device commits to.
    static func commitment(_ device: [UInt8], nonce: [UInt8]) -> [UInt8] {
        digest(Array("vauban sync commitment v1".utf8) + [0] + nonce + device)
    }

    /// Returns the codes that the new device and the member show. Both depend on all keys and both nonces, and each side fixes its nonce
    /// before it receives the other's.
    static func codes(answer: [UInt8], newcomer: [UInt8], nonce: [UInt8]) -> (newcomer: String, member: String) {
        let bytes = digest(Array("vauban sync codes v1".utf8) + [0] + digest(answer) + nonce + newcomer)
        return (code(bytes[0..<8]), code(bytes[8..<16]))
    }

    /// Returns six digits in two groups.
    private static func code(_ bytes: ArraySlice<UInt8>) -> String {
        let number = bytes.reduce(UInt64(0)) { $0 << 8 | UInt64($1) } % 1_000_000
        let digits = String(1_000_000 + number).dropFirst()
        return "\(digits.prefix(3)) \(digits.suffix(3))"
    }

    /// Returns whether a typed code is the expected one. Only its digits count.
    static func isSame(_ typed: String, as expected: String) -> Bool {
        let digits = { (text: String) in text.utf8.filter { (0x30...0x39).contains($0) } }
        let (one, other) = (digits(typed), digits(expected))
        return one.count == other.count && zip(one, other).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }
}

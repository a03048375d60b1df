// The bytes of a key in this process, parsed once.

internal import Crypto
internal import VaubanKeyWire
internal import VaubanSecretBytes

/// A key of a supported type, validated when it is created.
///
/// `Sendable` without a lock: it never changes.
final class KeyMaterial: Sendable {
    enum Kind: Hashable, Sendable {
        case elliptic(CurveName)
        case rsa(bits: Int)
    }

    let kind: Kind
    /// The public key in its external form.
    let publicBytes: Data
    /// The private key in its external form, if this process has it.
    private let privateKey: PrivateBytes?
    /// The private key, if the enclave has it.
    let enclave: EnclaveKeyReference?

    var isPrivate: Bool { privateKey != nil || isOfEnclave }
    var isOfEnclave: Bool { enclave != nil }
    var enclaveKey: EnclaveKey? { enclave?.key }

    private init(_ kind: Kind, publicBytes: Data, privateKey: PrivateBytes?) {
        self.kind = kind
        self.publicBytes = publicBytes
        self.privateKey = privateKey
        enclave = nil
    }

    /// Creates a private P-256 key of the enclave.
    init(_ enclave: EnclaveKeyReference) throws {
        guard enclave.key.kind == .p256 else {
            throw StatusError(errSecParam, "the enclave's key is not over P-256; SecureEnclave has types for the others")
        }
        kind = .elliptic(.p256)
        publicBytes = Data(enclave.key.publicKey)
        privateKey = nil
        self.enclave = enclave
    }

    /// Parses an external form: X9.63 for curves, PKCS #1 for RSA. An RSA key may also be given as a certificate or a PKCS #8 file contains
    /// it; its external form is PKCS #1 all the same.
    convenience init(type: KeyType, isPrivate: Bool, external: Data) throws {
        do {
            switch type {
            case .elliptic: try self.init(elliptic: external, isPrivate: isPrivate)
            case .rsa: try self.init(rsa: external, isPrivate: isPrivate)
            }
        } catch let fault as StatusError {
            throw fault
        } catch {
            throw StatusError(errSecParam, "the bytes are not a key of this type")
        }
    }

    private convenience init(elliptic bytes: Data, isPrivate: Bool) throws {
        guard let curve = CurveName.allCases.first(where: { (isPrivate ? $0.privateBytes : $0.publicBytes) == bytes.count }) else {
            throw StatusError(errSecParam, "the bytes are not a key over P-256, P-384 or P-521")
        }
        let publicBytes = Data(bytes.prefix(curve.publicBytes))
        try curve.curve.check(bytes, isPrivate: isPrivate)
        self.init(.elliptic(curve), publicBytes: publicBytes, privateKey: isPrivate ? PrivateBytes(bytes) : nil)
    }

    private convenience init(rsa bytes: Data, isPrivate: Bool) throws {
        if isPrivate {
            var external = Data()
            let (half, bits) = try bytes.withUnsafeBytes { try RSAKey.read(privateKey: $0, external: &external) }
            self.init(.rsa(bits: bits), publicBytes: half, privateKey: PrivateBytes(SecretBytes(absorbing: &external)))
        } else {
            let (external, bits) = try RSAKey.read(publicKey: bytes)
            self.init(.rsa(bits: bits), publicBytes: external, privateKey: nil)
        }
    }

    static func random(_ kind: Kind) throws -> KeyMaterial {
        switch kind {
        case .elliptic(let curve):
            var fresh = curve.curve.random()
            let made = SecretBytes(absorbing: &fresh)
            return KeyMaterial(
                kind, publicBytes: made.withUnsafeBytes { Data($0.prefix(curve.publicBytes)) }, privateKey: PrivateBytes(made))
        case .rsa(let bits):
            var fresh = try RSAKey.random(bits: bits)
            let made = SecretBytes(absorbing: &fresh)
            let publicBytes = try made.withUnsafeBytes { (bytes) throws(any Error) -> Data in try RSAKey.publicHalf(ofPrivate: bytes).0 }
            return KeyMaterial(kind, publicBytes: publicBytes, privateKey: PrivateBytes(made))
        }
    }

    var publicHalf: KeyMaterial { isPrivate ? KeyMaterial(kind, publicBytes: publicBytes, privateKey: nil) : self }

    /// The key as it is stored: for a private key the key itself, unless the enclave has it.
    var external: Data { enclave.map(\.stored) ?? privateKey.map { $0.disclosed() } ?? publicBytes }

    func withPrivateBytes<Value>(_ body: (UnsafeRawBufferPointer) throws -> Value) throws -> Value {
        guard let privateKey else { throw StatusError.unsupported }
        return try privateKey.withUnsafeBytes(body)
    }

    /// The key's identifier: SHA-1 of the public key (`kSecAttrApplicationLabel`), 20 bytes.
    var fingerprint: Data { Data(Insecure.SHA1.hash(data: publicBytes)) }

    var bits: Int {
        switch kind {
        case .elliptic(let curve): curve.rawValue
        case .rsa(let bits): bits
        }
    }

    /// The size in bytes of an RSA signature, or of a curve's coordinates (`SecKeyGetBlockSize`).
    var blockBytes: Int { (bits + 7) / 8 }
}

/// A private key's bytes, erased with the last reference to them.
final class PrivateBytes: Sendable {
    private let bytes: SecretBytes

    init(_ data: Data) { bytes = SecretBytes(of: data) }
    init(_ bytes: consuming SecretBytes) { self.bytes = bytes }

    func equals(_ other: PrivateBytes) -> Bool { bytes.equals(other.bytes) }

    func withUnsafeBytes<Value>(_ body: (UnsafeRawBufferPointer) throws -> Value) throws -> Value {
        try bytes.withUnsafeBytes { (buffer) throws(any Error) -> Value in try body(buffer) }
    }

    func disclosed() -> Data { bytes.withUnsafeBytes { Data($0) } }
}

extension Curve {
    /// Throws for points that are not on the curve, and for a private number that does not match the public key.
    fileprivate static func check(_ external: Data, isPrivate: Bool) throws {
        guard isPrivate else {
            _ = try Verifier(x963Representation: external)
            return
        }
        let key = try Agreement(x963Representation: external)
        guard external.starts(with: key.peer.x963Representation) else {
            throw StatusError(errSecParam, "the private key does not match the public key")
        }
    }
}

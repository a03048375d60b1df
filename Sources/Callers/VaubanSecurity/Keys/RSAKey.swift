// The operations of an RSA key, with swift-crypto, which accepts keys of at least 1024 bits.

internal import Crypto
internal import CryptoExtras
internal import VaubanSecretBytes

enum RSAKey {
    /// Key sizes that can be created; others can be imported.
    static let sizesMade = [2048, 3072, 4096]
    private static let ivBytes = 16
    private static let tagBytes = 16

    static func random(bits: Int) throws -> Data { try _RSA.Signing.PrivateKey(keySize: .init(bitCount: bits)).derRepresentation }

    /// Returns the public key of a private key, and its size; the external form of both is PKCS #1.
    static func publicHalf(ofPrivate bytes: UnsafeRawBufferPointer) throws -> (Data, bits: Int) {
        let key = try _RSA.Signing.PrivateKey(unsafeDERRepresentation: bytes)
        return (key.publicKey.pkcs1DERRepresentation, key.keySizeInBits)
    }

    /// Parses a private key in PKCS #1 or PKCS #8 (RFC 5208), writes its external form to `external`, and returns its public key and size.
    static func read(privateKey bytes: UnsafeRawBufferPointer, external: inout Data) throws -> (publicHalf: Data, bits: Int) {
        let key = try _RSA.Signing.PrivateKey(unsafeDERRepresentation: bytes)
        external = key.derRepresentation
        return (key.publicKey.pkcs1DERRepresentation, key.keySizeInBits)
    }

    /// Parses a public key in PKCS #1 or as a certificate contains it (RFC 5280, 4.1.2.7), and returns its external form and its size.
    static func read(publicKey bytes: Data) throws -> (external: Data, bits: Int) {
        let key = try _RSA.Signing.PublicKey(unsafeDERRepresentation: bytes)
        return (key.pkcs1DERRepresentation, key.keySizeInBits)
    }

    static func sign(_ data: Data, _ input: KeyMethod.Input, isPSS: Bool, privateKey: UnsafeRawBufferPointer) throws -> Data {
        let key = try _RSA.Signing.PrivateKey(unsafeDERRepresentation: privateKey)
        let padding: _RSA.Signing.Padding = isPSS ? .PSS : .insecurePKCS1v1_5
        return try input.withDigest(of: data) { try key.signature(for: $0, padding: padding).rawRepresentation }
    }

    static func verify(_ signature: Data, data: Data, input: KeyMethod.Input, isPSS: Bool, publicKey: Data) throws -> Bool {
        let key = try _RSA.Signing.PublicKey(unsafeDERRepresentation: publicKey)
        let padding: _RSA.Signing.Padding = isPSS ? .PSS : .insecurePKCS1v1_5
        let given = _RSA.Signing.RSASignature(rawRepresentation: signature)
        return try input.withDigest(of: data) { key.isValidSignature(given, for: $0, padding: padding) }
    }

    static func encrypt(_ data: Data, _ padding: KeyMethod.RSAPadding, publicKey: Data) throws -> Data {
        let key = try _RSA.Encryption.PublicKey(unsafeDERRepresentation: publicKey)
        guard data.count <= key.maximumEncryptSize(with: padding.forCrypto) else {
            throw StatusError(errSecParam, "the data is too long for this key")
        }
        return try key.encrypt(data, padding: padding.forCrypto)
    }

    static func decrypt(_ data: Data, _ padding: KeyMethod.RSAPadding, privateKey: UnsafeRawBufferPointer) throws -> Data {
        let key = try _RSA.Encryption.PrivateKey(unsafeDERRepresentation: privateKey)
        do {
            return try key.decrypt(data, padding: padding.forCrypto)
        } catch {
            throw StatusError(errSecParam, "the ciphertext was made for another key, or was altered")
        }
    }

    // MARK: Hybrid encryption: an AES key under RSA, and the message under that key with an IV of zeros, since the key is used once

    static func encryptHybrid(_ message: Data, _ hash: KeyHash, publicKey: Data, bits: Int) throws -> Data {
        let session = SymmetricKey(size: bits >= 4096 ? .bits256 : .bits128)
        let wrapped = try encrypt(session.withUnsafeBytes { Data($0) }, .oaep(hash), publicKey: publicKey)
        let box = try AES.GCM.seal(message, using: session, nonce: zeroNonce(), authenticating: publicKey)
        return wrapped + box.ciphertext + box.tag
    }

    static func decryptHybrid(
        _ packet: Data, _ hash: KeyHash, privateKey: UnsafeRawBufferPointer, publicKey: Data, bits: Int
    ) throws -> Data {
        let wrappedBytes = (bits + 7) / 8
        guard packet.count >= wrappedBytes + tagBytes else { throw StatusError(errSecParam, "the ciphertext is too short") }
        let rest = packet.dropFirst(wrappedBytes)
        var opened = try decrypt(packet.prefix(wrappedBytes), .oaep(hash), privateKey: privateKey)
        let session = SecretBytes(absorbing: &opened).withUnsafeBytes { SymmetricKey(data: $0) }
        do {
            let box = try AES.GCM.SealedBox(nonce: zeroNonce(), ciphertext: rest.dropLast(tagBytes), tag: rest.suffix(tagBytes))
            return try AES.GCM.open(box, using: session, authenticating: publicKey)
        } catch {
            throw StatusError(errSecParam, "the ciphertext was made for another key, or was altered")
        }
    }

    private static func zeroNonce() throws -> AES.GCM.Nonce { try AES.GCM.Nonce(data: Data(count: ivBytes)) }
}

extension KeyMethod.RSAPadding {
    fileprivate var forCrypto: _RSA.Encryption.Padding {
        switch self {
        case .pkcs1: ._WEAK_AND_INSECURE_PKCS_V1_5
        case .oaep(.sha1): .PKCS1_OAEP
        case .oaep: .PKCS1_OAEP_SHA256
        }
    }
}

extension KeyMethod.Input {
    /// Returns the digest to sign with a curve.
    func digest(of data: Data) throws -> GivenDigest {
        switch self {
        case .message(let hash): return GivenDigest(bytes: hash.digest(of: data))
        case .digest(let hash):
            guard hash.map({ $0.byteCount == data.count }) ?? !data.isEmpty else {
                throw StatusError(errSecParam, "the hash has a wrong length")
            }
            return GivenDigest(bytes: Array(data))
        }
    }

    /// Calls `body` with a digest of swift-crypto's own type, from which RSA derives the hash.
    fileprivate func withDigest<Value>(of data: Data, _ body: (any Digest) throws -> Value) throws -> Value {
        let digest = try digest(of: data)
        switch self {
        case .message(.sha1), .digest(.sha1): return try body(Self.known(digest, as: Insecure.SHA1.Digest.self))
        case .message(.sha256), .digest(.sha256): return try body(Self.known(digest, as: SHA256.Digest.self))
        case .message(.sha384), .digest(.sha384): return try body(Self.known(digest, as: SHA384.Digest.self))
        case .message(.sha512), .digest(.sha512): return try body(Self.known(digest, as: SHA512.Digest.self))
        case .digest(nil): throw StatusError.unsupported
        }
    }

    /// swift-crypto creates digests only by hashing. Its digests are plain bytes: if one has another size or does not contain the bytes put
    /// into it, the algorithm is unsupported.
    private static func known<Known: Digest>(_ digest: GivenDigest, as type: Known.Type) throws -> Known {
        guard digest.bytes.count == Known.byteCount, MemoryLayout<Known>.size >= Known.byteCount, _isPOD(type) else {
            throw StatusError.unsupported
        }
        var bytes = digest.bytes
        bytes.append(contentsOf: repeatElement(0, count: MemoryLayout<Known>.size - bytes.count))
        let known = bytes.withUnsafeBytes { $0.loadUnaligned(as: Known.self) }
        guard Array(known) == digest.bytes else { throw StatusError.unsupported }
        return known
    }
}

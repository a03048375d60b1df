// The operations of an elliptic-curve key, for any curve.

internal import Crypto
internal import VaubanSecretBytes

extension Curve {
    /// Returns a new private key in its external form.
    static func random() -> Data { Agreement(compactRepresentable: false).x963Representation }

    static func sign(_ digest: GivenDigest, isRaw: Bool, privateKey: UnsafeRawBufferPointer) throws -> Data {
        let signature = try Signer(x963Representation: privateKey).sign(digest)
        return isRaw ? signature.rawRepresentation : signature.derRepresentation
    }

    static func verify(_ signature: Data, _ digest: GivenDigest, isRaw: Bool, publicKey: Data) throws -> Bool {
        let parsed: Signer.Signature
        do {
            parsed = try isRaw ? Signer.Signature(rawRepresentation: signature) : Signer.Signature(derRepresentation: signature)
        } catch {
            return false
        }
        return try Verifier(x963Representation: publicKey).isValid(parsed, for: digest)
    }

    static func exchange(_ hash: KeyHash?, _ publicKey: Data, sharedInfo: Data, byteCount: Int?, privateKey: UnsafeRawBufferPointer) throws
        -> Data
    {
        try derived(
            hash, secret: try Agreement(x963Representation: privateKey).agree(with: peer(publicKey)), sharedInfo: sharedInfo,
            byteCount: byteCount)
    }

    /// Returns the result of a key exchange: the secret itself, or a key derived from it.
    static func derived(_ hash: KeyHash?, secret: SharedSecret, sharedInfo: Data, byteCount: Int?) throws -> Data {
        guard let hash else { return secret.withUnsafeBytes { Data($0) } }
        guard let byteCount else { throw StatusError(errSecParam, "this key exchange requires requestedSize") }
        return hash.derive(secret, sharedInfo: sharedInfo, byteCount: byteCount).withUnsafeBytes { Data($0) }
    }

    private static func peer(_ publicKey: Data) throws -> Agreement.Peer {
        do {
            return try Agreement.Peer(x963Representation: publicKey)
        } catch {
            throw StatusError(errSecParam, "the other public key is not on this curve")
        }
    }

    // MARK: ECIES in Apple's form: ephemeral public key, ciphertext, tag

    static func encrypt(_ message: Data, _ scheme: ECIES, publicKey: Data) throws -> Data {
        let ephemeral = Agreement(compactRepresentable: false)
        let sent = ephemeral.peer.x963Representation
        let (key, nonce) = try scheme.keys(try ephemeral.agree(with: peer(publicKey)), sent)
        let box = try AES.GCM.seal(message, using: key, nonce: nonce)
        return sent + box.ciphertext + box.tag
    }

    static func decrypt(_ packet: Data, _ scheme: ECIES, privateKey: UnsafeRawBufferPointer) throws -> Data {
        try decrypt(packet, scheme: scheme) { try Agreement(x963Representation: privateKey).agree(with: peer($0)) }
    }

    /// `exchange` returns the secret shared with the sender's ephemeral key.
    static func decrypt(_ packet: Data, scheme: ECIES, exchange: (Data) throws -> SharedSecret) throws -> Data {
        guard packet.count >= scheme.curve.publicBytes + ECIES.tagBytes else {
            throw StatusError(errSecParam, "the ciphertext is too short")
        }
        let (sent, rest) = (packet.prefix(scheme.curve.publicBytes), packet.dropFirst(scheme.curve.publicBytes))
        let secret = try exchange(Data(sent))
        let (key, nonce) = try scheme.keys(secret, Data(sent))
        do {
            let box = try AES.GCM.SealedBox(nonce: nonce, ciphertext: rest.dropLast(ECIES.tagBytes), tag: rest.suffix(ECIES.tagBytes))
            return try AES.GCM.open(box, using: key)
        } catch {
            throw StatusError(errSecParam, "the ciphertext was made for another key, or was altered")
        }
    }
}

/// One of Apple's ECIES variants: X9.63 key derivation with the ephemeral public key as shared information, and AES-GCM with an IV of 16
/// bytes, which are zero or derived with the key.
struct ECIES {
    static let tagBytes = 16
    private static let ivBytes = 16

    let curve: CurveName
    let hash: KeyHash
    let derivesIV: Bool

    fileprivate func keys(_ secret: SharedSecret, _ ephemeral: Data) throws -> (SymmetricKey, AES.GCM.Nonce) {
        let keyBytes = curve == .p256 ? 16 : 32
        let derived = hash.derive(secret, sharedInfo: ephemeral, byteCount: keyBytes + (derivesIV ? Self.ivBytes : 0))
        return try derived.withUnsafeBytes { bytes in
            let nonce = derivesIV ? Data(bytes[keyBytes...]) : Data(count: Self.ivBytes)
            return (SymmetricKey(data: bytes[..<keyBytes]), try AES.GCM.Nonce(data: nonce))
        }
    }
}

extension KeyHash {
    fileprivate func derive(_ secret: SharedSecret, sharedInfo: Data, byteCount: Int) -> SymmetricKey {
        switch self {
        case .sha1: secret.x963DerivedSymmetricKey(using: Insecure.SHA1.self, sharedInfo: sharedInfo, outputByteCount: byteCount)
        case .sha256: secret.x963DerivedSymmetricKey(using: SHA256.self, sharedInfo: sharedInfo, outputByteCount: byteCount)
        case .sha384: secret.x963DerivedSymmetricKey(using: SHA384.self, sharedInfo: sharedInfo, outputByteCount: byteCount)
        case .sha512: secret.x963DerivedSymmetricKey(using: SHA512.self, sharedInfo: sharedInfo, outputByteCount: byteCount)
        }
    }

    func digest(of message: Data) -> [UInt8] {
        switch self {
        case .sha1: Array(Insecure.SHA1.hash(data: message))
        case .sha256: Array(SHA256.hash(data: message))
        case .sha384: Array(SHA384.hash(data: message))
        case .sha512: Array(SHA512.hash(data: message))
        }
    }
}

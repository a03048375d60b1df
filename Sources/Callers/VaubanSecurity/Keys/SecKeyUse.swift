// Operations with keys: Apple's functions of 2016, which take an algorithm.

internal import VaubanKeyWire
internal import VaubanRefusal
internal import VaubanSecretBytes

/// Signs data, or a digest if the algorithm takes digests: Apple's `SecKeyCreateSignature` (C-162).
///
/// - Returns: The signature: DER (X9.62) or r ‖ s (RFC 4754) for ECDSA, as the algorithm specifies. Nil with an error of
///   `NSOSStatusErrorDomain`: errSecParam if the key does not support the algorithm or a digest has the wrong length, and the statuses of
///   `SecItemCopyMatching` if the key needs a prompt; or with `LAError.userCancel` if the user cancels the prompt.
public func SecKeyCreateSignature(
    _ key: SecKey, _ algorithm: SecKeyAlgorithm, _ dataToSign: CFData, _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> CFData? {
    perform(.sign, key: key, algorithm: algorithm, error: error) { try $0.sign(dataToSign.copied, $1) }
}

/// Verifies a signature with a public key: Apple's `SecKeyVerifySignature`.
///
/// - Returns: True if the signature is valid. False with an error of `NSOSStatusErrorDomain`: `errSecVerifyFailed` for an invalid
///   signature, `errSecParam` if the key does not support the algorithm or a digest has the wrong length.
public func SecKeyVerifySignature(
    _ key: SecKey, _ algorithm: SecKeyAlgorithm, _ signedData: CFData, _ signature: CFData,
    _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> Bool {
    let verified: NSData? = perform(.verify, key: key, algorithm: algorithm, error: error) { material, method in
        guard try material.verify(signature as Data, data: signedData as Data, method: method) else {
            throw StatusError(errSecVerifyFailed, "the signature is invalid")
        }
        return Data()
    }
    return verified != nil
}

/// Encrypts data with a public key: Apple's `SecKeyCreateEncryptedData`. ECIES ciphertexts are the ephemeral public key, the ciphertext and
/// the tag of 16 bytes.
///
/// - Returns: The ciphertext. Nil with an error of `NSOSStatusErrorDomain`: `errSecParam` if the key does not support the algorithm, or
///   the data is too long for RSA.
public func SecKeyCreateEncryptedData(
    _ key: SecKey, _ algorithm: SecKeyAlgorithm, _ plaintext: CFData, _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> CFData? {
    perform(.encrypt, key: key, algorithm: algorithm, error: error) { try $0.encrypt(plaintext as Data, $1) }
}

/// Decrypts data with a private key: Apple's `SecKeyCreateDecryptedData`.
///
/// - Returns: The plaintext. Nil with an error of `NSOSStatusErrorDomain`: `errSecParam` for a ciphertext that is too short, was altered or
///   is of another key, or if the key does not support the algorithm, and the statuses of `SecItemCopyMatching` if the key needs a prompt;
///   or with `LAError.userCancel` if the user cancels the prompt.
public func SecKeyCreateDecryptedData(
    _ key: SecKey, _ algorithm: SecKeyAlgorithm, _ ciphertext: CFData, _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> CFData? {
    perform(.decrypt, key: key, algorithm: algorithm, error: error) { try $0.decrypt(ciphertext as Data, $1) }
}

/// Returns the shared secret of a private key and another public key: Apple's `SecKeyCopyKeyExchangeResult`. Algorithms with a key
/// derivation (X9.63) require `requestedSize`, 1 to 65536 bytes; the others return the x coordinate.
///
/// - Returns: The secret or the derived key. Nil with an error of `NSOSStatusErrorDomain`: `errSecParam` for a key on another curve, an
///   unsupported algorithm or a missing size, and the statuses of `SecItemCopyMatching` if the key needs a prompt; or with
///   `LAError.userCancel` if the user cancels the prompt.
public func SecKeyCopyKeyExchangeResult(
    _ privateKey: SecKey, _ algorithm: SecKeyAlgorithm, _ publicKey: SecKey, _ parameters: CFDictionary,
    _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> CFData? {
    perform(.keyExchange, key: privateKey, algorithm: algorithm, error: error) { material, method in
        let dictionary = KeyDictionary(parameters)
        let size = dictionary.number(kSecKeyKeyExchangeParameterRequestedSize)
        guard size.map({ (1...KeyMaterial.derivedBytesMax).contains($0) }) ?? true else {
            throw StatusError(errSecParam, "requestedSize is not a valid size")
        }
        let info = dictionary[kSecKeyKeyExchangeParameterSharedInfo] as? Data ?? Data()
        guard let other = publicKey.material, other.kind == material.kind else {
            throw StatusError(errSecParam, "the other key is not on the same curve")
        }
        return try material.exchange(method, other.publicBytes, sharedInfo: info, byteCount: size)
    }
}

/// Returns whether a key supports an algorithm for an operation, without a prompt: Apple's `SecKeyIsAlgorithmSupported`.
public func SecKeyIsAlgorithmSupported(_ key: SecKey, _ operation: SecKeyOperationType, _ algorithm: SecKeyAlgorithm) -> Bool {
    guard let material = key.material, let method = algorithm.method else { return false }
    return material.supports(operation, method)
}

private func perform(
    _ operation: SecKeyOperationType, key: SecKey, algorithm: SecKeyAlgorithm, error: UnsafeMutablePointer<Unmanaged<CFError>?>?,
    body: (KeyMaterial, KeyMethod) throws -> Data
) -> NSData? {
    withReportedError(error, isKeyUse: true) {
        guard let material = key.material, let method = algorithm.method, material.supports(operation, method) else {
            throw StatusError(errSecParam, "the key does not support \(algorithm.isKnownName ? algorithm.name : "this algorithm")")
        }
        do {
            return NSData(data: try body(material, method))
        } catch let fault as StatusError {
            throw fault
        } catch let refusal as Refusal {
            throw refusal
        } catch {
            throw StatusError(errSecParam, "the key cannot process this data")
        }
    }
}

extension SecKeyAlgorithm {
    /// Keeps the caller's own strings out of error texts.
    fileprivate var isKnownName: Bool { method != nil }
}

extension NSData {
    /// The bytes in one copy; a cast copies them one by one.
    fileprivate var copied: Data { Data(bytes: bytes, count: length) }
}

extension KeyMaterial {
    static let derivedBytesMax = 1 << 16

    /// Returns whether this key supports the operation.
    func supports(_ operation: SecKeyOperationType, _ method: KeyMethod) -> Bool {
        guard operation.fits(method), operation.takesPrivateKey == isPrivate else { return false }
        switch (kind, method) {
        case (.elliptic, .ecdsa), (.elliptic, .ecies), (.elliptic, .exchange): return true
        case (.rsa, .rsaSignature), (.rsa, .rsaEncryption), (.rsa, .rsaHybrid): return true
        default: return false
        }
    }

    func sign(_ data: Data, _ method: KeyMethod) throws -> Data {
        switch (kind, method) {
        case (.elliptic(let name), .ecdsa(let input, let isRaw)):
            let digest = try input.digest(of: data)
            if let enclave { return try enclave.sign(digest, isRaw: isRaw) }
            return try withPrivateBytes { try name.curve.sign(digest, isRaw: isRaw, privateKey: $0) }
        case (.rsa, .rsaSignature(let input, let isPSS)):
            return try withPrivateBytes { try RSAKey.sign(data, input, isPSS: isPSS, privateKey: $0) }
        default: throw StatusError.unsupported
        }
    }

    func verify(_ signature: Data, data: Data, method: KeyMethod) throws -> Bool {
        switch (kind, method) {
        case (.elliptic(let name), .ecdsa(let input, let isRaw)):
            return try name.curve.verify(signature, try input.digest(of: data), isRaw: isRaw, publicKey: publicBytes)
        case (.rsa, .rsaSignature(let input, let isPSS)):
            return try RSAKey.verify(signature, data: data, input: input, isPSS: isPSS, publicKey: publicBytes)
        default: throw StatusError.unsupported
        }
    }

    func encrypt(_ message: Data, _ method: KeyMethod) throws -> Data {
        switch (kind, method) {
        case (.elliptic(let name), .ecies(let hash, let derivesIV)):
            return try name.curve.encrypt(message, ECIES(curve: name, hash: hash, derivesIV: derivesIV), publicKey: publicBytes)
        case (.rsa, .rsaEncryption(let padding)): return try RSAKey.encrypt(message, padding, publicKey: publicBytes)
        case (.rsa, .rsaHybrid(let hash)): return try RSAKey.encryptHybrid(message, hash, publicKey: publicBytes, bits: bits)
        default: throw StatusError.unsupported
        }
    }

    func decrypt(_ packet: Data, _ method: KeyMethod) throws -> Data {
        switch (kind, method) {
        case (.elliptic(let name), .ecies(let hash, let derivesIV)):
            let scheme = ECIES(curve: name, hash: hash, derivesIV: derivesIV)
            if let enclave { return try name.curve.decrypt(packet, scheme: scheme) { try enclave.exchange($0, for: .decrypt) } }
            return try withPrivateBytes { try name.curve.decrypt(packet, scheme, privateKey: $0) }
        case (.rsa, .rsaEncryption(let padding)): return try withPrivateBytes { try RSAKey.decrypt(packet, padding, privateKey: $0) }
        case (.rsa, .rsaHybrid(let hash)):
            return try withPrivateBytes { try RSAKey.decryptHybrid(packet, hash, privateKey: $0, publicKey: publicBytes, bits: bits) }
        default: throw StatusError.unsupported
        }
    }

    func exchange(_ method: KeyMethod, _ publicKey: Data, sharedInfo: Data, byteCount: Int?) throws -> Data {
        guard case .elliptic(let name) = kind, case .exchange(let hash) = method else { throw StatusError.unsupported }
        if let enclave {
            return try name.curve.derived(
                hash, secret: try enclave.exchange(publicKey, for: .exchange), sharedInfo: sharedInfo, byteCount: byteCount)
        }
        return try withPrivateBytes {
            try name.curve.exchange(hash, publicKey, sharedInfo: sharedInfo, byteCount: byteCount, privateKey: $0)
        }
    }
}

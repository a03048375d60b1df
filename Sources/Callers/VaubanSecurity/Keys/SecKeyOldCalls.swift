// The functions from before 2016, which take a buffer and a padding. Each calls a newer one (C-160, C-161).

/// Signs a digest: Apple's `SecKeyRawSign`. ECDSA signatures are in X9.62 form; RSA accepts the PKCS #1 paddings with a hash. `sigLen`
/// holds the size of the buffer and receives the number of bytes.
///
/// - Returns: `errSecSuccess`, `errSecParam` for a small buffer or an unsupported padding, or a status of `SecItemCopyMatching` if the key
///   needs a prompt.
@discardableResult
public func SecKeyRawSign(
    _ key: SecKey, _ padding: SecPadding, _ dataToSign: UnsafePointer<UInt8>, _ dataToSignLen: Int, _ sig: UnsafeMutablePointer<UInt8>,
    _ sigLen: UnsafeMutablePointer<Int>
) -> OSStatus {
    withReportedStatus {
        let algorithm = try key.signature(for: padding)
        try fill(
            sig, length: sigLen,
            with: withSuccess { SecKeyCreateSignature(key, algorithm, NSData(bytes: dataToSign, length: dataToSignLen), $0) })
    }
}

/// Verifies a signature of a digest: Apple's `SecKeyRawVerify`.
///
/// - Returns: `errSecSuccess` if the signature is valid, otherwise `errSSLCrypto` (-9809), or `errSecParam` for an unsupported padding.
public func SecKeyRawVerify(
    _ key: SecKey, _ padding: SecPadding, _ signedData: UnsafePointer<UInt8>, _ signedDataLen: Int, _ sig: UnsafePointer<UInt8>,
    _ sigLen: Int
) -> OSStatus {
    withReportedStatus {
        let algorithm = try key.signature(for: padding)
        do {
            _ = try withSuccess { error in
                SecKeyVerifySignature(
                    key, algorithm, NSData(bytes: signedData, length: signedDataLen), NSData(bytes: sig, length: sigLen), error)
                    ? NSData() : nil
            }
        } catch let fault as StatusError where fault.status == errSecVerifyFailed {
            throw StatusError(errSSLCrypto, fault.message)
        }
    }
}

/// Encrypts with a public RSA key: Apple's `SecKeyEncrypt`. `cipherTextLen` holds the size of the buffer and receives the number of bytes.
///
/// - Returns: `errSecSuccess`, or `errSecParam`.
@discardableResult
public func SecKeyEncrypt(
    _ key: SecKey, _ padding: SecPadding, _ plainText: UnsafePointer<UInt8>, _ plainTextLen: Int, _ cipherText: UnsafeMutablePointer<UInt8>,
    _ cipherTextLen: UnsafeMutablePointer<Int>
) -> OSStatus {
    withReportedStatus {
        let algorithm = try encryption(for: padding)
        try fill(
            cipherText, length: cipherTextLen,
            with: withSuccess { SecKeyCreateEncryptedData(key, algorithm, NSData(bytes: plainText, length: plainTextLen), $0) })
    }
}

/// Decrypts with a private RSA key: Apple's `SecKeyDecrypt`. `plainTextLen` holds the size of the buffer and receives the number of bytes.
///
/// - Returns: `errSecSuccess`, or `errSecParam`, also for a ciphertext of another key.
@discardableResult
public func SecKeyDecrypt(
    _ key: SecKey, _ padding: SecPadding, _ cipherText: UnsafePointer<UInt8>, _ cipherTextLen: Int,
    _ plainText: UnsafeMutablePointer<UInt8>,
    _ plainTextLen: UnsafeMutablePointer<Int>
) -> OSStatus {
    withReportedStatus {
        let algorithm = try encryption(for: padding)
        try fill(
            plainText, length: plainTextLen,
            with: withSuccess { SecKeyCreateDecryptedData(key, algorithm, NSData(bytes: cipherText, length: cipherTextLen), $0) })
    }
}

extension SecKey {
    fileprivate func signature(for padding: SecPadding) throws -> SecKeyAlgorithm {
        if case .elliptic? = material?.kind { return .ecdsaSignatureDigestX962 }
        switch padding {
        case .PKCS1SHA1: return .rsaSignatureDigestPKCS1v15SHA1
        case .PKCS1SHA256: return .rsaSignatureDigestPKCS1v15SHA256
        case .PKCS1SHA384: return .rsaSignatureDigestPKCS1v15SHA384
        case .PKCS1SHA512: return .rsaSignatureDigestPKCS1v15SHA512
        default: throw StatusError.unsupported
        }
    }
}

private func encryption(for padding: SecPadding) throws -> SecKeyAlgorithm {
    switch padding {
    case .PKCS1: .rsaEncryptionPKCS1
    case .OAEP: .rsaEncryptionOAEPSHA1
    default: throw StatusError.unsupported
    }
}

/// Calls one of the newer functions and throws its error as a status; only a cancelled prompt is an error of another domain.
private func withSuccess(_ body: (UnsafeMutablePointer<Unmanaged<CFError>?>) -> CFData?) throws -> Data {
    var error: Unmanaged<CFError>?
    if let result = body(&error) { return result as Data }
    guard let report = error?.takeRetainedValue() else { throw StatusError(errSecInternal, "no reason was given") }
    guard report.domain == NSOSStatusErrorDomain else { throw StatusError(errSecUserCanceled, report.localizedDescription) }
    throw StatusError(OSStatus(truncatingIfNeeded: report.code), report.localizedDescription)
}

private func fill(_ buffer: UnsafeMutablePointer<UInt8>, length: UnsafeMutablePointer<Int>, with bytes: Data) throws {
    guard bytes.count <= length.pointee else { throw StatusError(errSecParam, "the buffer is too small") }
    bytes.copyBytes(to: buffer, count: bytes.count)
    length.pointee = bytes.count
}

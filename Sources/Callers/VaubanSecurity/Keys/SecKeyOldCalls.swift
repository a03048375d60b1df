// The calls before 2016, which take a buffer and a padding. Each is one of the newer ones (C-160, C-161).

/// Signs a digest: Apple's `SecKeyRawSign`. Over a curve the signature is X9.62; RSA takes the paddings of PKCS#1 with a hash.
public func SecKeyRawSign(
    _ key: SecKey, _ padding: SecPadding, _ dataToSign: UnsafePointer<UInt8>, _ dataToSignLen: Int, _ sig: UnsafeMutablePointer<UInt8>,
    _ sigLen: UnsafeMutablePointer<Int>
) -> OSStatus {
    reporting {
        let algorithm = try key.signature(for: padding)
        try fill(sig, sigLen, withSuccess { SecKeyCreateSignature(key, algorithm, NSData(bytes: dataToSign, length: dataToSignLen), $0) })
    }
}

/// Whether a signature of a digest is right: Apple's `SecKeyRawVerify`.
public func SecKeyRawVerify(
    _ key: SecKey, _ padding: SecPadding, _ signedData: UnsafePointer<UInt8>, _ signedDataLen: Int, _ sig: UnsafePointer<UInt8>,
    _ sigLen: Int
) -> OSStatus {
    reporting {
        let algorithm = try key.signature(for: padding)
        _ = try withSuccess { error in
            SecKeyVerifySignature(
                key, algorithm, NSData(bytes: signedData, length: signedDataLen), NSData(bytes: sig, length: sigLen), error)
                ? NSData() : nil
        }
    }
}

/// Encrypts to an RSA key: Apple's `SecKeyEncrypt`.
public func SecKeyEncrypt(
    _ key: SecKey, _ padding: SecPadding, _ plainText: UnsafePointer<UInt8>, _ plainTextLen: Int, _ cipherText: UnsafeMutablePointer<UInt8>,
    _ cipherTextLen: UnsafeMutablePointer<Int>
) -> OSStatus {
    reporting {
        let algorithm = try encryption(for: padding)
        try fill(
            cipherText, cipherTextLen,
            withSuccess { SecKeyCreateEncryptedData(key, algorithm, NSData(bytes: plainText, length: plainTextLen), $0) })
    }
}

/// Decrypts with an RSA key: Apple's `SecKeyDecrypt`.
public func SecKeyDecrypt(
    _ key: SecKey, _ padding: SecPadding, _ cipherText: UnsafePointer<UInt8>, _ cipherTextLen: Int,
    _ plainText: UnsafeMutablePointer<UInt8>,
    _ plainTextLen: UnsafeMutablePointer<Int>
) -> OSStatus {
    reporting {
        let algorithm = try encryption(for: padding)
        try fill(
            plainText, plainTextLen,
            withSuccess { SecKeyCreateDecryptedData(key, algorithm, NSData(bytes: cipherText, length: cipherTextLen), $0) })
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
        default: throw KeyFault.unsupported
        }
    }
}

private func encryption(for padding: SecPadding) throws -> SecKeyAlgorithm {
    switch padding {
    case .PKCS1: .rsaEncryptionPKCS1
    case .OAEP: .rsaEncryptionOAEPSHA1
    default: throw KeyFault.unsupported
    }
}

/// Calls one of the newer functions and throws what it reports.
private func withSuccess(_ body: (UnsafeMutablePointer<Unmanaged<CFError>?>) -> CFData?) throws -> Data {
    var error: Unmanaged<CFError>?
    if let result = body(&error) { return result as Data }
    guard let report = error?.takeRetainedValue() else { throw KeyFault(errSecInternal, "no reason was given") }
    throw KeyFault(OSStatus(truncatingIfNeeded: report.code), report.localizedDescription)
}

private func fill(_ buffer: UnsafeMutablePointer<UInt8>, _ length: UnsafeMutablePointer<Int>, _ bytes: Data) throws {
    guard bytes.count <= length.pointee else { throw KeyFault(errSecParam, "the buffer is too small") }
    bytes.copyBytes(to: buffer, count: bytes.count)
    length.pointee = bytes.count
}

/// A certificate and its private key: Apple's `SecIdentity`.
///
/// `@unchecked Sendable`: every stored property is immutable.
public final class SecIdentity: NSObject, CFTypeNumbered, @unchecked Sendable {
    package static let typeID: CFTypeID = 259
    let certificate: SecCertificate
    let key: SecKey

    init(certificate: SecCertificate, key: SecKey) {
        self.certificate = certificate
        self.key = key
    }

    /// Returns whether the other object is an identity with the same certificate and key.
    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? SecIdentity else { return false }
        return certificate == other.certificate && key == other.key
    }

    /// A hash of the certificate.
    public override var hash: Int { certificate.hash }
    /// The certificate's subject, for logs.
    public override var description: String { "<SecIdentity: \(certificate.summary)>" }
}

/// Returns the type identifier of `SecIdentity`: Apple's `SecIdentityGetTypeID`.
public func SecIdentityGetTypeID() -> CFTypeID { SecIdentity.typeID }

/// Passes the certificate of an identity to `certificateRef`: Apple's `SecIdentityCopyCertificate`. Always returns `errSecSuccess`.
@discardableResult
public func SecIdentityCopyCertificate(_ identityRef: SecIdentity, _ certificateRef: UnsafeMutablePointer<SecCertificate?>) -> OSStatus {
    certificateRef.pointee = identityRef.certificate
    return errSecSuccess
}

/// Passes the private key of an identity to `privateKeyRef`: Apple's `SecIdentityCopyPrivateKey`. Always returns `errSecSuccess`.
@discardableResult
public func SecIdentityCopyPrivateKey(_ identityRef: SecIdentity, _ privateKeyRef: UnsafeMutablePointer<SecKey?>) -> OSStatus {
    privateKeyRef.pointee = identityRef.key
    return errSecSuccess
}

/// Combines a certificate with its private key, without storing them: Apple's `SecIdentityCreate`. Nil if the key does not match the
/// certificate.
public func SecIdentityCreate(_ allocator: CFAllocator?, _ certificate: SecCertificate, _ privateKey: SecKey) -> SecIdentity? {
    guard let material = privateKey.material, material.isPrivate, material.publicBytes.elementsEqual(certificate.fields.publicKey) else {
        return nil
    }
    return SecIdentity(certificate: certificate, key: privateKey)
}

/// Creates an identity with a certificate's private key from the keychain: Apple's `SecIdentityCreateWithCertificate`.
///
/// - Parameters:
///   - keychainOrArray: Ignored; there is one keychain.
///   - certificateRef: The certificate.
///   - identityRef: Receives the identity.
/// - Returns: `errSecSuccess`, `errSecItemNotFound` if the key is not in the keychain, or another status of `SecItemCopyMatching`.
@discardableResult
public func SecIdentityCreateWithCertificate(
    _ keychainOrArray: CFTypeRef?, _ certificateRef: SecCertificate, _ identityRef: UnsafeMutablePointer<SecIdentity?>
) -> OSStatus {
    var found: CFTypeRef?
    let query: [CFString: Any] = [
        kSecClass: kSecClassKey, kSecAttrKeyClass: kSecAttrKeyClassPrivate, kSecAttrApplicationLabel: Data(certificateRef.publicKeyHash),
        kSecAttrSynchronizable: kSecAttrSynchronizableAny, kSecReturnRef: true,
    ]
    let status = SecItemCopyMatching(query as CFDictionary, &found)
    guard status == errSecSuccess else { return status }
    guard let key = found as? SecKey, let identity = SecIdentityCreate(nil, certificateRef, key) else { return errSecItemNotFound }
    identityRef.pointee = identity
    return errSecSuccess
}

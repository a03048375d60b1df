/// A certificate with its private key: Apple's `SecIdentity`.
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

    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? SecIdentity else { return false }
        return certificate == other.certificate && key == other.key
    }

    public override var hash: Int { certificate.hash }
    public override var description: String { "<SecIdentity: \(certificate.summary)>" }
}

/// The class number: Apple's `SecIdentityGetTypeID`.
public func SecIdentityGetTypeID() -> CFTypeID { SecIdentity.typeID }

/// The certificate of an identity: Apple's `SecIdentityCopyCertificate`.
public func SecIdentityCopyCertificate(_ identityRef: SecIdentity, _ certificateRef: UnsafeMutablePointer<SecCertificate?>) -> OSStatus {
    certificateRef.pointee = identityRef.certificate
    return errSecSuccess
}

/// The private key of an identity: Apple's `SecIdentityCopyPrivateKey`.
public func SecIdentityCopyPrivateKey(_ identityRef: SecIdentity, _ privateKeyRef: UnsafeMutablePointer<SecKey?>) -> OSStatus {
    privateKeyRef.pointee = identityRef.key
    return errSecSuccess
}

/// Puts a certificate and its private key together: Apple's `SecIdentityCreate`. Nothing is stored. Nil where the key is not that of the
/// certificate.
public func SecIdentityCreate(_ allocator: CFAllocator?, _ certificate: SecCertificate, _ privateKey: SecKey) -> SecIdentity? {
    guard let material = privateKey.material, material.isPrivate, material.publicBytes.elementsEqual(certificate.fields.publicKey) else {
        return nil
    }
    return SecIdentity(certificate: certificate, key: privateKey)
}

/// Finds the private key of a certificate in the keychain: Apple's `SecIdentityCreateWithCertificate`.
/// - Parameter keychainOrArray: Means nothing here; there is one keychain.
/// - Returns: `errSecItemNotFound` where it is not there; what `SecItemCopyMatching` answers for the key otherwise.
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

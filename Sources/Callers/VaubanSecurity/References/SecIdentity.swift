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

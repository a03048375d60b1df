// What certificates are judged by.

/// The rules for a chain of certificates: Apple's `SecPolicy`. Two are equal when they ask for the same.
///
/// `@unchecked Sendable`: every stored property is immutable.
public final class SecPolicy: NSObject, CFTypeNumbered, @unchecked Sendable {
    package static let typeID: CFTypeID = 262

    enum Rules: Hashable, Sendable {
        case basic
        /// The certificate of a server, or of a client; where a name is given the certificate must have it.
        case connection(ofServer: Bool, name: String?)
        case revocation(CFOptionFlags)
    }

    let rules: Rules

    init(_ rules: Rules) { self.rules = rules }

    public override func isEqual(_ object: Any?) -> Bool { (object as? SecPolicy)?.rules == rules }
    public override var hash: Int { rules.hashValue }

    public override var description: String {
        switch rules {
        case .basic: "<SecPolicy: basic X.509>"
        case .connection(true, let name): "<SecPolicy: server\(name.map { " \($0)" } ?? "")>"
        case .connection(false, let name): "<SecPolicy: client\(name.map { " \($0)" } ?? "")>"
        case .revocation: "<SecPolicy: revocation>"
        }
    }
}

/// The class number: Apple's `SecPolicyGetTypeID`.
public func SecPolicyGetTypeID() -> CFTypeID { SecPolicy.typeID }

/// Judges a chain by RFC 5280 alone, for no purpose in particular: Apple's `SecPolicyCreateBasicX509`.
public func SecPolicyCreateBasicX509() -> SecPolicy { SecPolicy(.basic) }

/// Judges the certificate of the other end of a TLS connection: Apple's `SecPolicyCreateSSL`.
///
/// The name is looked for among the certificate's alternative names (RFC 9525), as an address where it is one. The common name counts
/// for nothing.
/// - Parameters:
///   - server: Whether the certificate is a server's; a client's otherwise.
///   - hostname: The name or the address that the certificate must be for; nil for any.
public func SecPolicyCreateSSL(_ server: Bool, _ hostname: CFString?) -> SecPolicy {
    SecPolicy(.connection(ofServer: server, name: hostname as String?))
}

/// Asks that a certificate is not revoked: Apple's `SecPolicyCreateRevocation`.
///
/// Nothing is fetched here: what counts is what `SecTrustSetOCSPResponse` was given. With `kSecRevocationRequirePositiveResponse` a
/// chain is
/// refused, with -67635, unless one of those says of each certificate that names a responder that it is good.
/// - Returns: Nil without any flag.
public func SecPolicyCreateRevocation(_ revocationFlags: CFOptionFlags) -> SecPolicy? {
    revocationFlags == 0 ? nil : SecPolicy(.revocation(revocationFlags))
}

/// Makes a policy of its identifier: Apple's `SecPolicyCreateWithProperties`.
/// - Returns: Nil for an identifier other than those of the basic, the SSL and the revocation policy.
public func SecPolicyCreateWithProperties(_ policyIdentifier: CFTypeRef, _ properties: CFDictionary?) -> SecPolicy? {
    switch (policyIdentifier as? String).map({ NSString(string: $0) }) {
    case kSecPolicyAppleX509Basic: SecPolicyCreateBasicX509()
    case kSecPolicyAppleSSL:
        SecPolicyCreateSSL(
            (properties?[kSecPolicyClient] as? Bool) != true, (properties?[kSecPolicyName] as? String).map { NSString(string: $0) })
    case kSecPolicyAppleRevocation: SecPolicyCreateRevocation((properties?[kSecPolicyRevocationFlags] as? NSNumber)?.uintValue ?? 0)
    default: nil
    }
}

/// What a policy was made of: Apple's `SecPolicyCopyProperties`, with the keys `kSecPolicyOid`, `kSecPolicyName`, `kSecPolicyClient` and
/// `kSecPolicyRevocationFlags`, as far as they apply.
public func SecPolicyCopyProperties(_ policyRef: SecPolicy) -> CFDictionary? {
    let properties = NSMutableDictionary()
    switch policyRef.rules {
    case .basic: properties[kSecPolicyOid] = kSecPolicyAppleX509Basic
    case .connection(let isServer, let name):
        properties[kSecPolicyOid] = kSecPolicyAppleSSL
        if let name { properties[kSecPolicyName] = NSString(string: name) }
        if !isServer { properties[kSecPolicyClient] = kCFBooleanTrue }
    case .revocation(let flags):
        properties[kSecPolicyOid] = kSecPolicyAppleRevocation
        properties[kSecPolicyRevocationFlags] = NSNumber(value: flags)
    }
    return properties
}

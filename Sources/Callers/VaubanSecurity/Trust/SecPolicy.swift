// The policies for evaluating certificates.

/// A policy for a certificate chain: Apple's `SecPolicy`. Policies with the same rules are equal.
///
/// `@unchecked Sendable`: every stored property is immutable.
public final class SecPolicy: NSObject, CFTypeNumbered, @unchecked Sendable {
    package static let typeID: CFTypeID = 262

    enum Rules: Hashable, Sendable {
        case basic
        /// The certificate of a server or of a client; it must contain the name, if there is one.
        case connection(ofServer: Bool, name: String?)
        case revocation(CFOptionFlags)
    }

    let rules: Rules

    init(_ rules: Rules) { self.rules = rules }

    /// Returns whether the other object is a policy with the same rules.
    public override func isEqual(_ object: Any?) -> Bool { (object as? SecPolicy)?.rules == rules }
    /// A hash of the rules.
    public override var hash: Int { rules.hashValue }

    /// The rules, for logs.
    public override var description: String {
        switch rules {
        case .basic: "<SecPolicy: basic X.509>"
        case .connection(true, let name): "<SecPolicy: server\(name.map { " \($0)" } ?? "")>"
        case .connection(false, let name): "<SecPolicy: client\(name.map { " \($0)" } ?? "")>"
        case .revocation: "<SecPolicy: revocation>"
        }
    }
}

/// Returns the type identifier of `SecPolicy`: Apple's `SecPolicyGetTypeID`.
public func SecPolicyGetTypeID() -> CFTypeID { SecPolicy.typeID }

/// Creates a policy for RFC 5280 alone, without a particular purpose: Apple's `SecPolicyCreateBasicX509`.
public func SecPolicyCreateBasicX509() -> SecPolicy { SecPolicy(.basic) }

/// Creates a policy for the peer's certificate of a TLS connection: Apple's `SecPolicyCreateSSL`.
///
/// The name must be among the certificate's alternative names (RFC 9525), as an address if it is one. The common name is ignored.
///
/// - Parameters:
///   - server: True for a server's certificate, false for a client's.
///   - hostname: The name or address that the certificate must contain; nil for any.
public func SecPolicyCreateSSL(_ server: Bool, _ hostname: CFString?) -> SecPolicy {
    SecPolicy(.connection(ofServer: server, name: hostname as String?))
}

/// Creates a policy for revocation: Apple's `SecPolicyCreateRevocation`.
///
/// It uses the responses passed to `SecTrustSetOCSPResponse` and fetches nothing. With `kSecRevocationRequirePositiveResponse` the
/// evaluation fails with `errSecIncompleteCertRevocationCheck` (-67635) unless a response confirms each certificate that names a responder.
///
/// - Returns: The policy; nil without any flag.
public func SecPolicyCreateRevocation(_ revocationFlags: CFOptionFlags) -> SecPolicy? {
    revocationFlags == 0 ? nil : SecPolicy(.revocation(revocationFlags))
}

/// Creates a policy from its identifier: Apple's `SecPolicyCreateWithProperties`.
///
/// - Returns: The policy; nil for other identifiers than those of the basic, the SSL and the revocation policy.
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

/// Returns the properties of a policy: Apple's `SecPolicyCopyProperties`, with those of the keys `kSecPolicyOid`, `kSecPolicyName`,
/// `kSecPolicyClient` and `kSecPolicyRevocationFlags` that apply.
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

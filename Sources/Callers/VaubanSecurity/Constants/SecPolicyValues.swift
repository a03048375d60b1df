// The names of policies, of their properties, and of what an evaluation of trust tells.
//
// Each constant has the name and the text that Apple's `Security` gives it. Foundation calls NSString
// non-Sendable because of its mutable subclass; these are immutable literals, never replaced, which
// is why `nonisolated(unsafe)` is sound for them.

// MARK: Policies.

/// A chain, for no purpose in particular.
nonisolated(unsafe) public let kSecPolicyAppleX509Basic: CFString = "1.2.840.113635.100.1.2"

/// The certificate of the other end of a TLS connection.
nonisolated(unsafe) public let kSecPolicyAppleSSL: CFString = "1.2.840.113635.100.1.3"

/// Whether a certificate is revoked.
nonisolated(unsafe) public let kSecPolicyAppleRevocation: CFString = "1.2.840.113635.100.1.21"

// MARK: Properties of policies.

/// Which policy it is.
nonisolated(unsafe) public let kSecPolicyOid: CFString = "SecPolicyOid"

/// The name that the certificate must be for.
nonisolated(unsafe) public let kSecPolicyName: CFString = "SecPolicyName"

/// Whether the certificate is a client's.
nonisolated(unsafe) public let kSecPolicyClient: CFString = "SecPolicyClient"

/// How revocation is looked at.
nonisolated(unsafe) public let kSecPolicyRevocationFlags: CFString = "SecPolicyRevocationFlags"

// MARK: Flags of the revocation policy.

/// By responders (RFC 6960).
public let kSecRevocationOCSPMethod: CFOptionFlags = 1 << 0

/// By lists (RFC 5280), which are not read here.
public let kSecRevocationCRLMethod: CFOptionFlags = 1 << 1

/// Lists rather than responders.
public let kSecRevocationPreferCRL: CFOptionFlags = 1 << 2

/// Nobody's silence counts as good.
public let kSecRevocationRequirePositiveResponse: CFOptionFlags = 1 << 3

/// Nothing is fetched, which is always so here.
public let kSecRevocationNetworkAccessDisabled: CFOptionFlags = 1 << 4

/// By whatever there is.
public let kSecRevocationUseAnyAvailableMethod: CFOptionFlags = kSecRevocationOCSPMethod | kSecRevocationCRLMethod

// MARK: What an evaluation tells.

/// The name of a certificate, in `SecTrustCopyProperties`.
nonisolated(unsafe) public let kSecPropertyTypeTitle: CFString = "title"

/// What is wrong with a certificate, in `SecTrustCopyProperties`.
nonisolated(unsafe) public let kSecPropertyTypeError: CFString = "error"

/// When it was evaluated.
nonisolated(unsafe) public let kSecTrustEvaluationDate: CFString = "TrustEvaluationDate"

/// The result, a `SecTrustResultType`.
nonisolated(unsafe) public let kSecTrustResultValue: CFString = "TrustResultValue"

// The names of policies, of their properties, and of the results of trust evaluation.
//
// Each constant has the name and the text that Apple's `Security` gives it. Foundation calls NSString
// non-Sendable because of its mutable subclass; these are immutable literals, never replaced, which
// is why `nonisolated(unsafe)` is sound for them.

// MARK: Policies.

/// The policy for a chain without a particular purpose.
nonisolated(unsafe) public let kSecPolicyAppleX509Basic: CFString = "1.2.840.113635.100.1.2"

/// The policy for the peer's certificate of a TLS connection.
nonisolated(unsafe) public let kSecPolicyAppleSSL: CFString = "1.2.840.113635.100.1.3"

/// The policy for revocation.
nonisolated(unsafe) public let kSecPolicyAppleRevocation: CFString = "1.2.840.113635.100.1.21"

// MARK: Properties of policies.

/// The identifier of the policy.
nonisolated(unsafe) public let kSecPolicyOid: CFString = "SecPolicyOid"

/// The name that the certificate must contain.
nonisolated(unsafe) public let kSecPolicyName: CFString = "SecPolicyName"

/// Whether the certificate is a client's.
nonisolated(unsafe) public let kSecPolicyClient: CFString = "SecPolicyClient"

/// How to check revocation.
nonisolated(unsafe) public let kSecPolicyRevocationFlags: CFString = "SecPolicyRevocationFlags"

// MARK: Flags of the revocation policy.

/// Use OCSP responses (RFC 6960).
public let kSecRevocationOCSPMethod: CFOptionFlags = 1 << 0

/// Use revocation lists (RFC 5280), which Vauban does not read.
public let kSecRevocationCRLMethod: CFOptionFlags = 1 << 1

/// Prefer revocation lists to OCSP.
public let kSecRevocationPreferCRL: CFOptionFlags = 1 << 2

/// Require a response that confirms the certificate.
public let kSecRevocationRequirePositiveResponse: CFOptionFlags = 1 << 3

/// Do not access the network, which is always so here.
public let kSecRevocationNetworkAccessDisabled: CFOptionFlags = 1 << 4

/// Use any available method.
public let kSecRevocationUseAnyAvailableMethod: CFOptionFlags = kSecRevocationOCSPMethod | kSecRevocationCRLMethod

// MARK: Results of an evaluation.

/// The name of a certificate, in `SecTrustCopyProperties`.
nonisolated(unsafe) public let kSecPropertyTypeTitle: CFString = "title"

/// The problem of a certificate, in `SecTrustCopyProperties`.
nonisolated(unsafe) public let kSecPropertyTypeError: CFString = "error"

/// The date of the evaluation.
nonisolated(unsafe) public let kSecTrustEvaluationDate: CFString = "TrustEvaluationDate"

/// The result, a `SecTrustResultType`.
nonisolated(unsafe) public let kSecTrustResultValue: CFString = "TrustResultValue"

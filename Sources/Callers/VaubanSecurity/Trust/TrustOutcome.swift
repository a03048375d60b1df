// What an evaluation of trust came to.

/// What an evaluation says in one word: Apple's `SecTrustResultType`.
public enum SecTrustResultType: UInt32, Sendable {
    /// It was not evaluated yet, or changed since.
    case invalid = 0
    /// Trusted, since the user or the program said so: here by `SecTrustSetExceptions`.
    case proceed = 1
    /// Once: the user has to be asked. Never here.
    case confirm = 2
    /// The user said no. Never here.
    case deny = 3
    /// Trusted, by an anchor.
    case unspecified = 4
    /// Not trusted, for a reason that `SecTrustSetExceptions` can take away.
    case recoverableTrustFailure = 5
    /// Not trusted, for a reason that cannot be taken away, such as a broken algorithm.
    case fatalTrustFailure = 6
    /// It could not be evaluated.
    case otherError = 7
}

/// What is wrong with one certificate of a chain.
struct TrustFinding: Hashable, Sendable {
    /// Its place in the chain; 0 is the leaf.
    let place: Int
    let status: OSStatus

    /// Whether a program may decide to overlook it.
    var isRecoverable: Bool { !Self.fatal.contains(status) }

    private static let fatal: Set<OSStatus> = [
        errSecInvalidDigestAlgorithm, errSecUnsupportedKeySize, errSecInvalidName, errSecCertificateRevoked, errSecInvalidCertificate,
    ]

    /// As it goes on after “the name of the certificate”.
    var words: String {
        switch status {
        case errSecHostNameMismatch: "is for another host"
        case errSecCertificateExpired: "has expired"
        case errSecCertificateNotValidYet: "is not valid yet"
        case errSecNotTrusted: "is not trusted: no anchor issued it"
        case errSecCreateChainFailed: "was issued by a certificate that is missing"
        case errSecInvalidExtendedKeyUsage: "is not for this use"
        case errSecInvalidDigestAlgorithm: "is signed with SHA-1"
        case errSecUnsupportedKeySize: "has a key that is too short"
        case errSecNoBasicConstraints, errSecNoBasicConstraintsCA: "issued another one and is no authority"
        case errSecPathLengthConstraintExceeded: "issued a longer chain than it may"
        case errSecInvalidName: "is outside the names that its issuers may give"
        case errSecUnknownCriticalExtensionFlag: "has a critical extension that is not known here"
        case errSecCertificateRevoked: "is revoked"
        case errSecIncompleteCertRevocationCheck: "may be revoked: no responder said that it is good"
        default: "cannot be read"
        }
    }
}

/// A chain, and what is wrong with it.
struct TrustOutcome: Sendable {
    let chain: [SecCertificate]
    let findings: [TrustFinding]
    /// What was overlooked, since an exception says so.
    let overlooked: [TrustFinding]
    let date: Date

    var result: SecTrustResultType {
        if findings.isEmpty { return overlooked.isEmpty ? .unspecified : .proceed }
        return findings.allSatisfy(\.isRecoverable) ? .recoverableTrustFailure : .fatalTrustFailure
    }

    /// The worst finding as an error in `NSOSStatusErrorDomain`; beneath it, all of them in words. Nil where it is trusted.
    var error: CFError? {
        guard let worst = findings.first(where: { !$0.isRecoverable }) ?? findings.first else { return nil }
        let all = findings.map { "Certificate \($0.place) \(sentence($0))" }.joined(separator: " ")
        let underlying = NSError(domain: NSOSStatusErrorDomain, code: Int(worst.status), userInfo: [NSLocalizedDescriptionKey: all])
        return NSError(
            domain: NSOSStatusErrorDomain, code: Int(worst.status),
            userInfo: [NSLocalizedDescriptionKey: sentence(worst), NSUnderlyingErrorKey: underlying])
    }

    /// “example.com” has expired.
    func sentence(_ finding: TrustFinding) -> String { "“\(chain[finding.place].summary)” \(finding.words)." }
}

// The outcome of an evaluation.

/// The result of an evaluation: Apple's `SecTrustResultType`.
public enum SecTrustResultType: UInt32, Sendable {
    /// Not evaluated yet, or changed since.
    case invalid = 0
    /// Trusted because the user or the program decided so: here with `SecTrustSetExceptions`.
    case proceed = 1
    /// Formerly: the user must confirm. Never used here.
    case confirm = 2
    /// The user denied trust. Never used here.
    case deny = 3
    /// Trusted because of an anchor.
    case unspecified = 4
    /// Not trusted, for a reason to which `SecTrustSetExceptions` can make an exception.
    case recoverableTrustFailure = 5
    /// Not trusted, for a reason without exceptions, such as a broken algorithm.
    case fatalTrustFailure = 6
    /// The evaluation failed.
    case otherError = 7
}

/// A problem with one certificate of a chain.
struct TrustFinding: Hashable, Sendable {
    /// Its index in the chain; 0 is the leaf.
    let place: Int
    let status: OSStatus

    /// Whether a program may make an exception.
    var isRecoverable: Bool { !Self.fatal.contains(status) }

    private static let fatal: Set<OSStatus> = [
        errSecInvalidDigestAlgorithm, errSecUnsupportedKeySize, errSecInvalidName, errSecCertificateRevoked, errSecInvalidCertificate,
    ]

    /// How early Apple's systems report the problem; of several, the error is the one with the lowest number.
    var rank: Int {
        switch status {
        case errSecCertificateRevoked: 0
        case errSecUnsupportedKeySize: 1
        case errSecInvalidDigestAlgorithm: 2
        case errSecIncompleteCertRevocationCheck: 4
        case errSecNotTrusted, errSecCreateChainFailed: 5
        case errSecInvalidExtendedKeyUsage: 6
        case errSecHostNameMismatch: 7
        case errSecCertificateExpired, errSecCertificateNotValidYet: 8
        // Violations of RFC 5280.
        default: 3
        }
    }

    /// The rest of the sentence that begins with the certificate's name.
    var words: String {
        switch status {
        case errSecHostNameMismatch: "was issued for another host"
        case errSecCertificateExpired: "has expired"
        case errSecCertificateNotValidYet: "is not valid yet"
        case errSecNotTrusted: "is not trusted: no anchor issued it"
        case errSecCreateChainFailed: "was issued by a certificate that is missing"
        case errSecInvalidExtendedKeyUsage: "was not issued for this use"
        case errSecInvalidDigestAlgorithm: "is signed with SHA-1"
        case errSecUnsupportedKeySize: "has a key that is too short"
        case errSecNoBasicConstraints, errSecNoBasicConstraintsCA: "issued another certificate but is not an authority"
        case errSecPathLengthConstraintExceeded: "issued a chain that is longer than allowed"
        case errSecInvalidName: "has a name that its issuers must not certify"
        case errSecUnknownCriticalExtensionFlag: "has an unsupported critical extension"
        case errSecCertificateRevoked: "is revoked"
        case errSecIncompleteCertRevocationCheck: "may be revoked: no responder confirmed that it is good"
        default: "cannot be read"
        }
    }
}

/// A chain and its problems.
struct TrustOutcome: Sendable {
    let chain: [SecCertificate]
    let findings: [TrustFinding]
    /// The problems that are ignored because of an exception.
    let overlooked: [TrustFinding]
    let date: Date

    var result: SecTrustResultType {
        if findings.isEmpty { return overlooked.isEmpty ? .unspecified : .proceed }
        return findings.allSatisfy(\.isRecoverable) ? .recoverableTrustFailure : .fatalTrustFailure
    }

    /// The most serious problem in Apple's order, as an error of `NSOSStatusErrorDomain`; of two equally serious ones, the one closer to
    /// the leaf. Its underlying error lists all of them. Nil if the chain is trusted.
    var error: CFError? {
        guard let worst = findings.min(by: { ($0.rank, $0.place) < ($1.rank, $1.place) }) else { return nil }
        let all = findings.map { "Certificate \($0.place) \(sentence($0))" }.joined(separator: " ")
        let underlying = NSError(domain: NSOSStatusErrorDomain, code: Int(worst.status), userInfo: [NSLocalizedDescriptionKey: all])
        return NSError(
            domain: NSOSStatusErrorDomain, code: Int(worst.status),
            userInfo: [NSLocalizedDescriptionKey: sentence(worst), NSUnderlyingErrorKey: underlying])
    }

    /// Returns a sentence about a problem, such as: “example.com” has expired.
    func sentence(_ finding: TrustFinding) -> String { "“\(chain[finding.place].summary)” \(finding.words)." }
}

// The rules for a path found by swift-certificates' verifier, which checks every path until one is without problems.

internal import SwiftASN1
internal import Synchronization
@_spi(DisableValidityCheck) @_spi(FixedExpiryValidationTime) @_implementationOnly import X509

struct TrustRules: VerifierPolicy {
    /// All extensions of the chain: an unsupported one is a finding, and must not hide the path.
    let verifyingCriticalExtensions: [ASN1ObjectIdentifier]
    let policies: [SecPolicy.Rules]
    let date: Date
    let responses: [[UInt8]]
    let checked: CheckedPaths
    /// The problems that a program has decided to ignore.
    let exceptions: TrustExceptions?

    mutating func chainMeetsPolicyRequirements(chain: UnverifiedCertificateChain) async -> PolicyEvaluationResult {
        var found = findings(of: chain)
        found += await revocation(of: chain)
        let path = CheckedPath(chain: Array(chain), findings: found)
        checked.append(path)
        let isFine = found.allSatisfy { exceptions?.overlooks($0, of: path) ?? false }
        return isFine ? .meetsPolicy : .failsToMeetPolicy(reason: "the chain has faults")
    }

    private func findings(of chain: UnverifiedCertificateChain) -> [TrustFinding] {
        var statuses = Array(chain.enumerated()).flatMap { place, certificate in
            faults(of: certificate, isLast: place == chain.count - 1).map { TrustFinding(place: place, status: $0) }
        }
        if let status = structure(of: chain) { statuses.append(TrustFinding(place: 0, status: status)) }
        for case .connection(let isServer, let name) in policies {
            if !Self.serves(chain.leaf, server: isServer) { statuses.append(TrustFinding(place: 0, status: errSecInvalidExtendedKeyUsage)) }
            if let name, !Self.isFor(name, chain) { statuses.append(TrustFinding(place: 0, status: errSecHostNameMismatch)) }
        }
        return statuses
    }

    private static let knownExtensions: Set<ASN1ObjectIdentifier> = [
        .X509ExtensionID.basicConstraints, .X509ExtensionID.nameConstraints, .X509ExtensionID.keyUsage,
        .X509ExtensionID.subjectAlternativeName,
        .X509ExtensionID.extendedKeyUsage,
    ]

    private func faults(of certificate: Certificate, isLast: Bool) -> [OSStatus] {
        var faults: [OSStatus] = []
        if certificate.extensions.contains(where: { $0.critical && !Self.knownExtensions.contains($0.oid) }) {
            faults.append(errSecUnknownCriticalExtensionFlag)
        }
        if date < certificate.notValidBefore { faults.append(errSecCertificateNotValidYet) }
        if date > certificate.notValidAfter { faults.append(errSecCertificateExpired) }
        // The signature of the last certificate proves nothing.
        if !isLast, certificate.signatureAlgorithm == .sha1WithRSAEncryption { faults.append(errSecInvalidDigestAlgorithm) }
        return faults
    }

    /// Checks which certificates may issue others. A certificate that is its own anchor has no issuer.
    private func structure(of chain: UnverifiedCertificateChain) -> OSStatus? {
        guard chain.count > 1,
            case .failsToMeetPolicy = RFC5280Policy.withValidityCheckDisabled().chainMeetsPolicyRequirements(chain: chain)
        else { return nil }
        var subordinates = 0
        for issuer in chain.dropFirst() {
            guard issuer.version != .v1 else { continue }
            switch try? issuer.extensions.basicConstraints {
            case .isCertificateAuthority(let longest): if let longest, longest < subordinates { return errSecPathLengthConstraintExceeded }
            case .notCertificateAuthority: return errSecNoBasicConstraintsCA
            case nil: return errSecNoBasicConstraints
            }
            if issuer.issuer != issuer.subject { subordinates += 1 }
        }
        return errSecInvalidName
    }

    /// Apple requires it of server certificates issued since July 2019; older ones and those of clients may omit it.
    private static let usesAreNamedSince = Date(timeIntervalSince1970: 1_561_939_200)

    private static func serves(_ leaf: Certificate, server: Bool) -> Bool {
        guard leaf.extensions[oid: .X509ExtensionID.extendedKeyUsage] != nil else {
            return !server || leaf.notValidBefore < usesAreNamedSince
        }
        guard let uses = try? leaf.extensions.extendedKeyUsage else { return false }
        return uses.contains(server ? .serverAuth : .clientAuth) || uses.contains(.any)
    }

    private static func isFor(_ name: String, _ chain: UnverifiedCertificateChain) -> Bool {
        // Without alternative names the library would use the common name, which RFC 9525 no longer allows.
        guard let names = try? chain.leaf.extensions.subjectAlternativeNames, !names.isEmpty else { return false }
        var policy = ServerIdentityPolicy(serverHostname: name, serverIP: name)
        if case .meetsPolicy = policy.chainMeetsPolicyRequirements(chain: chain) { return true }
        return false
    }
}

extension TrustRules {
    /// Returns the findings from the given OCSP responses. Ignores responses about other certificates.
    private func revocation(of chain: UnverifiedCertificateChain) async -> [TrustFinding] {
        let needsProof = policies.contains {
            if case .revocation(let flags) = $0 { flags & kSecRevocationRequirePositiveResponse != 0 } else { false }
        }
        var isProven = false
        // The library treats a root that names a responder as an error, although no client queries a responder about a root.
        if chain.count > 1, chain.last.map(Self.namesResponder) != true {
            for response in responses {
                if await !meets(.soft, response: response, chain: chain) {
                    return [TrustFinding(place: 0, status: errSecCertificateRevoked)]
                }
                let proves = Self.namesResponder(chain.leaf) ? await meets(.hard, response: response, chain: chain) : false
                isProven = isProven || proves
            }
        }
        return needsProof && !isProven ? [TrustFinding(place: 0, status: errSecIncompleteCertRevocationCheck)] : []
    }

    private func meets(_ mode: OCSPFailureMode, response: [UInt8], chain: UnverifiedCertificateChain) async -> Bool {
        var policy = OCSPVerifierPolicy(failureMode: mode, requester: GivenResponse(bytes: response), fixedExpiryValidationTime: date)
        if case .meetsPolicy = await policy.chainMeetsPolicyRequirements(chain: chain) { return true }
        return false
    }

    private static func namesResponder(_ certificate: Certificate) -> Bool {
        (try? certificate.extensions.authorityInformationAccess)?.contains { $0.method == .ocspServer } ?? false
    }
}

/// A given response, such as one that a server stapled.
private struct GivenResponse: OCSPRequester {
    let bytes: [UInt8]
    func query(request: [UInt8], uri: String) async -> OCSPRequesterQueryResult { .response(bytes) }
}

/// A path from the leaf to an anchor, and its problems.
struct CheckedPath: Sendable {
    let chain: [Certificate]
    let findings: [TrustFinding]
}

/// The paths that the verifier found, in its order.
final class CheckedPaths: Sendable {
    private let paths = Mutex<[CheckedPath]>([])

    func append(_ path: CheckedPath) { paths.withLock { $0.append(path) } }

    var last: CheckedPath? { paths.withLock { $0.last } }

    /// The path with the fewest problems; of several, the first.
    var best: CheckedPath? { paths.withLock { $0.min { $0.findings.count < $1.findings.count } } }
}

// What is asked of a chain that swift-certificates' verifier found. It asks this of every path that it finds, until one is without fault.

internal import SwiftASN1
internal import Synchronization
@_spi(DisableValidityCheck) @_spi(FixedExpiryValidationTime) @_implementationOnly import X509

struct TrustRules: VerifierPolicy {
    /// All that are there: an extension that nobody knows is a finding, not a path that is not found.
    let verifyingCriticalExtensions: [ASN1ObjectIdentifier]
    let policies: [SecPolicy.Rules]
    let date: Date
    let responses: [[UInt8]]
    let judged: JudgedPaths
    /// What a program decided to overlook.
    let exceptions: TrustExceptions?

    mutating func chainMeetsPolicyRequirements(chain: UnverifiedCertificateChain) async -> PolicyEvaluationResult {
        var found = findings(of: chain)
        found += await revocation(of: chain)
        let path = JudgedPath(chain: Array(chain), findings: found)
        judged.append(path)
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
        // What the last one of a chain is signed with convinces nobody of anything.
        if !isLast, certificate.signatureAlgorithm == .sha1WithRSAEncryption { faults.append(errSecInvalidDigestAlgorithm) }
        return faults
    }

    /// Who may issue what. A certificate that is its own anchor was issued by nobody.
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

    /// Apple asks it of servers' certificates that were issued since July 2019; older ones may leave it open, and so may clients'.
    private static let usesAreNamedSince = Date(timeIntervalSince1970: 1_561_939_200)

    private static func serves(_ leaf: Certificate, server: Bool) -> Bool {
        guard leaf.extensions[oid: .X509ExtensionID.extendedKeyUsage] != nil else {
            return !server || leaf.notValidBefore < usesAreNamedSince
        }
        guard let uses = try? leaf.extensions.extendedKeyUsage else { return false }
        return uses.contains(server ? .serverAuth : .clientAuth) || uses.contains(.any)
    }

    private static func isFor(_ name: String, _ chain: UnverifiedCertificateChain) -> Bool {
        // Without alternative names the library would take the common name, which RFC 9525 no longer does.
        guard let names = try? chain.leaf.extensions.subjectAlternativeNames, !names.isEmpty else { return false }
        var policy = ServerIdentityPolicy(serverHostname: name, serverIP: name)
        if case .meetsPolicy = policy.chainMeetsPolicyRequirements(chain: chain) { return true }
        return false
    }
}

extension TrustRules {
    /// What the given responses of responders say. A response that says nothing of a certificate does not count.
    private func revocation(of chain: UnverifiedCertificateChain) async -> [TrustFinding] {
        let needsProof = policies.contains {
            if case .revocation(let flags) = $0 { flags & kSecRevocationRequirePositiveResponse != 0 } else { false }
        }
        var isProven = false
        // A root that names a responder is an error to the library, and one that is seen; nobody asks a responder about a root.
        if chain.count > 1, chain.last.map(Self.namesResponder) != true {
            for response in responses {
                if await !meets(.soft, response, chain) { return [TrustFinding(place: 0, status: errSecCertificateRevoked)] }
                let proves = Self.namesResponder(chain.leaf) ? await meets(.hard, response, chain) : false
                isProven = isProven || proves
            }
        }
        return needsProof && !isProven ? [TrustFinding(place: 0, status: errSecIncompleteCertRevocationCheck)] : []
    }

    private func meets(_ mode: OCSPFailureMode, _ response: [UInt8], _ chain: UnverifiedCertificateChain) async -> Bool {
        var policy = OCSPVerifierPolicy(failureMode: mode, requester: GivenResponse(bytes: response), fixedExpiryValidationTime: date)
        if case .meetsPolicy = await policy.chainMeetsPolicyRequirements(chain: chain) { return true }
        return false
    }

    private static func namesResponder(_ certificate: Certificate) -> Bool {
        (try? certificate.extensions.authorityInformationAccess)?.contains { $0.method == .ocspServer } ?? false
    }
}

/// A response that was brought along, such as one that a server stapled.
private struct GivenResponse: OCSPRequester {
    let bytes: [UInt8]
    func query(request: [UInt8], uri: String) async -> OCSPRequesterQueryResult { .response(bytes) }
}

/// A path from the leaf to an anchor, and what is wrong with it.
struct JudgedPath: Sendable {
    let chain: [Certificate]
    let findings: [TrustFinding]
}

/// The paths that the verifier found, in its order.
final class JudgedPaths: Sendable {
    private let paths = Mutex<[JudgedPath]>([])

    func append(_ path: JudgedPath) { paths.withLock { $0.append(path) } }

    var last: JudgedPath? { paths.withLock { $0.last } }

    /// The one with the fewest faults; of several, the first.
    var best: JudgedPath? { paths.withLock { $0.min { $0.findings.count < $1.findings.count } } }
}

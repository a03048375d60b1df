// One evaluation with swift-certificates' verifier, which builds the paths.

internal import SwiftASN1
@_implementationOnly import X509

/// The input of an evaluation.
struct TrustInput: Sendable {
    /// The leaf, followed by the other certificates.
    var certificates: [SecCertificate]
    var policies: [SecPolicy]
    /// The given anchors; nil for the system's alone.
    var anchors: [SecCertificate]?
    var usesSystemAnchors = true
    /// The date of the evaluation; nil for now.
    var date: Date?
    var responses: [[UInt8]] = []
    var exceptions: TrustExceptions?

    /// More than any well-behaved server sends. The peer chooses the certificates, and authorities that have all certified each other form
    /// as many paths as there are orders of them.
    static let certificatesMax = 30

    /// Waits on this thread; nothing is fetched, so it takes as long as verifying the signatures.
    func outcome() -> TrustOutcome {
        let date = Self.inCalendar(date ?? Date())
        guard let leaf = certificates[0].forVerifier else { return unreadable(date) }
        let others = certificates.dropFirst().prefix(Self.certificatesMax).compactMap(\.forVerifier)
        let custom = (anchors ?? []).compactMap(\.forVerifier)
        let system = usesSystemAnchors ? TrustAnchors.ofSystem.readable : []
        let path = waitFor { [self] in
            if let path = await checkedPath(leaf, others: others, anchors: custom + system, date: date) { return path }
            // No path leads to an anchor. Checks the partial path anyway: the certificate may also be for another host, for example.
            let highest = [leaf] + others
            let tops = highest.filter { top in top.subject == top.issuer || !highest.contains { $0.subject == top.issuer } }
            let found = await checkedPath(leaf, others: others, anchors: tops, date: date) ?? CheckedPath(chain: [leaf], findings: [])
            guard let top = found.chain.last else { return found }
            let fault = TrustFinding(
                place: found.chain.count - 1, status: top.subject == top.issuer ? errSecNotTrusted : errSecCreateChainFailed)
            return CheckedPath(chain: found.chain, findings: found.findings + [fault])
        }
        return outcome(of: path, date)
    }

    /// Returns the date, or the nearest one that a certificate can contain. The library converts nothing beyond.
    private static func inCalendar(_ date: Date) -> Date {
        Date(timeIntervalSince1970: .minimum(.maximum(date.timeIntervalSince1970, -62_135_596_800), 253_402_300_799))
    }

    private func checkedPath(_ leaf: Certificate, others: [Certificate], anchors: [Certificate], date: Date) async -> CheckedPath? {
        let paths = CheckedPaths()
        let extensions = ([leaf] + others + anchors).flatMap { $0.extensions.filter(\.critical).map(\.oid) }
        let rules = TrustRules(
            verifyingCriticalExtensions: Array(Set(extensions)), policies: policies.map(\.rules), date: date, responses: responses,
            checked: paths,
            exceptions: exceptions)
        var verifier = Verifier(rootCertificates: CertificateStore(anchors)) { rules }
        guard case .validCertificate(let chain) = await verifier.validate(leaf: leaf, intermediates: CertificateStore(others)) else {
            return paths.best
        }
        // The accepted path is the last one that was checked.
        return paths.last.flatMap { $0.chain.elementsEqual(chain) ? $0 : nil } ?? paths.best
    }

    private func outcome(of path: CheckedPath, _ date: Date) -> TrustOutcome {
        let chain = path.chain.compactMap { certificate in certificate.derBytes.flatMap { SecCertificate(der: $0) } }
        func isOverlooked(_ finding: TrustFinding) -> Bool { exceptions?.overlooks(finding, of: path) ?? false }
        return TrustOutcome(
            chain: chain, findings: path.findings.filter { !isOverlooked($0) }, overlooked: path.findings.filter(isOverlooked), date: date)
    }

    /// Returns the outcome for a certificate whose key or signature the library does not support: RSA below 2048 bits, or an outdated
    /// algorithm.
    private func unreadable(_ date: Date) -> TrustOutcome {
        let status = certificates[0].hasShortKey ? errSecUnsupportedKeySize : errSecInvalidCertificate
        return TrustOutcome(chain: [certificates[0]], findings: [TrustFinding(place: 0, status: status)], overlooked: [], date: date)
    }
}

extension Certificate {
    /// The certificate as it was encoded.
    var derBytes: [UInt8]? {
        var serializer = DER.Serializer()
        guard (try? serializer.serialize(self)) != nil else { return nil }
        return serializer.serializedBytes
    }
}

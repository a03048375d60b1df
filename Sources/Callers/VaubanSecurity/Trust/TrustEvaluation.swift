// One evaluation, over swift-certificates' verifier, which builds the paths.

internal import SwiftASN1
@_implementationOnly import X509

/// What is evaluated.
struct TrustQuestion: Sendable {
    /// The leaf, then whatever came with it.
    var certificates: [SecCertificate]
    var policies: [SecPolicy]
    /// Nil: the system's alone.
    var anchors: [SecCertificate]?
    var usesSystemAnchors = true
    /// Nil: now.
    var date: Date?
    var responses: [[UInt8]] = []
    var exceptions: TrustExceptions?

    /// More than any honest server sends. What comes with a certificate is the other end's choice, and the paths through authorities
    /// that have all
    /// certified each other are as many as their orders.
    static let certificatesMax = 30

    /// Waits on this thread; nothing is fetched, so it takes as long as its signatures do.
    func answered() -> TrustOutcome {
        let date = date ?? Date()
        guard let leaf = certificates[0].forVerifier else { return unreadable(date) }
        let others = certificates.dropFirst().prefix(Self.certificatesMax).compactMap(\.forVerifier)
        let custom = (anchors ?? []).compactMap(\.forVerifier)
        let system = usesSystemAnchors ? TrustAnchors.ofSystem.readable : []
        let path = waitFor { [self] in
            if let path = await judged(leaf, others, anchors: custom + system, date) { return path }
            // No path leads to an anchor. What there is of one is judged all the same: a certificate may be for another host as well.
            let highest = [leaf] + others
            let tops = highest.filter { top in top.subject == top.issuer || !highest.contains { $0.subject == top.issuer } }
            let found = await judged(leaf, others, anchors: tops, date) ?? JudgedPath(chain: [leaf], findings: [])
            guard let top = found.chain.last else { return found }
            let fault = TrustFinding(
                place: found.chain.count - 1, status: top.subject == top.issuer ? errSecNotTrusted : errSecCreateChainFailed)
            return JudgedPath(chain: found.chain, findings: found.findings + [fault])
        }
        return outcome(of: path, date)
    }

    private func judged(_ leaf: Certificate, _ others: [Certificate], anchors: [Certificate], _ date: Date) async -> JudgedPath? {
        let paths = JudgedPaths()
        let extensions = ([leaf] + others + anchors).flatMap { $0.extensions.filter(\.critical).map(\.oid) }
        let rules = TrustRules(
            verifyingCriticalExtensions: Array(Set(extensions)), policies: policies.map(\.rules), date: date, responses: responses,
            judged: paths,
            exceptions: exceptions)
        var verifier = Verifier(rootCertificates: CertificateStore(anchors)) { rules }
        guard case .validCertificate(let chain) = await verifier.validate(leaf: leaf, intermediates: CertificateStore(others)) else {
            return paths.best
        }
        // The one that was accepted is the last that was judged.
        return paths.last.flatMap { $0.chain.elementsEqual(chain) ? $0 : nil } ?? paths.best
    }

    private func outcome(of path: JudgedPath, _ date: Date) -> TrustOutcome {
        let chain = path.chain.compactMap { certificate in certificate.derBytes.flatMap { SecCertificate(der: $0) } }
        func isOverlooked(_ finding: TrustFinding) -> Bool { exceptions?.overlooks(finding, of: path) ?? false }
        return TrustOutcome(
            chain: chain, findings: path.findings.filter { !isOverlooked($0) }, overlooked: path.findings.filter(isOverlooked), date: date)
    }

    /// A certificate of which the library takes the key or the signature not: RSA below 2048 bits, or what nobody should use any more.
    private func unreadable(_ date: Date) -> TrustOutcome {
        let status = certificates[0].hasShortKey ? errSecUnsupportedKeySize : errSecInvalidCertificate
        return TrustOutcome(chain: [certificates[0]], findings: [TrustFinding(place: 0, status: status)], overlooked: [], date: date)
    }
}

extension Certificate {
    /// As it was written.
    var derBytes: [UInt8]? {
        var serializer = DER.Serializer()
        guard (try? serializer.serialize(self)) != nil else { return nil }
        return serializer.serializedBytes
    }
}

extension TransportRequirements {
    /// Checks a request before anything is sent: plain HTTP needs an exception, and the host must be a name or an address.
    /// - Throws: ``TransportError`` with the rule that the request breaks.
    public func check(scheme: String) throws(TransportError) {
        try checkHost()
        if scheme.lowercased() != "https", requiresTLS { throw TransportError(rule: .insecureHTTP, host: host) }
    }

    /// Checks the certificates of a chain, the server's own first and the root last, after a verifier accepted them and before anything is
    /// sent.
    ///
    /// The hash of the last certificate's own signature is not checked: the system's store contains the certificate, so nothing depends on
    /// that signature.
    /// - Throws: ``TransportError`` with the first rule that the chain breaks.
    public func check(chain: [CertificateFacts]) throws(TransportError) {
        try check(chain, reliesOnSignature: chain.indices.dropLast().contains)
        try checkPins(chain)
    }

    /// Checks the certificates in the order in which the server presents them, extra ones included, before a verifier has built a chain of
    /// them.
    ///
    /// - Parameter exemptsRoots: Whether the hash of a certificate with its own issuer counts as that of a root, which servers may present.
    ///   The chain must then be checked too: an intermediate certificate can also name itself as its issuer.
    package func check(presented: [CertificateFacts], exemptsRoots: Bool) throws(TransportError) {
        try check(presented) { !(exemptsRoots && presented[$0].isSelfIssued) }
    }

    private func check(_ chain: [CertificateFacts], reliesOnSignature: (Int) -> Bool) throws(TransportError) {
        try checkHost()
        guard let leaf = chain.first else { throw TransportError(rule: .trust, host: host, detail: "there is no certificate") }
        if requiresStrongKeys {
            for facts in chain where !facts.hasStrongKey { throw TransportError(rule: .keySize, host: host, detail: facts.keyText) }
        }
        guard requiresStrongHash else { return }
        if !leaf.hasStrongHash { throw TransportError(rule: .leafHash, host: host) }
        if chain.indices.dropFirst().contains(where: { !chain[$0].hasStrongHash && reliesOnSignature($0) }) {
            throw TransportError(rule: .chainHash, host: host)
        }
    }

    private func checkHost() throws(TransportError) {
        if !hasUsableHost { throw TransportError(rule: .invalidHost, host: host) }
    }

    /// Checks `NSPinnedDomains`: at least one list must be present, and each list that is present must match.
    private func checkPins(_ chain: [CertificateFacts]) throws(TransportError) {
        guard let pins else { return }
        guard pins.leafIdentities != nil || pins.authorityIdentities != nil else {
            throw TransportError(rule: .pin, host: host, detail: "it lists none")
        }
        if let leaves = pins.leafIdentities, !chain.prefix(1).contains(where: { leaves.contains($0.keyDigest) }) {
            throw TransportError(rule: .pin, host: host, detail: "the server's own key is not pinned")
        }
        if let authorities = pins.authorityIdentities, !chain.dropFirst().contains(where: { authorities.contains($0.keyDigest) }) {
            throw TransportError(rule: .pin, host: host, detail: "no authority's key is pinned")
        }
    }
}

extension CertificateFacts {
    package var hasStrongKey: Bool {
        switch key {
        case .rsa(let bits): bits >= 2048
        case .ellipticCurve(let bits): bits >= 256
        case .other: true
        }
    }

    var keyText: String {
        switch key {
        case .rsa(let bits): "RSA with \(bits) bits"
        case .ellipticCurve(let bits): bits == 0 ? "an unknown elliptic curve" : "an elliptic curve with \(bits) bits"
        case .other: "another kind of key"
        }
    }
}

extension TransportRequirements {
    /// Whether the host is an IP address, which has no server name indication.
    public var isAddress: Bool { TransportHost(host).address != nil }

    /// The host as certificates and server name indications contain it: without the final dot of a fully qualified name.
    package var certificateHost: String { host.hasSuffix(".") ? String(host.dropLast()) : host }

    /// The host to connect to: an address with its zone, or a name with its final dot.
    package var connectionHost: String { zone.map { "\(host)%\($0)" } ?? host }
}

extension TransportRequirements {
    /// Checks a request before anything is sent: plain HTTP needs an exception.
    public func check(scheme: String) throws(TransportError) {
        if scheme.lowercased() != "https", requiresTLS { throw TransportError(rule: .insecureHTTP, host: host) }
    }

    /// Checks the certificates of a chain, the server's own first, after a verifier accepted them and before anything is sent.
    ///
    /// The hash of a root's own signature is not checked: the root is trusted because the system's store has it.
    public func check(chain: [CertificateFacts]) throws(TransportError) {
        guard let leaf = chain.first else { throw TransportError(rule: .trust, host: host, detail: "there is no certificate") }
        if requiresStrongKeys {
            for facts in chain where !facts.hasStrongKey { throw TransportError(rule: .keySize, host: host, detail: facts.keyText) }
        }
        if requiresStrongHash {
            if !leaf.hasStrongHash { throw TransportError(rule: .leafHash, host: host) }
            if chain.dropFirst().contains(where: { !$0.hasStrongHash && !$0.isSelfIssued }) {
                throw TransportError(rule: .chainHash, host: host)
            }
        }
        try checkPins(chain)
    }

    /// Checks `NSPinnedDomains`: each list that is there must match.
    private func checkPins(_ chain: [CertificateFacts]) throws(TransportError) {
        guard let pins else { return }
        if let leaves = pins.leafIdentities, !chain.prefix(1).contains(where: { leaves.contains($0.keyDigest) }) {
            throw TransportError(rule: .pin, host: host, detail: "the server's own key is not pinned")
        }
        if let authorities = pins.authorityIdentities, !chain.dropFirst().contains(where: { authorities.contains($0.keyDigest) }) {
            throw TransportError(rule: .pin, host: host, detail: "no authority's key is pinned")
        }
    }
}

extension CertificateFacts {
    var hasStrongKey: Bool {
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

    /// The same requirements without pins, which only a verified chain can meet.
    package var withoutPins: TransportRequirements {
        TransportRequirements(
            host: host, port: port, basis: basis, requiresTLS: requiresTLS, minimumVersion: minimumVersion,
            requiresForwardSecrecy: requiresForwardSecrecy, requiresStrongKeys: requiresStrongKeys, requiresStrongHash: requiresStrongHash,
            pins: nil, pinnedDomain: nil)
    }
}

extension TransportRequirements {
    /// Determines the requirements of a connection from the host, the port, the program's declaration, and the purpose.
    ///
    /// The decision depends on nothing else: no clock, no network, no file. Specs/transport.md, section 3, numbers its steps. Apple's rules
    /// do not depend on the port, which is kept for messages.
    public init(
        host text: String, port: Int, configuration: TransportConfiguration = TransportConfiguration(),
        purpose: TransportPurpose = .general
    ) {
        let host = TransportHost(text)
        // A final dot is significant for exceptions, as Apple documents. It names the same server, so pins apply to both spellings.
        let pinned = Self.nearest(configuration.pins, to: host.withoutFinalDot, ignoresFinalDot: true) { $0.includesSubdomains }
        let exception =
            host.address != nil && !configuration.sdk.knowsAddressExceptions
            ? nil : Self.nearest(configuration.exceptions, to: host) { $0.includesSubdomains }
        let basis = Self.basis(host, exception: exception?.name, configuration: configuration, purpose: purpose)
        let values = exception?.value ?? DomainException()
        let isStrict =
            switch basis {
            case .standard, .exception: true
            case .olderSDK, .localNetworking, .arbitraryLoads, .arbitraryLoadsForMedia, .arbitraryLoadsInWebContent: false
            }
        self.init(
            host: host.name, zone: host.zone, hasUsableHost: host.isUsable, port: port, basis: basis,
            requiresTLS: isStrict && !values.allowsInsecureHTTPLoads,
            minimumVersion: isStrict ? values.minimumVersion : .tls10,
            requiresForwardSecrecy: isStrict && values.requiresForwardSecrecy,
            requiresStrongKeys: isStrict && values.requiresForwardSecrecy,
            requiresStrongHash: isStrict && !values.allowsInsecureHTTPLoads,
            pins: pinned?.value, pinnedDomain: pinned?.name)
    }

    /// Longer than the prefix of any block.
    private static let addressLength = 129

    private static func basis(
        _ host: TransportHost, exception: String?, configuration: TransportConfiguration, purpose: TransportPurpose
    ) -> Basis {
        guard configuration.sdk.enforcesTransportSecurity else { return .olderSDK }
        if let exception { return .exception(domain: exception) }
        guard configuration.sdk.knowsNarrowerKeys else {
            return configuration.allowsArbitraryLoads == true ? .arbitraryLoads : .standard
        }
        if isLocal(host, configuration) { return .localNetworking }
        if purpose == .media, configuration.allowsArbitraryLoadsForMedia == true { return .arbitraryLoadsForMedia }
        if purpose == .webContent, configuration.allowsArbitraryLoadsInWebContent == true { return .arbitraryLoadsInWebContent }
        return configuration.allowsArbitraryLoads == true && !configuration.hasNarrowerKey ? .arbitraryLoads : .standard
    }

    /// Returns whether local networking is allowed and covers this host. Since macOS 14 and iOS 17 an address alone does not make a host
    /// local.
    private static func isLocal(_ host: TransportHost, _ configuration: TransportConfiguration) -> Bool {
        guard configuration.allowsLocalNetworking != false else { return false }
        guard host.address != nil else { return host.isLocalName }
        guard configuration.sdk.knowsAddressExceptions else { return true }
        return host.isLoopback || (configuration.allowsLocalNetworking == true && host.isPrivate)
    }

    /// Returns the entry for exactly this host; otherwise, for a name, that of its nearest ancestor that includes subdomains, and for an
    /// address, that of the longest block.
    private static func nearest<Entry>(
        _ entries: [String: Entry], to host: TransportHost, ignoresFinalDot: Bool = false, _ includesSubdomains: (Entry) -> Bool
    ) -> (name: String, value: Entry)? {
        if entries.isEmpty { return nil }
        if host.address != nil {
            return entries.compactMap { name, value in
                let named = ignoresFinalDot ? TransportHost(name).withoutFinalDot : TransportHost(name)
                let length = named.address == host.address ? addressLength : host.prefixLength(in: name)
                return length.map { (length: $0, name: name, value: value) }
            }
            // Ties between two spellings of one block are broken by name, so that the result does not depend on the order of a dictionary.
            .max { ($0.length, $1.name) < ($1.length, $0.name) }
            .map { ($0.name, $0.value) }
        }
        let entry = { (name: String) -> (name: String, value: Entry)? in
            if let value = entries[name] { return (name, value) }
            return ignoresFinalDot ? entries[name + "."].map { (name + ".", $0) } : nil
        }
        if let exact = entry(host.name) { return exact }
        for ancestor in host.ancestors {
            if let found = entry(ancestor), includesSubdomains(found.value) { return found }
        }
        return nil
    }
}

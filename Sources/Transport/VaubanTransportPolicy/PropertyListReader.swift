import Foundation

/// Reads values of a property list by key and collects what has no effect.
struct PropertyListReader {
    private(set) var findings: [String] = []

    mutating func tell(_ finding: String) {
        if findings.count < TransportConfiguration.findingsMax { findings.append(finding) }
    }

    mutating func bool(_ key: String, in keys: [String: Any], of place: String) -> Bool? {
        guard let value = keys[key] else { return nil }
        // Foundation gives numbers as NSNumber too, which casts to Bool for 0 and 1.
        if let number = value as? NSNumber, String(cString: number.objCType) == "c", let truth = value as? Bool { return truth }
        tell("\(key) of \(place) is not a Boolean and has no effect.")
        return nil
    }

    mutating func string(_ key: String, in keys: [String: Any], of place: String) -> String? {
        guard let value = keys[key] else { return nil }
        if let text = value as? String { return text }
        tell("\(key) of \(place) is not a string and has no effect.")
        return nil
    }

    mutating func dictionary(_ key: String, in keys: [String: Any], of place: String) -> [String: Any]? {
        guard let value = keys[key] else { return nil }
        if let dictionary = value as? [String: Any] { return dictionary }
        tell("\(key) of \(place) is not a dictionary and has no effect.")
        return nil
    }

    /// Returns the dictionaries of a dictionary by domain, in the order of their names, without those whose names match no host.
    mutating func entries(_ key: String, in keys: [String: Any], of place: String) -> [(String, [String: Any])] {
        guard let entries = dictionary(key, in: keys, of: place) else { return [] }
        var found: [(String, [String: Any])] = []
        for name in entries.keys.sorted() {
            if let reason = Self.unusable(name) {
                tell("\(shown(name)) in \(key) matches no host: \(reason)")
            } else if let value = entries[name] as? [String: Any] {
                found.append((name, value))
            } else {
                // An entry of the wrong type still names the domain: without settings, so that everything is required of it.
                tell("\(shown(name)) in \(key) is not a dictionary, so everything is required of it.")
                found.append((name, [:]))
            }
        }
        return found
    }

    mutating func exception(_ keys: [String: Any], of domain: String) -> DomainException {
        var exception = DomainException()
        exception.includesSubdomains = bool("NSIncludesSubdomains", in: keys, of: domain) ?? false
        exception.allowsInsecureHTTPLoads =
            setting("AllowsInsecureHTTPLoads", in: keys, of: domain) { $0.bool($1, in: keys, of: domain) } ?? false
        exception.requiresForwardSecrecy =
            setting("RequiresForwardSecrecy", in: keys, of: domain) { $0.bool($1, in: keys, of: domain) } ?? true
        if let text = setting("MinimumTLSVersion", in: keys, of: domain, { $0.string($1, in: keys, of: domain) }) {
            if let version = TransportVersion(propertyListValue: text) {
                exception.minimumVersion = version
            } else {
                tell("The minimum TLS version \(shown(text)) of \(domain) is not one of TLSv1.0 to TLSv1.3; TLSv1.2 is required.")
            }
        }
        if keys["NSRequiresCertificateTransparency"] != nil {
            tell("NSRequiresCertificateTransparency of \(domain) is obsolete and has no effect.")
        }
        let names = Self.settingNames.flatMap { name in Self.settingPrefixes.map { $0 + name } }
        tellUnknown(in: keys, of: domain, known: Set(names + ["NSIncludesSubdomains", "NSRequiresCertificateTransparency"]))
        return exception
    }

    private static let settingNames = ["AllowsInsecureHTTPLoads", "RequiresForwardSecrecy", "MinimumTLSVersion"]
    /// Today's name first, which takes precedence over the older ones.
    private static let settingPrefixes = ["NSException", "NSThirdPartyException", "NSTemporaryException", "NSTemporaryThirdPartyException"]

    private mutating func setting<Value>(
        _ name: String, in keys: [String: Any], of domain: String, _ read: (inout Self, String) -> Value?
    ) -> Value? {
        for prefix in Self.settingPrefixes where keys[prefix + name] != nil {
            if let value = read(&self, prefix + name) { return value }
        }
        return nil
    }

    mutating func pins(_ keys: [String: Any], of domain: String) -> PinnedDomain {
        var pinned = PinnedDomain()
        pinned.includesSubdomains = bool("NSIncludesSubdomains", in: keys, of: domain) ?? false
        pinned.leafIdentities = identities("NSPinnedLeafIdentities", in: keys, of: domain)
        pinned.authorityIdentities = identities("NSPinnedCAIdentities", in: keys, of: domain)
        if pinned.leafIdentities == nil, pinned.authorityIdentities == nil { tell("\(domain) in NSPinnedDomains pins no identity.") }
        tellUnknown(in: keys, of: domain, known: ["NSIncludesSubdomains", "NSPinnedLeafIdentities", "NSPinnedCAIdentities"])
        return pinned
    }

    /// Returns the digests of an array of identities. An array without a usable digest gives an empty set, which nothing matches: a broken
    /// pin must not become no pin.
    private mutating func identities(_ key: String, in keys: [String: Any], of domain: String) -> Set<Data>? {
        guard let value = keys[key] else { return nil }
        guard let list = value as? [Any] else {
            tell("\(key) of \(domain) is not an array, so no certificate matches it.")
            return []
        }
        var digests: Set<Data> = []
        for entry in list {
            if let keys = entry as? [String: Any], let text = keys["SPKI-SHA256-BASE64"] as? String, let digest = Data(base64Encoded: text),
                digest.count == 32
            {
                digests.insert(digest)
                tellUnknown(in: keys, of: domain, known: ["SPKI-SHA256-BASE64"])
            } else {
                tell("An identity in \(key) of \(domain) is not a dictionary with SPKI-SHA256-BASE64 of 32 bytes, and matches nothing.")
            }
        }
        return digests
    }

    mutating func tellUnknown(in keys: [String: Any], of place: String, known: Set<String>) {
        for key in keys.keys.sorted() where !known.contains(key) { tell("\(shown(key)) of \(place) is no known key and has no effect.") }
    }

    /// Returns text of the property list in quotes, shortened and without control characters.
    func shown(_ text: String) -> String {
        let printable = text.unicodeScalars.prefix(60).map { $0.properties.generalCategory == .control ? "?" : String($0) }.joined()
        return "“\(printable)”"
    }

    /// Returns why a domain matches no host, or nil if it may.
    private static func unusable(_ domain: String) -> String? {
        if TransportHost.isAddressOrBlock(domain) { return nil }
        if domain.isEmpty || domain.utf8.count > 255 { return "a domain has 1 to 255 bytes." }
        if domain != domain.lowercased() { return "domains are written in lower case." }
        if domain.contains("*") { return "NSIncludesSubdomains is used in place of a wildcard." }
        if domain.contains(":") || domain.contains("/") { return "a domain has no scheme, port or path." }
        if domain.hasPrefix(".") { return "a domain has no dot at its start." }
        if domain.contains(where: { $0.isWhitespace || !$0.isASCII }) { return "domains are written in ASCII without spaces." }
        if !TransportHost(domain).isUsable { return "names have letters, digits, hyphens and underscores, between single dots." }
        return nil
    }
}

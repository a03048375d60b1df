import Foundation

/// Reads values of a property list by key, and collects findings: values that have no effect, or that are wrong and therefore read
/// strictly.
struct PropertyListReader {
    private(set) var findings: [String] = []

    mutating func report(_ finding: String) {
        if findings.count < TransportConfiguration.findingsMax { findings.append(finding) }
    }

    /// Returns a Boolean, or nil if the key is absent. A value of another type does not count as absent: it is read as `strict`.
    mutating func bool(_ key: String, in keys: [String: Any], of place: String, strict: Bool = false) -> Bool? {
        guard let value = keys[key] else { return nil }
        if let truth = Self.truth(value) { return truth }
        report("\(key) of \(place) is not a Boolean and counts as \(strict).")
        return strict
    }

    private static func truth(_ value: Any) -> Bool? {
        // Foundation represents numbers as NSNumber too, which casts to Bool for 0 and 1.
        guard let number = value as? NSNumber, String(cString: number.objCType) == "c" else { return nil }
        return value as? Bool
    }

    mutating func string(_ key: String, in keys: [String: Any], of place: String) -> String? {
        guard let value = keys[key] else { return nil }
        if let text = value as? String { return text }
        report("\(key) of \(place) is not a string and has no effect.")
        return nil
    }

    /// Returns a dictionary, or nil if the key is absent.
    /// - Throws: `wrongType` for a value of another type, since it may have been meant as a requirement.
    func dictionary(_ key: String, in keys: [String: Any]) throws(TransportConfigurationError) -> [String: Any]? {
        guard let value = keys[key] else { return nil }
        guard let dictionary = value as? [String: Any] else { throw .wrongType(key: key) }
        return dictionary
    }

    /// One entry of a dictionary by domain. The settings are nil if they are not a dictionary: the entry still names the domain.
    typealias Entry = (domain: String, settings: [String: Any]?)

    /// Returns the entries of a dictionary by domain in lower case, in the order of their names, without those whose names match no host.
    /// - Throws: `wrongType` if the key has a value of another type.
    mutating func entries(_ key: String, in keys: [String: Any]) throws(TransportConfigurationError) -> [Entry] {
        guard let entries = try dictionary(key, in: keys) else { return [] }
        var found: [Entry] = []
        for name in entries.keys.sorted() {
            if let reason = Self.unusable(name) {
                report("\(shown(name)) in \(key) matches no host: \(reason)")
                continue
            }
            let domain = name.lowercased()
            if domain != name { report("\(shown(name)) in \(key) counts as \(domain); Apple asks for lower case.") }
            found.append((domain, entries[name] as? [String: Any]))
        }
        return found
    }

    /// Returns the exception of an entry. An entry of the wrong type, or that does not state which names it applies to, excepts nothing.
    mutating func exception(_ settings: [String: Any]?, of domain: String) -> DomainException {
        guard let keys = settings else {
            report("\(shown(domain)) in NSExceptionDomains is not a dictionary, so everything is required of it and of names below it.")
            return .strict
        }
        var exception = DomainException()
        if let key = Self.spelling(of: "AllowsInsecureHTTPLoads", in: keys) {
            exception.allowsInsecureHTTPLoads = bool(key, in: keys, of: domain) ?? false
        }
        if let key = Self.spelling(of: "RequiresForwardSecrecy", in: keys) {
            exception.requiresForwardSecrecy = bool(key, in: keys, of: domain, strict: true) ?? true
        }
        if let key = Self.spelling(of: "MinimumTLSVersion", in: keys), let text = string(key, in: keys, of: domain) {
            if let version = TransportVersion(propertyListValue: text) {
                exception.minimumVersion = version
            } else {
                report("The minimum TLS version \(shown(text)) of \(domain) is not one of TLSv1.0 to TLSv1.3; TLSv1.2 is required.")
            }
        }
        if keys["NSRequiresCertificateTransparency"] != nil {
            report("NSRequiresCertificateTransparency of \(domain) is obsolete and has no effect.")
        }
        let names = Self.settingNames.flatMap { name in Self.settingPrefixes.map { $0 + name } }
        reportUnknown(in: keys, of: domain, known: Set(names + ["NSIncludesSubdomains", "NSRequiresCertificateTransparency"]))
        guard let value = keys["NSIncludesSubdomains"] else { return exception }
        if let includes = Self.truth(value) {
            exception.includesSubdomains = includes
            return exception
        }
        report("NSIncludesSubdomains of \(domain) is not a Boolean, so everything is required of \(domain) and of names below it.")
        var strict = DomainException.strict
        strict.minimumVersion = max(strict.minimumVersion, exception.minimumVersion)
        return strict
    }

    private static let settingNames = ["AllowsInsecureHTTPLoads", "RequiresForwardSecrecy", "MinimumTLSVersion"]
    /// The current name first, which takes precedence over the older ones.
    private static let settingPrefixes = ["NSException", "NSThirdPartyException", "NSTemporaryException", "NSTemporaryThirdPartyException"]

    /// Returns the name under which an entry has a setting. If the newer name has a value of the wrong type, an older name does not replace
    /// it.
    private static func spelling(of setting: String, in keys: [String: Any]) -> String? {
        settingPrefixes.map { $0 + setting }.first { keys[$0] != nil }
    }

    /// Returns the pins of an entry. An invalid entry pins keys that no chain has: a broken pin must not mean no pin.
    mutating func pins(_ settings: [String: Any]?, of domain: String) -> PinnedDomain {
        guard let keys = settings else {
            report("\(shown(domain)) in NSPinnedDomains is not a dictionary, so no certificate matches it.")
            return .withoutMatch
        }
        var pinned = PinnedDomain()
        pinned.includesSubdomains = bool("NSIncludesSubdomains", in: keys, of: domain, strict: true) ?? false
        pinned.leafIdentities = identities("NSPinnedLeafIdentities", in: keys, of: domain)
        pinned.authorityIdentities = identities("NSPinnedCAIdentities", in: keys, of: domain)
        if pinned.leafIdentities == nil, pinned.authorityIdentities == nil {
            report("\(domain) in NSPinnedDomains has no list of identities, so no certificate matches it.")
        }
        reportUnknown(in: keys, of: domain, known: ["NSIncludesSubdomains", "NSPinnedLeafIdentities", "NSPinnedCAIdentities"])
        return pinned
    }

    /// Returns the digests in an array of identities, or nil if the key is absent. An array without a usable digest gives an empty set,
    /// which nothing matches.
    private mutating func identities(_ key: String, in keys: [String: Any], of domain: String) -> Set<Data>? {
        guard let value = keys[key] else { return nil }
        guard let list = value as? [Any] else {
            report("\(key) of \(domain) is not an array, so no certificate matches it.")
            return []
        }
        var digests: Set<Data> = []
        for entry in list {
            if let keys = entry as? [String: Any], let text = keys["SPKI-SHA256-BASE64"] as? String, let digest = Data(base64Encoded: text),
                digest.count == 32
            {
                digests.insert(digest)
                reportUnknown(in: keys, of: domain, known: ["SPKI-SHA256-BASE64"])
            } else {
                report("An identity in \(key) of \(domain) is not a dictionary with SPKI-SHA256-BASE64 of 32 bytes, and matches nothing.")
            }
        }
        return digests
    }

    mutating func reportUnknown(in keys: [String: Any], of place: String, known: Set<String>) {
        for key in keys.keys.sorted() where !known.contains(key) { report("\(shown(key)) of \(place) is no known key and has no effect.") }
    }

    /// Returns text of the property list in quotes, shortened and without control characters.
    func shown(_ text: String) -> String {
        let printable = text.unicodeScalars.prefix(60).map { $0.properties.generalCategory == .control ? "?" : String($0) }.joined()
        return "“\(printable)”"
    }

    /// Returns why a domain cannot match a host, or nil if it can.
    private static func unusable(_ domain: String) -> String? {
        if TransportHost.isAddressOrBlock(domain) { return nil }
        if domain.isEmpty || domain.utf8.count > 255 { return "a domain has 1 to 255 bytes." }
        if domain.contains("*") { return "NSIncludesSubdomains is used in place of a wildcard." }
        if domain.contains(":") || domain.contains("/") { return "a domain has no scheme, port or path." }
        if domain.hasPrefix(".") { return "a domain has no dot at its start." }
        if domain.contains(where: { $0.isWhitespace || !$0.isASCII }) { return "domains are written in ASCII without spaces." }
        if !TransportHost(domain).isUsable { return "names have letters, digits, hyphens and underscores, between single dots." }
        return nil
    }
}

/// One entry of an application's entitlement `com.apple.developer.associated-domains`: `webcredentials:example.com`, or
/// `webcredentials:*.example.com` for all names below the domain.
package struct AssociatedDomain: Hashable, Sendable {
    /// Why an entry has no effect. The administrator who granted it must correct it.
    package enum ParsingError: String, Error, Hashable, Sendable {
        /// It is not `SERVICE:HOST`.
        case form
        /// The host is not a valid host of a site.
        case host
        /// It has `?mode=`, which selects how Apple's systems fetch the file. Here every file is fetched from the site itself.
        case mode
    }

    package static let webCredentials = "webcredentials"

    package let service: String
    package let host: String
    /// Whether the entry covers the names below the host, and not the host itself.
    package let coversSubdomains: Bool

    package init(_ text: String) throws(ParsingError) {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, !parts[0].isEmpty, parts[0].utf8.allSatisfy({ (0x61...0x7A).contains($0) }) else { throw .form }
        guard !parts[1].contains("?") else { throw .mode }
        coversSubdomains = parts[1].hasPrefix("*.")
        guard let host = SiteName.host(String(coversSubdomains ? parts[1].dropFirst(2) : parts[1])) else { throw .host }
        self.host = host
        service = String(parts[0])
    }

    /// Returns whether the entry covers a host.
    package func covers(_ host: String) -> Bool {
        coversSubdomains ? host.utf8.count > self.host.utf8.count + 1 && host.hasSuffix(".\(self.host)") : host == self.host
    }
}

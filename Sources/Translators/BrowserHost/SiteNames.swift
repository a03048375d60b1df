package import VaubanKeychainModel

/// The names under which items for a page may be stored, with the reason for each (Specs/browser.md, "Which items match").
package struct SiteNames: Sendable {
    /// A name of the site, and why an item of that name belongs to it.
    package struct Name: Hashable, Sendable {
        package let host: String
        package let why: String
        /// The same for an item that has only a name, such as one from the Secret Service.
        package let named: String
    }

    package let origin: WebOrigin
    /// The host itself, then ever shorter names down to the registered domain, then the sites that the user lists together with one of
    /// these; each with and without `www.`.
    package let names: [Name]

    package init(_ origin: WebOrigin, _ suffixes: PublicSuffixes?, shared: SharedSites = SharedSites()) {
        self.origin = origin
        let host = origin.host
        var names = [Name(host: host, why: "saved for this site", named: "named \(host)")]
        if !origin.isAddress, let suffixes, let domain = suffixes.registrableDomain(of: host) {
            func add(_ name: String, because relation: String, isListed: Bool = false) {
                for host in [name, "www.\(name)"] where !names.contains(where: { $0.host == host }) {
                    let named = isListed ? "named \(host), \(relation)" : "named \(host)"
                    names.append(Name(host: host, why: "saved for \(host), \(relation)", named: named))
                }
            }
            var own = [host]
            while let name = own.last, name != domain, let dot = name.firstIndex(of: ".") {
                own.append(String(name[name.index(after: dot)...]))
            }
            for name in own { add(name, because: "which also belongs to \(domain)") }
            // A public suffix is not a site: anyone can register a domain below it.
            let partners = shared.partners(of: own).filter { suffixes.registrableDomain(of: $0.site) != nil }
            for partner in partners.prefix(BrowserLimits.sharedSitesMax) {
                add(partner.site, because: "which you list together with \(partner.name)", isListed: true)
            }
        }
        self.names = names
    }

    /// Returns why an item matches, or nil if it does not. Its server must be one of the names, its port the page's, and its protocol one
    /// of the web.
    package func reason(for record: ItemRecord) -> String? {
        switch record.kind {
        case .internetPassword:
            let port = record.number(.port)
            guard port == origin.port || (port == 0 && origin.port == WebOrigin.portDefault),
                ["", "htps", "http"].contains(record.text(.protocolName))
            else { return nil }
            return names.first { $0.host == record.text(.server) }?.why
        case .genericPassword:
            guard origin.port == WebOrigin.portDefault else { return nil }
            return names.first { $0.host == record.text(.service) }?.named
        default: return nil
        }
    }
}

extension ItemRecord {
    /// Returns an attribute as text; an empty string if it is absent or not text.
    func text(_ name: AttributeName) -> String {
        switch attributes[name] {
        case .text(let text): text
        case .data(let bytes): String(validating: bytes, as: UTF8.self) ?? ""
        case .number, .date, nil: ""
        }
    }

    func number(_ name: AttributeName) -> Int64 { if case .number(let number)? = attributes[name] { number } else { 0 } }
}

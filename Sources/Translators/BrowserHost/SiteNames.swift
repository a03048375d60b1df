package import VaubanKeychainModel

/// The names under which items for a page may be stored, with the reason for each (Specs/browser.md, "Which items match").
package struct SiteNames: Sendable {
    /// A name of the site, and why an item of that name belongs to it.
    package struct Name: Hashable, Sendable {
        package let host: String
        package let why: String
    }

    package let origin: WebOrigin
    /// The host itself first, then ever shorter names up to the registered domain, each with and without `www.`.
    package let names: [Name]

    package init(_ origin: WebOrigin, _ suffixes: PublicSuffixes?) {
        self.origin = origin
        let host = origin.host
        var names = [Name(host: host, why: "saved for this site")]
        if !origin.isAddress, let domain = suffixes?.registrableDomain(of: host) {
            func add(_ name: String) {
                guard !names.contains(where: { $0.host == name }) else { return }
                names.append(Name(host: name, why: "saved for \(name), which also belongs to \(domain)"))
            }
            add("www.\(host)")
            var name = host
            while name != domain, let dot = name.firstIndex(of: ".") {
                name = String(name[name.index(after: dot)...])
                add(name)
                add("www.\(name)")
            }
        }
        self.names = names
    }

    /// Returns why an item matches, or nil if it does not. Its server must be one of the names, its port that of the page, and its protocol
    /// one of the web.
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
            return names.first { $0.host == record.text(.service) }.map { "named \($0.host)" }
        default: return nil
        }
    }
}

extension ItemRecord {
    /// Returns an attribute as text; an empty text if it is absent or no text.
    func text(_ name: AttributeName) -> String {
        switch attributes[name] {
        case .text(let text): text
        case .data(let bytes): String(validating: bytes, as: UTF8.self) ?? ""
        case .number, .date, nil: ""
        }
    }

    func number(_ name: AttributeName) -> Int64 { if case .number(let number)? = attributes[name] { number } else { 0 } }
}

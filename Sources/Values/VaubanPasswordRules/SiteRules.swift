package import FoundationEssentials

/// The password rules of sites, by domain.
package struct SiteRules {
    private struct Entry: Decodable {
        let rules: String
        var isExact: Bool?

        enum CodingKeys: String, CodingKey {
            case rules = "password-rules"
            case isExact = "exact-domain-match-only"
        }
    }

    private var entries: [String: Entry] = [:]

    /// The rules that come with Vauban.
    package init() {
        for line in String(describing: Self.text).split(separator: "\n") {
            guard let space = line.firstIndex(of: " ") else { continue }
            let site = line[..<space]
            entries[String(site.drop { $0 == "=" })] = Entry(rules: String(line[line.index(after: space)...]), isExact: site.hasPrefix("="))
        }
    }

    /// Adds the rules of a document in the format of Apple's list, and replaces those of the same domains.
    ///
    /// - Throws: `PasswordRulesFault` for rules with a fault, so that no password is made by others than the user's; a decoding error for
    ///   another format.
    package mutating func add(json: Data) throws {
        let added = try JSONDecoder().decode([String: Entry].self, from: json)
        for (site, entry) in added.sorted(by: { $0.key < $1.key }) {
            if let fault = PasswordRules(entry.rules).faults.first { throw fault.of(site: site) }
        }
        for (site, entry) in added { entries[site.lowercased()] = entry }
    }

    /// The largest file of a user's own rules.
    package static let fileBytesMax = 4 << 20

    /// Returns where a user's own rules are: below the folder for settings (`XDG_CONFIG_HOME`) if that is an absolute path, otherwise in
    /// its usual place below the home folder; nil without both.
    package static func path(settings: String?, home: String?) -> String? {
        let folder = [settings, home.map { "\($0)/.config" }].compactMap { $0 }.first { $0.hasPrefix("/") }
        return folder.map { "\($0)/vauban/password-rules.json" }
    }

    package var sites: [String] { entries.keys.sorted() }

    /// Returns the rules of the closest domain that contains a host, and the name of that domain.
    package func rules(for host: String) -> (site: String, rules: String)? {
        var name = host[...]
        while true {
            if let entry = entries[String(name)], entry.isExact != true || name.count == host.count { return (String(name), entry.rules) }
            guard let dot = name.firstIndex(of: ".") else { return nil }
            name = name[name.index(after: dot)...]
        }
    }
}

package import Foundation
package import VaubanRefusal
import VaubanSecretBytes

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
    private static let bytesMax = 4 << 20

    /// Returns the rules that come with Vauban and those of the user's file, which take precedence.
    package static func known() throws(Refusal) -> SiteRules {
        let path = "\(try UserServiceFiles.folder("XDG_CONFIG_HOME", ".config"))/vauban/password-rules.json"
        var rules = SiteRules()
        guard FileManager.default.fileExists(atPath: path) else { return rules }
        let file = try InputFile.read(path, max: bytesMax)
        do { try rules.add(json: file.disclosed()) } catch {
            throw Refusal(
                .badParameter,
                "\(SafeText.visible(path)) is not in the format of Apple's password-rules.json; correct or remove it")
        }
        return rules
    }

    /// The rules that come with Vauban.
    package init() {
        for line in String(describing: Self.text).split(separator: "\n") {
            guard let space = line.firstIndex(of: " ") else { continue }
            let site = line[..<space]
            entries[String(site.drop { $0 == "=" })] = Entry(rules: String(line[line.index(after: space)...]), isExact: site.hasPrefix("="))
        }
    }

    /// Adds the rules of a document in the format of Apple's list, and replaces those of the same domains.
    package mutating func add(json: Data) throws {
        for (site, entry) in try JSONDecoder().decode([String: Entry].self, from: json) { entries[HostName.kept(site)] = entry }
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

internal import FoundationEssentials
internal import VaubanLinuxHost
internal import VaubanPlainText
internal import VaubanRefusal

/// Sites with the same accounts, as the user lists them in the format of Apple's `shared-credentials.json`.
package struct SharedSites: Sendable {
    private struct Entry: Decodable {
        /// Sites that share their accounts with each other.
        var shared: [String]?
        /// Sites whose accounts also belong to the sites in `to`.
        var from: [String]?
        var to: [String]?
    }

    private let entries: [Entry]

    package init() { entries = [] }

    /// Parses a document; nil for one in another format.
    package init?(_ document: [UInt8]) {
        guard let entries = try? JSONDecoder().decode([Entry].self, from: Data(document)),
            entries.allSatisfy({ $0.shared != nil || ($0.from != nil && $0.to != nil) })
        else { return nil }
        self.entries = entries
    }

    /// Returns the list in the user's file as it is now; an empty list if there is no file. Throws a refusal if the file cannot be read or
    /// parsed.
    static func ofUser() throws(Refusal) -> SharedSites {
        guard let path = UserRules.path(of: "shared-credentials.json") else { return SharedSites() }
        guard let document = SmallFile.bytes(path: path, max: BrowserLimits.sharedSitesBytesMax), let sites = SharedSites(document) else {
            let shown = PlainLine.of(path, charactersMax: BrowserLimits.nameCharactersMax)
            throw Refusal(.badParameter, "\(shown) is not in the format of Apple's shared-credentials.json; correct or remove it")
        }
        return sites
    }

    /// Returns the sites whose accounts also belong to a site with these names, each with the name with which it is listed.
    package func partners(of names: [String]) -> [(site: String, name: String)] {
        var partners: [(site: String, name: String)] = []
        for entry in entries {
            let own = (entry.shared ?? entry.to ?? []).map { $0.lowercased() }
            guard let name = names.first(where: { own.contains($0) }) else { continue }
            partners += (entry.shared ?? entry.from ?? []).map { (site: $0.lowercased(), name: name) }
        }
        return partners
    }
}

import ArgumentParser
import VaubanKeychainModel
import VaubanLinuxHost
package import VaubanRefusal

extension Refusal {
    /// The refusal for a name that no item has, with similar names as suggestions. With `elsewhere`, the command that reads an item of
    /// another program, the item may be another program's, and the refusal is about the user's own.
    package static func noItem(_ name: String, suggestions: [String] = [], elsewhere: String? = nil) -> Refusal {
        let whose = elsewhere == nil ? name : "\(name) of yours"
        let way = suggestions.isEmpty ? "To list items: vauban list" : "Did you mean \(suggestions.joined(separator: ", or "))?"
        guard let elsewhere else { return Refusal(.itemNotFound, "No item \(whose). \(way)") }
        let end = suggestions.isEmpty ? "." : ""
        return Refusal(.itemNotFound, "No item \(whose). \(way)\(end) If another program keeps it: \(elsewhere)")
    }
}

extension ServiceClient {
    /// Runs work that needs the selected item. If the item does not exist and a terminal shows the error, the error suggests similar names;
    /// scripts are spared the search through all names. `otherVerb` is the verb that does the work with an item of another program.
    func withSuggestions<Result: ~Copyable>(
        _ selection: ItemSelection, otherVerb: String? = nil, _ work: () throws -> Result
    ) throws -> Result {
        do {
            return try work()
        } catch let refusal as Refusal where refusal.reason == .itemNotFound && refusal.detail == nil {
            throw noItem(selection, otherVerb: otherVerb)
        }
    }

    /// Returns the refusal for a selection that matches nothing, with similar names for a terminal.
    func noItem(_ selection: ItemSelection, otherVerb: String? = nil) -> Refusal {
        let names = user.terminal == nil ? [] : (try? names(like: selection)) ?? []
        if names.isEmpty, let word = selection.word, word.hasPrefix("https://") || word.hasPrefix("http://") {
            return Refusal(.itemNotFound, "No item \(selection.shown). To select a website's password by its address, use --url")
        }
        // The service does not disclose whether another program has such an item, so the user must name the owner.
        let mayBeElsewhere = service.mode == .system && selection.owner == nil
        let elsewhere = mayBeElsewhere ? otherVerb.map { "vauban \($0) \(selection.quoted) --owner program:/PATH" } : nil
        return Refusal.noItem(selection.shown, suggestions: names, elsewhere: elsewhere)
    }

    private func names(like selection: ItemSelection) throws -> [String] {
        let (name, account) = selection.nameAndAccount
        let wanted = [name ?? "", account ?? ""].filter { !$0.isEmpty }.joined(separator: "/")
        let records = try matches(try ItemSelection.parse([]))
        // Without an account, the argument is a service or a server.
        let words =
            (account ?? "").isEmpty
            ? records.map { $0.text($0.kind == .genericPassword ? .service : .server) } + records.map(\.name) : records.map(\.name)
        let near = Similarity.nearest(to: wanted, among: Set(words)).filter { $0 != wanted }
        guard near.isEmpty, (account ?? "").isEmpty, !wanted.isEmpty else { return near.map(SafeText.visible) }
        // The user may have typed the account alone.
        let named = records.filter { $0.text(.account).lowercased() == wanted.lowercased() }.map(\.name)
        return Set(named).sorted().prefix(Similarity.countMax).map(SafeText.visible)
    }
}

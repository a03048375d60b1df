import ArgumentParser
import VaubanKeychainModel
package import VaubanRefusal

extension Refusal {
    /// The refusal for a name that no item has, with similar names as suggestions.
    package static func noItem(_ name: String, suggestions: [String] = []) -> Refusal {
        if suggestions.isEmpty { return Refusal(.itemNotFound, "No item \(name). To list items: vauban list") }
        return Refusal(.itemNotFound, "No item \(name). Did you mean \(suggestions.joined(separator: ", or "))?")
    }
}

extension Session {
    /// Runs work that needs the selected item. If the item does not exist and a terminal shows the error, the error suggests similar names;
    /// scripts are spared the search through all names.
    func withSuggestions<Result: ~Copyable>(_ selection: ItemSelection, _ work: () throws -> Result) throws -> Result {
        do {
            return try work()
        } catch let refusal as Refusal where refusal.reason == .itemNotFound && refusal.detail == nil {
            let names = user.terminal == nil ? [] : (try? names(like: selection)) ?? []
            throw Refusal.noItem(selection.shown, suggestions: names)
        }
    }

    private func names(like selection: ItemSelection) throws -> [String] {
        let (name, account) = selection.nameAndAccount
        let wanted = [name ?? "", account ?? ""].filter { !$0.isEmpty }.joined(separator: "/")
        let records = try matches(try ItemSelection.parse([]))
        // Without an account, the argument is a service or a server.
        let words =
            (account ?? "").isEmpty
            ? records.map { $0.text($0.kind == .genericPassword ? .service : .server) } + records.map(\.name) : records.map(\.name)
        return Similarity.nearest(to: wanted, among: Set(words)).filter { $0 != wanted }.map(SafeText.visible)
    }
}

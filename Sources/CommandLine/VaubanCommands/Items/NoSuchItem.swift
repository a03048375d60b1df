import ArgumentParser
import VaubanKeychainModel
import VaubanRefusal

/// Nothing has the name that somebody typed; something may have one that is much like it.
struct NoSuchItem: Error, CustomStringConvertible {
    let name: String
    let suggestions: [String]

    var description: String {
        if suggestions.isEmpty { return "No item \(name) was found; to see what there is: vauban list" }
        return "No item \(name). Did you mean \(suggestions.joined(separator: ", or "))?"
    }
}

extension Session {
    /// Does work that needs the item that a selection means. Where there is none, and a user reads the answer, it is told which of
    /// their items are called much the same; a script does not wait for a look at all names.
    func suggesting<Result: ~Copyable>(_ selection: ItemSelection, _ work: () throws -> Result) throws -> Result {
        do {
            return try work()
        } catch let refusal as Refusal where refusal.reason == .itemNotFound && refusal.detail == nil {
            let names = user.terminal == nil ? [] : (try? names(like: selection)) ?? []
            throw NoSuchItem(name: selection.shown, suggestions: names)
        }
    }

    private func names(like selection: ItemSelection) throws -> [String] {
        let (name, account) = selection.nameAndAccount
        let wanted = [name ?? "", account ?? ""].filter { !$0.isEmpty }.joined(separator: "/")
        let records = try matches(try ItemSelection.parse([]))
        // Without an account, what is typed is a service or a server.
        let words =
            (account ?? "").isEmpty
            ? records.map { $0.text($0.kind == .genericPassword ? .service : .server) } + records.map(\.name) : records.map(\.name)
        return Similarity.nearest(to: wanted, among: Set(words)).filter { $0 != wanted }.map(SafeText.visible)
    }
}

package import VaubanKeychainModel
import VaubanCommands

/// One item in the list: names and its kind, never a secret.
package struct ItemRow: Hashable, Sendable {
    let kind: ItemKind
    /// The item's identity, 16 bytes.
    let reference: [UInt8]
    package let section: ItemSection
    package let title: String
    package let subtitle: String
    /// Whether reading the item needs the user's approval.
    package let asks: Bool
    /// All texts that a search looks at, in lowercase.
    let searchText: [UInt8]
    /// The name and account that an item shares with its one-time code.
    let login: Login

    struct Login: Hashable, Sendable {
        let name: String
        let account: String
    }

    /// Characters of a name that are shown. Names come from other programs.
    private static let charactersMax = 200

    package init(_ record: ItemRecord, reference: [UInt8]) {
        kind = record.kind
        self.reference = reference
        section = ItemSection(of: record)
        asks = record.asks
        login = Self.login(of: record)
        (title, subtitle) = Self.names(of: record, login)
        let texts: [AttributeName] = [.label, .service, .server, .account, .comment, .description, .path]
        searchText = Array(texts.map(record.text).joined(separator: "\n").lowercased().utf8)
    }

    /// Whether two rows are of the same item, which may have been renamed between them.
    package func isSameItem(as other: ItemRow) -> Bool { reference == other.reference }

    private static func login(of record: ItemRecord) -> Login {
        var name = record.text(record.kind == .genericPassword ? .service : .server)
        if name.hasPrefix(ImportPlan.codesPrefix) { name.removeFirst(ImportPlan.codesPrefix.count) }
        return Login(name: name, account: record.text(.account))
    }

    /// Returns the title and the line below it. A label that only repeats the name and the account is not shown twice.
    private static func names(of record: ItemRecord, _ login: Login) -> (String, String) {
        let label = record.text(.label)
        func shown(_ text: String) -> String { SafeText.line(text, max: charactersMax) }
        guard record.kind == .genericPassword || record.kind == .internetPassword else {
            let name = label.isEmpty ? record.text(.applicationTag) : label
            return (name.isEmpty ? "Unnamed" : shown(name), ItemSection(of: record).noun)
        }
        let isDefault = [login.name, "\(login.name)/\(login.account)", record.defaultLabel, ""].contains(label)
        if isDefault { return (login.name.isEmpty ? "Unnamed" : shown(login.name), shown(login.account)) }
        return (shown(label), shown([login.name, login.account].filter { !$0.isEmpty }.joined(separator: "/")))
    }
}

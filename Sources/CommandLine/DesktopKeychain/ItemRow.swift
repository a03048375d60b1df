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
    package let needsApproval: Bool

    /// The most characters of a name that are shown. Names come from other programs.
    static let charactersMax = 200

    package init(_ record: ItemRecord, reference: [UInt8]) {
        kind = record.kind
        self.reference = reference
        section = ItemSection(of: record)
        needsApproval = record.needsApproval
        (title, subtitle) = Self.names(of: record, ItemLogin(record))
    }

    /// Creates the row of an item of which only the identity is known.
    init(kind: ItemKind, reference: [UInt8]) {
        self.init(kind: kind, reference: reference, section: .all, title: "", subtitle: "", needsApproval: false)
    }

    init(kind: ItemKind, reference: [UInt8], section: ItemSection, title: String, subtitle: String, needsApproval: Bool) {
        self.kind = kind
        self.reference = reference
        self.section = section
        self.title = title
        self.subtitle = subtitle
        self.needsApproval = needsApproval
    }

    /// Returns the title and the line below it. A label that only repeats the name and the account is not shown twice.
    private static func names(of record: ItemRecord, _ login: ItemLogin) -> (String, String) {
        let label = record.text(.label)
        func shown(_ text: String) -> String { SafeText.line(text, max: charactersMax) }
        guard record.kind == .genericPassword || record.kind == .internetPassword else {
            let name = label.isEmpty ? record.text(.applicationTag) : label
            return (name.isEmpty ? "Unnamed" : shown(name), ItemSection(of: record).noun)
        }
        let place = record.text(record.kind == .genericPassword ? .service : .server)
        let names = [login.name, place].flatMap { [$0, "\($0)/\(login.account)"] }
        let isDefault = (names + [record.defaultLabel, ""]).contains(label)
        if isDefault { return (login.name.isEmpty ? "Unnamed" : shown(login.name), shown(login.account)) }
        return (shown(label), shown([login.name, login.account].filter { !$0.isEmpty }.joined(separator: "/")))
    }
}

/// The name and account that a password shares with its one-time code.
struct ItemLogin: Hashable, Sendable {
    let name: String
    let account: String

    init(_ record: ItemRecord) {
        var name = record.loginName
        if name.hasPrefix(ImportPlan.codesPrefix) { name.removeFirst(ImportPlan.codesPrefix.count) }
        self.name = name
        account = record.text(.account)
    }

    /// Both, in the form of a label.
    var words: String { [name, account].filter { !$0.isEmpty }.joined(separator: "/") }
}

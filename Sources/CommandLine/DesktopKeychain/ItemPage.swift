import Foundation
import VaubanAccessPolicy
import VaubanCommands
package import VaubanKeychainModel

/// The displayed attributes of one item, without its secret.
package struct ItemPage: Hashable, Sendable {
    package struct Field: Hashable, Sendable {
        package let title: String
        package let text: String
        /// Whether the window offers to copy the text: names and addresses, but not dates.
        package let isCopyable: Bool
    }

    package let row: ItemRow
    package let fields: [Field]
    package let record: ItemRecord

    package init(_ record: ItemRecord, row: ItemRow) {
        self.row = row
        self.record = record
        fields = Self.fields(of: record, row)
    }

    /// The kind of the item, in words.
    package var kindTitle: String {
        switch record.kind {
        case .internetPassword: "Password of a website or server"
        case .genericPassword where row.section == .passwords: "Password"
        case .genericPassword where ItemSection.isNote(record): "Secure note"
        default: row.section.noun
        }
    }

    /// The name for the secret.
    package var secretTitle: String {
        switch row.section {
        case .passwords: "Password"
        case .keys: "Private key"
        default: ItemSection.isNote(record) ? "Note" : "Secret"
        }
    }

    package var protection: String { ProtectionSentence.of(record) }

    /// Whether the item is a password class, whose secret can be shown, and whose names can be edited.
    package var isPassword: Bool { [.genericPassword, .internetPassword].contains(record.kind) }

    /// Whether the secret is the key of one-time codes, of which only the codes are shown.
    package var isCode: Bool { row.section == .codes }

    /// The name and account of a password, which its one-time code has too.
    var login: ItemLogin { ItemLogin(record) }

    /// The service or server of a new password, for the rules of its site.
    package var server: String? { record.kind == .internetPassword ? record.text(.server) : nil }

    private static func fields(of record: ItemRecord, _ row: ItemRow) -> [Field] {
        var fields: [Field] = []
        func add(_ title: String, _ text: String, isCopyable: Bool = false) {
            if !text.isEmpty { fields.append(Field(title: title, text: text, isCopyable: isCopyable)) }
        }
        if record.kind == .internetPassword { add("Website", website(of: record), isCopyable: true) }
        if record.kind == .genericPassword { add("Service", shown(ItemLogin(record).name), isCopyable: true) }
        add("User name", shown(record.text(.account)), isCopyable: true)
        add("Kind", shown(record.text(.description)))
        let comment = TaggedComment(record.text(.comment))
        add("Notes", lines(comment.text))
        add("Tags", shown(comment.tags.joined(separator: ", ")))
        if ![AccessGroup.commandLine, AccessGroup.unsigned, ""].contains(record.owner) { add("Stored by", shown(record.owner)) }
        add("Created", date(record, .creationDate))
        add("Changed", date(record, .modificationDate))
        return fields
    }

    /// Returns the URL of an internet password, as `vauban edit --website` takes it.
    static func website(of record: ItemRecord) -> String {
        let scheme = ProtocolCode.name(of: record.text(.protocolName))
        let port = record.number(.port) == 0 ? "" : ":\(record.number(.port))"
        let path = record.text(.path)
        return shown("\(scheme.isEmpty ? "https" : scheme)://\(record.text(.server))\(port)\(path.isEmpty ? "/" : path)")
    }

    private static let charactersMax = 1000

    private static func shown(_ text: String) -> String { SafeText.line(text, max: charactersMax) }

    /// Notes keep their line breaks.
    private static func lines(_ text: String) -> String {
        text.split(separator: "\n", omittingEmptySubsequences: false).map { shown(String($0)) }.joined(separator: "\n")
    }

    private static func date(_ record: ItemRecord, _ name: AttributeName) -> String {
        guard case .date(let microseconds) = record.attributes[name] else { return "" }
        return text(ofTime: microseconds)
    }

    /// Returns a time in words; `microseconds` since the reference date.
    static func text(ofTime microseconds: Int64) -> String {
        Date(microseconds: microseconds).formatted(date: .abbreviated, time: .shortened)
    }
}

import Foundation
import VaubanJSON
import VaubanSecretBytes
import VaubanSecretText

/// The file `export.data` of a 1pux archive: accounts, their vaults, and items with sections of fields
/// (https://support.1password.com/1pux-format/).
struct OnePasswordJSON {
    private let items: [(vault: String, item: JSONObject?)]

    private static let kinds = [
        "002": "card", "003": "secure note", "004": "identity", "006": "document", "100": "software license", "101": "bank account",
        "102": "database", "103": "driver license", "104": "outdoor license", "105": "membership", "106": "passport",
        "107": "reward program", "108": "social security number", "109": "wireless router", "110": "server", "111": "email account",
        "112": "API credential", "113": "medical record", "114": "SSH key",
    ]
    private static let openTypes: Set<String> = [
        "string", "email", "phone", "url", "date", "monthYear", "menu", "gender", "address", "creditCardType", "reference",
    ]

    /// Returns nil if the document is not such a file.
    init?(_ document: JSONObject) {
        guard case .list? = document["accounts"] else { return nil }
        var items: [(String, JSONObject?)] = []
        for account in document.objects("accounts") {
            for vault in account.objects("vaults") {
                let name = vault.object("attrs")?.text("name") ?? ""
                for value in vault.list("items") {
                    let object = JSONObject(value, in: document.bytes)
                    // Earlier versions wrap each item in another object.
                    items.append((name, object?.object("item") ?? object))
                }
            }
        }
        self.items = items
    }

    var count: Int { items.count }

    func place(_ index: Int) -> SourcePlace {
        items[index].item?.line.map { .item(index + 1, line: $0) } ?? SourcePlace(line: nil, name: "item \(index + 1)")
    }

    func source(_ index: Int) throws(SkipReason) -> SourceRecord {
        guard let item = items[index].item else { throw SkipReason("it is not an object") }
        var source = SourceRecord(place(index))
        source.origin = "1Password"
        let category = item.text("categoryUuid") ?? "001"
        source.kind = ["001", "005"].contains(category) ? nil : Self.kinds[category] ?? "item of category \(category)"
        source.group = items[index].vault
        source.add("vault", text: source.group, .about)
        for member in item.members {
            switch member.key {
            case "overview": if let overview = item.object(member.key) { takeOverview(overview, &source) }
            case "details": if let details = item.object(member.key) { takeDetails(details, &source) }
            case "categoryUuid": break
            case "uuid": if let value = item.shown(member.key) { source.add(member.key, value, as: .about) }
            case "favIndex": if let number = item.number(member.key), number != 0 { source.add("favorite", text: "true", .about) }
            case "createdAt", "updatedAt":
                if let number = item.number(member.key) { source.add(member.key, text: Self.date(number), .about) }
            case "state": if let state = item.text(member.key), state != "active" { source.add(member.key, text: state, .about) }
            case "trashed": if item.isTrue(member.key) { source.add(member.key, text: "true", .about) }
            // Unknown members may be secret.
            default: if let value = item.shown(member.key) { source.add(member.key, value, as: .hidden) }
            }
        }
        return source
    }

    private func takeOverview(_ overview: JSONObject, _ source: inout SourceRecord) {
        source.title = overview.text("title") ?? ""
        let urls = overview.objects("urls")
        var known: Set<String> = [""]
        source.urls = ([overview.text("url") ?? ""] + urls.map { $0.text("url") ?? "" }).filter { known.insert($0).inserted }
        for url in urls {
            guard let label = url.text("label"), !label.isEmpty, let address = url.text("url") else { continue }
            source.add("label of \(SourceURL.mayHoldPassword(address) ? "an address" : address)", text: label, .about)
        }
        for value in overview.list("tags") {
            if case .text(let range) = value, let tag = JSONText.text(overview.bytes, range) { source.add(tag: tag) }
        }
        // The subtitle repeats the user name; strength and pictures are computed by 1Password.
        let taken: Set<String> = ["title", "url", "urls", "tags", "subtitle", "ps", "pbe", "pgrng", "icons"]
        for member in overview.members where !taken.contains(member.key) {
            if let value = overview.shown(member.key) { source.add(member.key, value, as: .about) }
        }
    }

    private func takeDetails(_ details: JSONObject, _ source: inout SourceRecord) {
        for member in details.members {
            switch member.key {
            case "loginFields": for field in details.objects(member.key) { takeLoginField(field, &source) }
            case "notesPlain": source.notes = details.shown(member.key)
            case "password": if let value = details.shown(member.key) { takePassword(value, &source) }
            case "sections":
                for section in details.objects(member.key) {
                    for field in section.objects("fields") { takeField(field, of: section.text("title") ?? "", &source) }
                }
            case "passwordHistory":
                for old in details.objects(member.key) {
                    let date = old.number("time").map { " until \(Self.date($0))" } ?? ""
                    if let value = old.shown("value") { source.add("earlier password\(date)", value, as: .hidden) }
                }
            case "documentAttributes":
                source.left.append("attached file \(details.object(member.key)?.text("fileName") ?? "")")
            default: if let value = details.shown(member.key) { source.add(member.key, value, as: .hidden) }
            }
        }
    }

    private func takePassword(_ value: SecretBox, _ source: inout SourceRecord) {
        if source.password == nil { source.password = value } else { source.add("password", value, as: .hidden) }
    }

    private func takeLoginField(_ field: JSONObject, _ source: inout SourceRecord) {
        // A linked account is an object.
        let value = field.object("value").flatMap { $0.shown("email_address") ?? $0.shown("string") } ?? field.shown("value")
        guard let value else { return }
        switch field.text("designation") {
        case "username"? where source.username.isEmpty: source.username = value.text ?? ""
        case "password"?: takePassword(value, &source)
        default:
            let name = [field.text("name"), field.text("id")].compactMap { $0 }.first { !$0.isEmpty } ?? "field"
            source.add(name, value, as: field.text("fieldType") == "P" ? .hidden : .content)
        }
    }

    private func takeField(_ field: JSONObject, of section: String, _ source: inout SourceRecord) {
        let title = [field.text("title"), field.text("id")].compactMap { $0 }.first { !$0.isEmpty } ?? "field"
        let name = section.isEmpty ? title : "\(section) / \(title)"
        guard let value = field.object("value") else {
            if let shown = field.shown("value") { source.add(name, shown, as: .hidden) }
            return
        }
        for member in value.members {
            switch member.key {
            case "totp": if let code = value.shown(member.key) { source.codes.append(code) }
            case "file": source.left.append("attached file \(value.object(member.key)?.text("fileName") ?? "")")
            case "date": if let number = value.number(member.key) { source.add(name, text: Self.date(number), .content) }
            case "email" where value.object(member.key) != nil:
                if let text = value.object(member.key)?.shown("email_address") { source.add(name, text, as: .content) }
            case "address" where value.object(member.key) != nil:
                guard let address = value.object(member.key) else { continue }
                for part in address.members {
                    if let text = address.shown(part.key) { source.add("\(name) / \(part.key)", text, as: .content) }
                }
            default:
                guard let shown = value.shown(member.key) else { continue }
                let isOpen = Self.openTypes.contains(member.key)
                source.add(name, shown, as: isOpen ? .content : .hidden)
            }
        }
    }

    private static func date(_ seconds: Int64) -> String {
        guard (-62_135_596_800...253_402_300_799).contains(seconds) else { return "\(seconds)" }
        return Date(timeIntervalSince1970: Double(seconds)).formatted(.iso8601)
    }
}

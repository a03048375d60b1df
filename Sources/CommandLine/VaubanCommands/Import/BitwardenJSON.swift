import VaubanJSON
import VaubanRefusal
import VaubanSecretBytes

/// Bitwarden's unencrypted JSON export: folders, and items of five types.
struct BitwardenJSON {
    private let folders: [String: String]
    private let items: [JSONObject?]

    private static let kinds: [Int64: String] = [2: "secure note", 3: "card", 4: "identity", 5: "SSH key"]

    /// Returns nil if the document is not such an export. Throws if it is an encrypted one.
    init?(_ document: JSONObject) throws(Refusal) {
        guard document["items"] != nil || document["encrypted"] != nil,
            document["encrypted"] != nil || document["folders"] != nil
                || document["collections"] != nil
        else { return nil }
        guard !document.isTrue("encrypted") else {
            throw Refusal(
                .badParameter,
                "This Bitwarden export is encrypted, which only Bitwarden can open; export again with the format .json instead of "
                    + ".json (Encrypted)"
            )
        }
        folders = Dictionary(
            (document.objects("folders") + document.objects("collections")).compactMap { folder in
                folder.text("id").map { ($0, folder.text("name") ?? "") }
            }
        ) { first, _ in first }
        items = document.list("items").map { JSONObject($0, in: document.bytes) }
    }

    var count: Int { items.count }

    func place(_ index: Int) -> SourcePlace {
        items[index]?.line.map { .item(index + 1, line: $0) } ?? SourcePlace(line: nil, name: "item \(index + 1)")
    }

    func source(_ index: Int) throws(SkipReason) -> SourceRecord {
        guard let item = items[index] else { throw SkipReason("it is not an object") }
        var source = SourceRecord(place(index))
        source.origin = "Bitwarden"
        let type = item.number("type") ?? 1
        source.kind = type == 1 ? nil : Self.kinds[type] ?? "item of type \(type)"
        for member in item.members { take(member.key, item: item, source: &source) }
        return source
    }

    private func take(_ key: String, item: JSONObject, source: inout SourceRecord) {
        switch key {
        case "type": break
        case "name": source.title = item.text(key) ?? ""
        case "notes": source.notes = item.shown(key)
        case "login": if let login = item.object(key) { takeLogin(login, &source) }
        case "secureNote": break
        case "card", "identity", "sshKey":
            guard let part = item.object(key) else { return }
            for member in part.members {
                if let value = part.shown(member.key) { source.add(member.key, value, as: .content) }
            }
        case "fields": for field in item.objects(key) { takeField(field, &source) }
        case "folderId":
            guard let id = item.text(key) else { return }
            source.group = folders[id] ?? id
            source.add("folder", text: source.group, .about)
        case "collectionIds":
            for value in item.list(key) {
                guard case .text(let range) = value, let id = JSONText.text(item.bytes, range) else { continue }
                source.add("collection", text: folders[id] ?? id, .about)
            }
        case "favorite": if item.isTrue(key) { source.add(key, text: "true", .about) }
        case "reprompt": if let number = item.number(key), number != 0 { source.add(key, text: "\(number)", .about) }
        case "creationDate", "revisionDate", "deletedDate", "archivedDate", "id", "organizationId":
            if let value = item.shown(key) { source.add(key, value, as: .about) }
        case "passwordHistory":
            for old in item.objects(key) {
                let date = old.text("lastUsedDate").map { " until \($0)" } ?? ""
                if let value = old.shown("password") { source.add("earlier password\(date)", value, as: .hidden) }
            }
        case "attachments":
            for file in item.objects(key) { source.left.append("attached file \(file.text("fileName") ?? "")") }
        // Unknown members may be secret.
        default: if let value = item.shown(key) { source.add(key, value, as: .hidden) }
        }
    }

    private func takeLogin(_ login: JSONObject, _ source: inout SourceRecord) {
        for member in login.members {
            switch member.key {
            case "username": source.username = login.text(member.key) ?? ""
            case "password": source.password = login.shown(member.key)
            case "totp": source.codes = login.shown(member.key).map { [$0] } ?? []
            case "uris":
                for address in login.objects(member.key) {
                    if let text = address.text("uri") { source.urls.append(text) }
                    if let match = address.number("match") { source.add("uri match", text: "\(match)", .about) }
                }
            case "passwordRevisionDate": if let value = login.shown(member.key) { source.add(member.key, value, as: .about) }
            default: if let value = login.shown(member.key) { source.add(member.key, value, as: .hidden) }
            }
        }
    }

    /// Adds a custom field: type 0 is text, 1 hidden, 2 a Boolean, 3 a reference to another part.
    private func takeField(_ field: JSONObject, _ source: inout SourceRecord) {
        let name = field.text("name") ?? ""
        if let value = field.shown("value") {
            let isOpen = [0, 2, 3].contains(field.number("type") ?? -1)
            source.add(name, value, as: isOpen ? .content : .hidden)
        } else if let part = field.number("linkedId") {
            source.add(name, text: "linked to part \(part)", .content)
        } else if !name.isEmpty {
            source.add(name, text: "(empty)", .content)
        }
    }
}

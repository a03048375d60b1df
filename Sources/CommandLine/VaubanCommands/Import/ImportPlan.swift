package import VaubanKeychainModel
import VaubanOneTimeCodes
import VaubanSecretBytes
package import VaubanSecretText

/// One item to be created from a record.
package struct PlannedItem {
    package enum Role { case login, document, codes, fields }

    package let role: Role
    package var record: ItemRecord
    package let secret: SecretBox
    /// Whether the comment is the source's, and not a note about the source.
    var hasOwnComment = true
    /// Whether protection and access control are the source's.
    var hasOwnProtection = false

    /// The attributes that the import chose, and the counter, which the existing item may have advanced.
    var ownAttributes: Set<AttributeName> {
        var names: Set<AttributeName> = hasOwnComment ? [] : [.comment]
        if role == .codes || role == .fields { names.insert(.description) }
        if CodeCounter.isCodes(record) { names.insert(.generic) }
        return names
    }
}

/// The items to be created from one record (Specs/import.md): the main item, and attached items for parts that must not be shown with it.
package struct ImportPlan {
    package private(set) var items: [PlannedItem] = []
    package private(set) var carried: [String] = []
    package private(set) var changed: [String] = []
    package private(set) var left: [String]
    /// Distinguishes two records of the same name.
    package let group: String

    /// The limit for notes in an attribute: all attributes of a record share 58,000 bytes.
    private static let commentBytesMax = 16_384
    private static let attributesBytesMax = 48_000

    /// The line about the program or file that an item comes from.
    private static let originName = "imported from"

    package static let codesPrefix = "otpauth:"
    package static let fieldsPrefix = "fields:"
    package static let codesDescription = "one-time codes"
    package static let fieldsDescription = "protected fields"

    fileprivate struct Content {
        var notes: SecretBox?
        var about: [SourceField] = []
        var open: [SourceField] = []
        var hidden: [SourceField] = []
        var codes: [SecretBox] = []
    }

    package init(_ source: SourceRecord, protectsNotes: Bool) throws(SkipReason) {
        group = source.group
        left = source.left
        changed = source.changed
        var content = Content()
        content.notes = source.notes.flatMap { $0.secret.isEmpty ? nil : $0 }
        takeCodes(of: source, &content)
        let hasPassword = source.password.map { !$0.secret.isEmpty } ?? false
        content.take(source.fields)
        if let origin = source.origin {
            let line = SecretBox(SecretBytes(copying: Array(origin.utf8)))
            content.about.append(SourceField(name: Self.originName, value: line, kind: .about))
        }
        guard source.kind == nil, hasPassword || !content.codes.isEmpty else {
            try planDocument(source, hasPassword: hasPassword, content)
            return
        }
        let placement = Placement(source)
        content.take(placement.fields)
        changed += placement.changes
        hideNotes(of: source, protectsNotes: protectsNotes, &content)
        try planLogin(source, hasPassword: hasPassword, placement: placement, content: content)
    }

    // MARK: Logins

    private mutating func planLogin(_ source: SourceRecord, hasPassword: Bool, placement: Placement, content: Content) throws(SkipReason) {
        let record = ItemRecord(kind: placement.kind, attributes: placement.attributes)
        let comment = try Self.comment(content.notes, fields: content.open + content.about, tags: source.tags)
        if hasPassword, let password = source.password {
            var main = record
            if !comment.isEmpty { main.attributes[.comment] = .text(comment) }
            try plan(.login, record: main, secret: password)
        }
        try planCodes(content.codes, beside: record, named: placement.name, comment: hasPassword ? "" : comment)
        if !content.hidden.isEmpty {
            let item = Self.attachedItem(of: record, named: Self.fieldsPrefix + placement.name, Self.fieldsDescription)
            try plan(.fields, record: item, secret: FieldText.of(notes: nil, content.hidden))
        }
        noteCarried(source, content)
        if !hasPassword { changed.append("no password: only its one-time codes became an item") }
    }

    /// Plans the items for one-time codes. The first one gets the comment if no other item can have it.
    private mutating func planCodes(
        _ codes: [SecretBox], beside record: ItemRecord, named name: String, comment: String
    ) throws(SkipReason) {
        for (index, code) in codes.enumerated() {
            var item = Self.attachedItem(of: record, named: Self.codesPrefix + name, Self.codesDescription)
            if index == 0, !comment.isEmpty { item.attributes[.comment] = .text(comment) }
            CodeCounter.start(code.secret, in: &item)
            try plan(.codes, record: item, secret: code)
        }
    }

    private mutating func noteCarried(_ source: SourceRecord, _ content: Content) {
        let hasPassword = items.contains { $0.role == .login }
        let parts: [(String, Bool)] = [
            ("password", hasPassword), ("user name", !source.username.isEmpty), ("title", !source.title.isEmpty),
            ("url", source.urls.contains { !$0.isEmpty }), ("notes", content.notes != nil), ("one-time codes", !content.codes.isEmpty),
            ("tags", !source.tags.isEmpty),
        ]
        carried += parts.filter(\.1).map(\.0)
        carried +=
            (content.open + content.about).map(\.name).filter { $0 != "url" && $0 != Self.originName }
            + content.hidden.map { "\($0.name) (protected)" }
    }

    private mutating func takeCodes(of source: SourceRecord, _ content: inout Content) {
        let server = source.urls.lazy.compactMap { SourceURL($0) }.first { $0.namesServer }?.server
        let title = source.title.isEmpty ? server ?? "" : source.title
        for code in source.codes where !code.secret.isEmpty {
            do throws(OneTimeCodeError) {
                switch CodeAddress(code, title: title, account: source.username) {
                case .whole(let address): content.codes.append(try Self.checked(address))
                case .made(let address):
                    content.codes.append(try Self.checked(address))
                    changed.append("one-time codes: the key became an otpauth address")
                case .none: throw .notAnAddress
                }
            } catch {
                // An item for one-time codes contains only what the codes need.
                content.hidden.append(Self.field("one-time codes", code))
                changed.append("one-time codes: \(error.description); stored as a protected field")
            }
        }
    }

    /// Returns the address. Throws the reason if no code can be computed from it.
    private static func checked(_ address: SecretBox) throws(OneTimeCodeError) -> SecretBox {
        _ = try address.secret.withUnsafeBytes { bytes throws(OneTimeCodeError) in try OneTimeCodeAddress(bytes) }
        return address
    }

    /// Moves notes out of the attributes if they may be secret or are too long.
    private mutating func hideNotes(of source: SourceRecord, protectsNotes: Bool, _ content: inout Content) {
        let size = (content.notes?.secret.count ?? 0) + content.open.reduce(0) { $0 + $1.value.secret.count + $1.name.utf8.count }
        let isLong = size > Self.commentBytesMax
        guard protectsNotes || source.hidesNotes || isLong else { return }
        if let notes = content.notes { content.hidden.insert(Self.field("notes", notes), at: 0) }
        content.notes = nil
        content.hidden += content.open
        content.open = []
        if isLong { changed.append("notes: too long for an attribute; stored as a protected field") }
    }

    // MARK: Other records

    /// Plans a secure note, a card, or a login that consists only of notes: one item whose secret is the complete text, and separate items
    /// for its codes.
    private mutating func planDocument(_ source: SourceRecord, hasPassword: Bool, _ given: Content) throws(SkipReason) {
        var content = given
        if hasPassword, let password = source.password { content.hidden.insert(Self.field("password", password), at: 0) }
        guard content.hasText || !content.codes.isEmpty else {
            throw SkipReason(source.kind == nil ? "it has no password" : "it is empty")
        }
        let placement = Placement(source, needsServer: false)
        content.take(placement.fields)
        changed += placement.changes
        if source.kind == nil { changed.append("no password: its other fields became a note") }
        var record = ItemRecord(kind: placement.kind, attributes: placement.attributes)
        record.attributes[.description] = .text(source.kind ?? "secure note")
        let comment = try Self.comment(nil, fields: content.about, tags: source.tags)
        if content.hasText {
            var document = record
            if !comment.isEmpty { document.attributes[.comment] = .text(comment) }
            try plan(.document, record: document, secret: FieldText.of(notes: content.notes, content.open + content.hidden))
        } else {
            changed.append("no content: only its one-time codes became an item")
        }
        try planCodes(content.codes, beside: record, named: placement.name, comment: content.hasText ? "" : comment)
        noteCarried(source, content)
    }

    // MARK: Parts

    private mutating func plan(_ role: PlannedItem.Role, record: ItemRecord, secret: SecretBox) throws(SkipReason) {
        guard secret.secret.count <= SecretSource.bytesMax else { throw SkipReason("its \(role.shown) is larger than 1 MiB") }
        let size = record.attributes.reduce(0) { $0 + $1.value.equalityBytes.count }
        guard size <= Self.attributesBytesMax else { throw SkipReason("its name, address and notes exceed the size of an item") }
        items.append(PlannedItem(role: role, record: record, secret: secret))
    }

    private static func field(_ name: String, _ value: SecretBox) -> SourceField { SourceField(name: name, value: value, kind: .hidden) }

    /// Returns an attached item. Its name differs from the item's, so that each name selects one of the two, and it has the same
    /// protection.
    package static func attachedItem(of record: ItemRecord, named name: String, _ description: String) -> ItemRecord {
        ItemRecord(
            kind: .genericPassword,
            attributes: ItemAttributes([
                .service: .text(name), .account: .text(record.text(.account)), .label: record.attributes[.label] ?? .text(""),
                .description: .text(description),
            ]), protection: record.protection, accessControl: record.accessControl)
    }

    /// Returns a comment without the line about the program or file that the item comes from, for a comparison.
    static func withoutOrigin(_ comment: String) -> String {
        comment.split(separator: "\n", omittingEmptySubsequences: false).filter { !$0.hasPrefix("\(originName): ") }.joined(separator: "\n")
            .trimmed
    }

    private static func comment(_ notes: SecretBox?, fields: [SourceField], tags: [String]) throws(SkipReason) -> String {
        guard let text = FieldText.of(notes: notes, fields).text else { throw SkipReason("its notes are not UTF-8") }
        return TaggedComment(text: text, tags: tags).comment
    }
}

extension ImportPlan.Content {
    /// Whether the record has content of its own, besides information about the record.
    var hasText: Bool { notes != nil || !open.isEmpty || !hidden.isEmpty }

    mutating func take(_ fields: [SourceField]) {
        about += fields.filter { $0.kind == .about }
        open += fields.filter { $0.kind == .content }
        hidden += fields.filter { $0.kind == .hidden }
    }
}

extension PlannedItem.Role {
    package var shown: String {
        switch self {
        case .login: "password"
        case .document: "content"
        case .codes: "otpauth"
        case .fields: "protected fields"
        }
    }
}

import VaubanSecretBytes

/// Why one record was not taken. The text names columns and fields, never what is in them.
package struct RowError: Error {
    package let why: String
    package init(_ why: String) { self.why = why }
}

/// Where a record stands in its source: its line, its number, or its file.
package struct SourcePlace: Hashable {
    package let line: Int?
    package let name: String

    package static func line(_ line: Int) -> SourcePlace { SourcePlace(line: line, name: "line \(line)") }
    package static func item(_ number: Int, line: Int) -> SourcePlace { SourcePlace(line: line, name: "item \(number) (line \(line))") }
    package static func file(_ path: String) -> SourcePlace { SourcePlace(line: nil, name: SafeText.line(path, max: 200)) }
}

/// One named value of a record that has no attribute of its own in the keychain.
package struct SourceField {
    package enum Kind {
        /// Says something about the record, such as its folder: always shown.
        case about
        /// Content that the source showed openly.
        case content
        /// What the source hid, or what may be a secret: never in an attribute.
        case hidden
    }

    package let name: String
    package let value: SecretBox
    package let kind: Kind
}

/// One record of another password manager, before it is decided which items it becomes (Specs/import.md).
package struct SourceRecord {
    package let place: SourcePlace
    /// What it is where it is no login: "secure note", "card". Its secret is then the text of all its fields.
    package var kind: String?
    package var title = ""
    /// Its folder, group or vault; tells records of one name apart.
    package var group = ""
    package var urls: [String] = []
    package var username = ""
    package var password: SecretBox?
    /// `otpauth:` addresses, or the bare keys of codes.
    package var codes: [SecretBox] = []
    package var notes: SecretBox?
    /// Where the source does not part secrets from notes.
    package var hidesNotes = false
    /// What a server calls the part that it asks a password for.
    package var realm = ""
    /// Service and account in so many words, where the source names records as `vauban get` does.
    package var name: (service: String, account: String)?
    package var fields: [SourceField] = []
    private(set) var tags: [String] = []
    private var knownTags: Set<String> = []
    /// What the source holds and this program cannot keep, such as attached files.
    package var left: [String] = []

    package init(_ place: SourcePlace) { self.place = place }

    package mutating func add(_ name: String, _ value: SecretBox, _ kind: SourceField.Kind) {
        if !value.secret.isEmpty { fields.append(SourceField(name: name, value: value, kind: kind)) }
    }

    /// A tag of the item, or a line about it where a tag cannot be so.
    package mutating func add(tag: String) {
        guard !tag.isEmpty, knownTags.insert(tag).inserted else { return }
        if TaggedComment.fault(in: tag) == nil { tags.append(tag) } else { add("tag", text: tag, .about) }
    }

    package mutating func add(_ name: String, text: String, _ kind: SourceField.Kind) {
        add(name, SecretBox(SecretBytes(copying: Array(text.utf8))), kind)
    }
}

extension SecretBox {
    /// The bytes as text; nil when they are not UTF-8.
    package var text: String? { secret.withUnsafeBytes { String(validating: $0, as: UTF8.self) } }
}

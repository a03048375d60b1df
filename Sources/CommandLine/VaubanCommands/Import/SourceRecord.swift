import VaubanSecretBytes

/// Why one record was not taken. The text names columns and fields, never what is in them.
struct RowError: Error {
    let why: String
    init(_ why: String) { self.why = why }
}

/// Where a record stands in its source: its line, its number, or its file.
struct SourcePlace: Hashable {
    let line: Int?
    let name: String

    static func line(_ line: Int) -> SourcePlace { SourcePlace(line: line, name: "line \(line)") }
    static func item(_ number: Int, line: Int) -> SourcePlace { SourcePlace(line: line, name: "item \(number) (line \(line))") }
    static func file(_ path: String) -> SourcePlace { SourcePlace(line: nil, name: SafeText.line(path, max: 200)) }
}

/// One named value of a record that has no attribute of its own in the keychain.
struct SourceField {
    enum Kind {
        /// Says something about the record, such as its folder: always shown.
        case about
        /// Content that the source showed openly.
        case content
        /// What the source hid, or what may be a secret: never in an attribute.
        case hidden
    }

    let name: String
    let value: SecretBox
    let kind: Kind
}

/// One record of another password manager, before it is decided which items it becomes (Specs/import.md).
struct SourceRecord {
    let place: SourcePlace
    /// What it is where it is no login: "secure note", "card". Its secret is then the text of all its fields.
    var kind: String?
    var title = ""
    /// Its folder, group or vault; tells records of one name apart.
    var group = ""
    var urls: [String] = []
    var username = ""
    var password: SecretBox?
    /// `otpauth:` addresses, or the bare keys of codes.
    var codes: [SecretBox] = []
    var notes: SecretBox?
    /// Where the source does not part secrets from notes.
    var hidesNotes = false
    /// What a server calls the part that it asks a password for.
    var realm = ""
    /// Service and account in so many words, where the source names records as `vauban get` does.
    var name: (service: String, account: String)?
    var fields: [SourceField] = []
    private(set) var tags: [String] = []
    private var knownTags: Set<String> = []
    /// What the source holds and this program cannot keep, such as attached files.
    var left: [String] = []

    init(_ place: SourcePlace) { self.place = place }

    mutating func add(_ name: String, _ value: SecretBox, _ kind: SourceField.Kind) {
        if !value.secret.isEmpty { fields.append(SourceField(name: name, value: value, kind: kind)) }
    }

    /// A tag of the item, or a line about it where a tag cannot be so.
    mutating func add(tag: String) {
        guard !tag.isEmpty, knownTags.insert(tag).inserted else { return }
        if TaggedComment.fault(in: tag) == nil { tags.append(tag) } else { add("tag", text: tag, .about) }
    }

    mutating func add(_ name: String, text: String, _ kind: SourceField.Kind) {
        add(name, SecretBox(SecretBytes(copying: Array(text.utf8))), kind)
    }
}

extension SecretBox {
    /// The bytes as text; nil when they are not UTF-8.
    var text: String? { secret.withUnsafeBytes { String(validating: $0, as: UTF8.self) } }
}

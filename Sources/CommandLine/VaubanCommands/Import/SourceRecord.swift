import VaubanSecretBytes
package import VaubanSecretText

/// The place of a record in its source: its line, its number, or its file.
package struct SourcePlace: Hashable {
    package let line: Int?
    package let name: String

    package static func line(_ line: Int) -> SourcePlace { SourcePlace(line: line, name: "line \(line)") }
    package static func item(_ number: Int, line: Int) -> SourcePlace { SourcePlace(line: line, name: "item \(number) (line \(line))") }
    package static func file(_ path: String) -> SourcePlace { SourcePlace(line: nil, name: SafeText.line(path, max: 200)) }
}

/// One named value of a record that has no corresponding attribute in the keychain.
package struct SourceField {
    package enum Kind {
        /// Information about the record, such as its folder: always shown.
        case about
        /// Content that the source displayed.
        case content
        /// A value that the source hid or that may be a secret: never stored in an attribute.
        case hidden
    }

    package let name: String
    package let value: SecretBox
    package let kind: Kind
}

/// One record of another password manager, before the items to create are planned (Specs/import.md).
package struct SourceRecord {
    package let place: SourcePlace
    /// The kind of a record that is not a login: "secure note", "card". The secret of its item is then the text of all its fields.
    package var kind: String?
    package var title = ""
    /// The folder, group or vault; it distinguishes records of one name.
    package var group = ""
    package var urls: [String] = []
    package var username = ""
    package var password: SecretBox?
    /// `otpauth:` addresses, or bare keys of one-time codes.
    package var codes: [SecretBox] = []
    package var notes: SecretBox?
    /// The program that it comes from, or the name of a CSV file, for a line below the notes; nil if unknown.
    var origin: String?
    /// Whether the source does not separate secrets from notes.
    package var hidesNotes = false
    /// The realm for which a server requests the password.
    package var realm = ""
    /// Service and account, if the source names records as `vauban get` does.
    package var name: (service: String, account: String)?
    package var fields: [SourceField] = []
    package private(set) var tags: [String] = []
    private var knownTags: Set<String> = []
    /// Parts of the source that cannot be stored here, such as attached files.
    package var left: [String] = []
    /// Parts that the source's reader changed, as sentences for the report.
    package var changed: [String] = []

    package init(_ place: SourcePlace) { self.place = place }

    package mutating func add(_ name: String, _ value: SecretBox, as kind: SourceField.Kind) {
        if !value.secret.isEmpty { fields.append(SourceField(name: name, value: value, kind: kind)) }
    }

    /// Adds a tag to the item, or a line about it if it is not a valid tag.
    package mutating func add(tag: String) {
        guard !tag.isEmpty, knownTags.insert(tag).inserted else { return }
        if TaggedComment.fault(in: tag) == nil { tags.append(tag) } else { add("tag", text: tag, .about) }
    }

    package mutating func add(_ name: String, text: String, _ kind: SourceField.Kind) {
        add(name, SecretBox(SecretBytes(copying: Array(text.utf8))), as: kind)
    }
}

extension SecretBox {
    /// The bytes as text, or nil if they are not UTF-8.
    package var text: String? { secret.withUnsafeBytes { String(validating: $0, as: UTF8.self) } }
}

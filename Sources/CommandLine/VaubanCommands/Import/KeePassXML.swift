import Foundation
package import VaubanRefusal
package import VaubanSecretBytes
import VaubanSecretText

/// A KeePass database as XML, as `keepassxc-cli export --format xml` and KeePass write it (https://keepass.info/help/kb/kdbx.html).
package struct KeePassXML {
    private let entries: [KeePassEntry]
    private let origin: String
    private let binIdentifier: String?
    /// The parts that references can point to, by the identifier of their entry and their name.
    private let targets: [String: [String: KeePassEntry.Part]]

    private static let referencesMax = 10
    /// The names here for the values of KeePass.
    private static let shown = [
        "Title": "title", "UserName": "user name", "Password": "password", "URL": "url", "Notes": "notes", "otp": "one-time codes",
    ]

    package init(_ content: borrowing SecretBytes) throws(Refusal) {
        let reader = KeePassReader()
        try content.withUnsafeBytes { bytes throws(Refusal) in try XMLReader.read(bytes, into: reader) }
        entries = reader.entries
        origin = reader.generator.isEmpty ? "KeePass" : SafeText.line(reader.generator, max: 40)
        binIdentifier = reader.binIsEnabled && !reader.binIdentifier.isEmpty ? reader.binIdentifier : nil
        let parts = reader.entries.map { (KeePassReference.digits($0.identifier), KeePassReference.targets(in: $0)) }
        targets = Dictionary(parts) { first, _ in first }
    }

    package var count: Int { entries.count }

    package func place(_ index: Int) -> SourcePlace { .item(index + 1, line: entries[index].line) }

    /// Returns an entry; throws the reason if it cannot be imported.
    package func source(_ index: Int) throws(SkipReason) -> SourceRecord {
        let entry = entries[index]
        guard binIdentifier == nil || !entry.groups.contains(where: { $0.identifier == binIdentifier }) else {
            throw SkipReason("it is in the recycle bin")
        }
        guard !([entry] + entry.earlier).contains(where: \.isEncrypted) else {
            throw SkipReason("its protected values are encrypted; export the database again")
        }
        var source = SourceRecord(place(index))
        source.origin = origin
        source.group = entry.groups.map(\.name).joined(separator: "/")
        if entry.isGroup {
            source.kind = "notes of a group"
            source.title = source.group
            source.notes = entry.parts.first?.value
            return source
        }
        // The outermost group is the database itself.
        source.add(tag: entry.groups.dropFirst().map(\.name).joined(separator: "/"))
        for tag in entry.tags.split(whereSeparator: { $0 == ";" || $0 == "," }) { source.add(tag: String(tag).trimmed) }
        takeParts(entry, &source)
        for field in entry.fields { source.add(field.name, field.value, as: field.kind) }
        for name in ["created", "last modified"] + (entry.doesExpire ? ["expires"] : []) {
            if let date = entry.dates[name] { source.add(name, text: Self.date(date), .about) }
        }
        source.add("UUID", text: entry.identifier, .about)
        source.left += entry.attachments.map { "attached file \($0)" }
        takeHistory(entry, &source)
        return source
    }

    private func takeParts(_ entry: KeePassEntry, _ source: inout SourceRecord) {
        var parts = entry.parts.map { resolved($0, &source) }
        func text(_ name: String) -> String { parts.first { $0.name == name }?.value.text ?? "" }
        (source.title, source.username) = (text("Title"), text("UserName"))
        KeePassCodes.take(from: &parts, into: &source)
        var others: [String] = []
        for part in parts {
            if CodeAddress.isAddress(part.value) { source.codes.append(part.value); continue }
            switch part.name {
            case "Title", "UserName": break
            case "Password" where source.password == nil: source.password = part.value
            case "URL": source.urls.append(part.value.text ?? "")
            case _ where part.name.hasPrefix("KP2A_URL"): others.append(part.value.text ?? "")
            case "Notes" where source.notes == nil:
                source.notes = part.value
                source.hidesNotes = part.isProtected
            default: source.add(part.name, part.value, as: part.isProtected ? .hidden : .content)
            }
        }
        source.urls += others
    }

    /// Adds each value that a later version replaced or removed, the last one first.
    private func takeHistory(_ entry: KeePassEntry, _ source: inout SourceRecord) {
        var files = Set(entry.attachments)
        var next = entry
        for version in entry.earlier.reversed() {
            let end = next.dates["last modified"].map { " until \(Self.date($0))" } ?? ""
            let later = Dictionary(next.parts.map { ($0.name, $0.value) }) { first, _ in first }
            for part in version.parts {
                let stays = later[part.name]?.secret.equals(part.value.secret) ?? false
                if !stays { source.add("earlier \(Self.shown[part.name] ?? part.name)\(end)", part.value, as: .hidden) }
            }
            for file in version.attachments where files.insert(file).inserted {
                source.left.append("attached file \(file) of an earlier version")
            }
            next = version
        }
    }

    // MARK: References

    /// Returns a part with its reference resolved, and reports that.
    private func resolved(_ part: KeePassEntry.Part, _ source: inout SourceRecord) -> KeePassEntry.Part {
        guard KeePassReference.isIn(part.value) else { return part }
        let name = Self.shown[part.name] ?? part.name
        guard let (value, isProtected) = target(of: part.value) else {
            source.left.append("\(name): refers to another entry")
            return part
        }
        source.changed.append("\(name): taken from the entry to which it refers")
        return KeePassEntry.Part(name: part.name, value: value, isProtected: part.isProtected || isProtected)
    }

    /// Returns the value that a reference points to, which may itself be a reference; nil if there is none.
    private func target(of value: SecretBox) -> (value: SecretBox, isProtected: Bool)? {
        var (found, isProtected) = (value, false)
        for _ in 0..<Self.referencesMax {
            guard let reference = KeePassReference(found), let parts = targets[reference.identifier] else { return nil }
            guard let part = parts[reference.part] else { return (SecretBox(SecretBytes(copying: [])), isProtected) }
            found = part.value
            isProtected = isProtected || part.isProtected
            if !KeePassReference.isIn(found) { return (found, isProtected) }
        }
        return nil
    }

    /// Returns a date as ISO 8601: KeePass writes it so, and KeePassXC as the seconds since the year 1, in eight bytes in base64.
    private static func date(_ text: String) -> String {
        guard !text.contains("-"), let bytes = Data(base64Encoded: text), bytes.count == 8 else { return text }
        let seconds = bytes.reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        guard seconds <= 315_537_897_599 else { return text }
        return Date(timeIntervalSince1970: Double(seconds) - 62_135_596_800).formatted(.iso8601)
    }
}

/// A value that refers to a value of another entry: `{REF:P@I:46C9B1FFBD4ABC4BBB260C6190BAD20C}`, the password of the entry with that
/// identifier.
struct KeePassReference {
    let part: String
    /// The identifier in capital hexadecimal digits.
    let identifier: String

    private static let opening = Array("{ref:".utf8)
    private static let bytesCount = 42
    private static let parts: [Character: String] = ["T": "Title", "U": "UserName", "P": "Password", "A": "URL", "N": "Notes"]

    /// Returns nil if the value is not exactly one reference, or if the reference searches by another property.
    init?(_ value: SecretBox) {
        // Only a text that cannot be a password becomes a `String`.
        guard value.secret.count == Self.bytesCount, Self.isIn(value), let text = value.text?.uppercased() else { return nil }
        let letters = Array(text)
        guard letters.count == Self.bytesCount, text.hasPrefix("{REF:"), text.hasSuffix("}"), String(letters[6...8]) == "@I:",
            let part = Self.parts[letters[5]]
        else { return nil }
        self.part = part
        identifier = String(letters[9..<41])
    }

    /// Whether the value contains a reference.
    static func isIn(_ value: SecretBox) -> Bool {
        value.secret.withUnsafeBytes { bytes in
            guard bytes.count >= opening.count else { return false }
            return (0...(bytes.count - opening.count)).contains { start in
                guard bytes[start] == opening[0] else { return false }
                return zip(bytes[start...], opening).allSatisfy { (0x41...0x5A).contains($0) ? $0 | 0x20 == $1 : $0 == $1 }
            }
        }
    }

    /// Returns the parts of an entry that a reference can point to, by name.
    static func targets(in entry: KeePassEntry) -> [String: KeePassEntry.Part] {
        let named = entry.parts.filter { part in parts.values.contains(part.name) }
        return Dictionary(named.map { ($0.name, $0) }) { first, _ in first }
    }

    /// Returns an identifier as references write it.
    static func digits(_ identifier: String) -> String {
        guard let bytes = Data(base64Encoded: identifier) else { return "" }
        return bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16, uppercase: true) }.joined()
    }
}

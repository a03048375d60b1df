import VaubanRefusal
import VaubanSecretBytes
import VaubanSecretText

/// An entry of a KeePass database, or an earlier version of one.
struct KeePassEntry {
    /// A value with its name: one of KeePass's own (`Title`, `Password`), or one that the user gave.
    struct Part {
        let name: String
        let value: SecretBox
        var isProtected: Bool
    }

    let line: Int
    /// The names and identifiers of the groups around it, the outermost first.
    let groups: [KeePassGroup]
    var identifier = ""
    var parts: [Part] = []
    var fields: [SourceField] = []
    var tags = ""
    var dates: [String: String] = [:]
    var doesExpire = false
    var attachments: [String] = []
    /// The earlier versions, oldest first.
    var earlier: [KeePassEntry] = []
    /// Whether a value of the entry is encrypted in a way that only the database itself can decrypt.
    var isEncrypted = false
    /// Whether the entry represents the notes of a group, which are its only part.
    var isGroup = false

    mutating func add(_ name: String, _ value: SecretBox, as kind: SourceField.Kind) {
        let isBlank = value.secret.withUnsafeBytes { bytes in bytes.allSatisfy { [0x20, 0x09, 0x0A, 0x0D].contains($0) } }
        if !isBlank { fields.append(SourceField(name: name, value: value, kind: kind)) }
    }
}

struct KeePassGroup {
    var name = ""
    var identifier = ""
}

/// A reader of the elements of a KeePass database.
final class KeePassReader: XMLReceiver {
    private(set) var entries: [KeePassEntry] = []
    private(set) var generator = ""
    private(set) var binIsEnabled = true
    private(set) var binIdentifier = ""

    private static let elementsMax = 8_000_000
    private static let versionsMax = 1_000_000

    private var elementCount = 0
    /// Entries and their earlier versions.
    private var versionCount = 0
    private var elements: [KeePassElement] = [.document]
    private var groups: [KeePassGroup] = []
    /// The entry that is being read, and in its history the version.
    private var open: [KeePassEntry] = []
    private var content: SecretBuilder?
    /// The line on which the last text began.
    private var contentLine = 0
    private var key = ""
    private var value: SecretBox?
    private var isProtected = false

    func begin(_ name: String, _ attributes: [String: String], line: Int) throws(Refusal) {
        let element = KeePassElement(name, in: elements.last ?? .document)
        if element == .ignored, elements.last == .document {
            throw Refusal(.badParameter, "The XML is not an export of KeePass or KeePassXC; nothing was imported")
        }
        elements.append(element)
        if element != .ignored { elementCount += 1 }
        if element == .entry { versionCount += 1 }
        guard elementCount <= Self.elementsMax, versionCount <= Self.versionsMax else {
            throw Refusal(.badParameter, "The XML has too many entries or values; nothing was imported")
        }
        switch element {
        case .group: groups.append(KeePassGroup())
        case .entry: open.append(KeePassEntry(line: line, groups: groups))
        case .string, .attachment, .item, .association: (key, value, isProtected) = ("", nil, false)
        case .value:
            isProtected = Self.isTrue(attributes["ProtectInMemory"])
            if Self.isTrue(attributes["Protected"]) { change { $0.isEncrypted = true } }
        default: break
        }
        if element.hasText { (content, contentLine) = (SecretBuilder(), line) }
    }

    func text(_ bytes: UnsafeRawBufferPointer) throws(Refusal) { content?.append(bytes) }

    func end() throws(Refusal) {
        let element = elements.removeLast()
        if element.hasText, let box = content?.kept {
            content = nil
            take(box, of: element)
        } else {
            close(element)
        }
    }

    private static func isTrue(_ text: String?) -> Bool { text?.lowercased() == "true" }

    /// Changes the entry that is being read.
    private func change(_ body: (inout KeePassEntry) -> Void) {
        guard !open.isEmpty else { return }
        body(&open[open.count - 1])
    }

    private func take(_ box: SecretBox, of element: KeePassElement) {
        switch element {
        case .value: value = box
        case .hidden(let name): change { $0.add(name, box, as: .hidden) }
        case .groupNotes: takeNotes(box)
        default: take(box.text?.trimmed ?? "", of: element)
        }
    }

    private func take(_ text: String, of element: KeePassElement) {
        switch element {
        case .generator: generator = text
        case .binIsEnabled: binIsEnabled = text.lowercased() != "false"
        case .binIdentifier: binIdentifier = text
        case .groupName: if !groups.isEmpty { groups[groups.count - 1].name = text }
        case .groupIdentifier: if !groups.isEmpty { groups[groups.count - 1].identifier = text }
        case .identifier: change { $0.identifier = text }
        case .tags: change { $0.tags = text }
        case .doesExpire: change { $0.doesExpire = Self.isTrue(text) }
        case .date(let name): change { $0.dates[name] = text }
        case .shown(let name):
            // Icon 0 is the default.
            guard name != "icon" || text != "0" else { return }
            change { $0.add(name, SecretBox(SecretBytes(copying: Array(text.utf8))), as: .about) }
        case .key: key = text
        default: break
        }
    }

    private func takeNotes(_ box: SecretBox) {
        guard !(box.text?.trimmed ?? "").isEmpty else { return }
        var entry = KeePassEntry(line: contentLine, groups: groups)
        entry.isGroup = true
        entry.parts = [KeePassEntry.Part(name: "Notes", value: box, isProtected: false)]
        entries.append(entry)
    }

    private func close(_ element: KeePassElement) {
        switch element {
        case .group: groups.removeLast()
        case .entry:
            let entry = open.removeLast()
            if open.isEmpty { entries.append(entry) } else { change { $0.earlier.append(entry) } }
        case .string:
            guard let value, !value.secret.isEmpty else { return }
            let part = KeePassEntry.Part(name: key, value: value, isProtected: isProtected)
            change { $0.parts.append(part) }
        case .attachment:
            let name = key
            change { $0.attachments.append(name) }
        case .item:
            guard let value else { return }
            let name = key
            change { $0.add(name, value, as: .hidden) }
        case .association:
            let sequence = SecretBuilder()
            sequence.append(key)
            if let value, !value.secret.isEmpty {
                sequence.append(": ")
                sequence.append(value.secret)
            }
            change { $0.add("auto-type of a window", sequence.kept, as: .hidden) }
        default: break
        }
    }
}

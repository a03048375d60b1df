import VaubanKeychainModel
import VaubanRefusal

/// An item's attributes as lines in an editor, and what somebody made of them. Never its secret.
struct ItemForm {
    private let record: ItemRecord
    private let tagged: TaggedComment

    private static let comment = "Comment"
    private static let tags = "Tags"
    /// What can be edited, in its order, with the words before the colon.
    private static let fields: [(AttributeName, String)] = [
        (.service, "Service"), (.server, "Server"), (.account, "Account"), (.protocolName, "Protocol"), (.port, "Port"), (.path, "Path"),
        (.label, "Label"), (.description, "Description"),
    ]

    struct Fault: Error {
        let line: Int
        let why: String
    }

    /// Refused where the comment is no text.
    init(_ record: ItemRecord) throws(Refusal) {
        self.record = record
        tagged = try record.taggedComment()
    }

    /// Those of the item's class that are one line of text; what is not stays out, and so stays as it is.
    private var fields: [(name: AttributeName, title: String)] {
        Self.fields.compactMap { name, title in
            guard AttributeRule.rule(for: name, of: record.kind) != nil else { return nil }
            if case .data(let bytes)? = record.attributes[name], String(validating: bytes, as: UTF8.self) == nil { return nil }
            return record.text(name).contains(where: \.isNewline) ? nil : (name, title)
        }
    }

    private func value(_ name: AttributeName) -> String {
        switch name {
        case .port: record.number(.port) == 0 ? "" : String(record.number(.port))
        case .protocolName: ProtocolCode.name(of: record.text(.protocolName))
        default: record.text(name)
        }
    }

    var text: String {
        var lines = [
            "# \(record.name): everything but its secret. Change what stands behind a colon; leave it empty to take it away.",
            "# Lines like this one are passed over, above the comment. The comment goes to the end of the file.",
        ]
        lines += fields.map { "\($0.title): \(value($0.name))" }
        lines += ["\(Self.tags): \(tagged.tags.joined(separator: ", "))", "\(Self.comment):", tagged.text]
        return lines.joined(separator: "\n") + "\n"
    }

    /// The attributes that are other than they were. Throws the first line that cannot be understood.
    func changes(in edited: String) throws(Fault) -> ItemAttributes {
        let lines = edited.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        var changes = ItemAttributes()
        var found = tagged
        var seen: Set<String> = []
        for (index, line) in lines.enumerated() {
            if line.hasPrefix("#") || line.allSatisfy(\.isWhitespace) { continue }
            guard let colon = line.firstIndex(of: ":") else { throw Fault(line: index + 1, why: "there is no colon in it") }
            let title = String(line[..<colon])
            guard seen.insert(title).inserted else { throw Fault(line: index + 1, why: "\(SafeText.line(title, max: 40)) is there twice") }
            let rest = line[line.index(after: colon)...]
            let value = Self.trimmed(rest)
            if title == Self.comment {
                // One line end closes the file, as editors have it.
                var text = ((value.isEmpty ? [] : [value]) + Array(lines[(index + 1)...])).joined(separator: "\n")
                if text.hasSuffix("\n") { text.removeLast() }
                found.text = text
                break
            }
            if title == Self.tags {
                found.tags = TaggedComment.tags(in: value)
                continue
            }
            guard let field = fields.first(where: { $0.title == title }) else {
                throw Fault(line: index + 1, why: "an item of this class has no \(SafeText.line(title, max: 40))")
            }
            if let changed = try change(field.name, to: value, line: index + 1) { changes[field.name] = changed }
        }
        guard seen.contains(Self.comment) else { throw Fault(line: lines.count, why: "the line with \(Self.comment): is gone") }
        if found != tagged { changes[.comment] = .text(found.comment) }
        if changes[.label] == nil, let label = record.labelFollowing(changes) { changes[.label] = .text(label) }
        return changes
    }

    private func change(_ name: AttributeName, to value: String, line: Int) throws(Fault) -> AttributeValue? {
        // Spaces at an end could not be seen, and are no change by themselves.
        guard value != Self.trimmed(self.value(name)[...]) else { return nil }
        switch name {
        case .service, .server:
            guard !value.isEmpty else { throw Fault(line: line, why: "an item has a \(name == .service ? "service" : "server")") }
            return .text(value)
        case .port:
            guard let port = value.isEmpty ? 0 : Int64(value), (0...65535).contains(port) else {
                throw Fault(line: line, why: "a port is a number up to 65535")
            }
            return .number(port)
        case .protocolName: return .text(value.isEmpty ? "" : ProtocolCode.code(for: value))
        default: return .text(value)
        }
    }

    private static func trimmed(_ text: Substring) -> String {
        let front = text.drop(while: \.isWhitespace)
        guard let end = front.lastIndex(where: { !$0.isWhitespace }) else { return "" }
        return String(front[...end])
    }
}

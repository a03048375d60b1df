package import VaubanKeychainModel
package import VaubanRefusal

/// An item's attributes as lines in an editor, and the parser of the edited lines. The secret is never included.
package struct ItemForm {
    private let record: ItemRecord
    private let tagged: TaggedComment

    private static let comment = "Comment"
    private static let tags = "Tags"
    /// The editable attributes in order, with the words before the colon.
    private static let fields: [(AttributeName, String)] = [
        (.service, "Service"), (.server, "Server"), (.account, "Account"), (.protocolName, "Protocol"), (.port, "Port"), (.path, "Path"),
        (.label, "Label"), (.description, "Description"),
    ]

    /// Creates a form. Throws if the comment is not text.
    package init(_ record: ItemRecord) throws(Refusal) {
        self.record = record
        tagged = try record.taggedComment()
    }

    /// The fields of the item's class whose values are one line of text; the others are left out and stay unchanged.
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

    package var text: String {
        var lines = [
            "# \(record.name), without its secret. Change the text after a colon, or empty it to remove the attribute.",
            "# Lines that begin with # are ignored above the comment. The comment continues to the end of the file.",
        ]
        lines += fields.map { "\($0.title): \(value($0.name))" }
        lines += ["\(Self.tags): \(tagged.tags.joined(separator: ", "))", "\(Self.comment):", tagged.text]
        return lines.joined(separator: "\n") + "\n"
    }

    /// Returns the changed attributes. Throws an error for the first invalid line.
    package func changes(in edited: String) throws(ParsingError) -> ItemAttributes {
        let lines = edited.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        var changes = ItemAttributes()
        var found = tagged
        var seen: Set<String> = []
        for (index, line) in lines.enumerated() {
            if line.hasPrefix("#") || line.allSatisfy(\.isWhitespace) { continue }
            guard let colon = line.firstIndex(of: ":") else { throw ParsingError("line \(index + 1): a colon is missing") }
            let title = String(line[..<colon])
            guard seen.insert(title).inserted else {
                throw ParsingError("line \(index + 1): \(SafeText.line(title, max: 40)) is repeated")
            }
            let rest = line[line.index(after: colon)...]
            let value = Self.trimmed(rest)
            if title == Self.comment {
                // Editors end a file with one line end.
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
                throw ParsingError("line \(index + 1): an item of this class has no \(SafeText.line(title, max: 40))")
            }
            if let changed = try change(field.name, to: value, line: index + 1) { changes[field.name] = changed }
        }
        guard seen.contains(Self.comment) else { throw ParsingError("line \(lines.count): the line \(Self.comment): is missing") }
        if found != tagged { changes[.comment] = .text(found.comment) }
        if changes[.label] == nil, let label = record.labelFollowing(changes) { changes[.label] = .text(label) }
        return changes
    }

    private func change(_ name: AttributeName, to value: String, line: Int) throws(ParsingError) -> AttributeValue? {
        // Spaces at an end are invisible and do not count as a change.
        guard value != Self.trimmed(self.value(name)[...]) else { return nil }
        switch name {
        case .service, .server:
            guard !value.isEmpty else {
                throw ParsingError("line \(line): the \(name == .service ? "service" : "server") must not be empty")
            }
            return .text(value)
        case .port:
            guard let port = value.isEmpty ? 0 : Int64(value), (0...65535).contains(port) else {
                throw ParsingError("line \(line): a port must be a number up to 65535")
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

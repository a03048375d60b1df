/// A comment and its tags. Apple's schema has no attribute for tags, so they are the last line of the comment
/// (Specs/item-attributes.md): "Tags: work, bank".
package struct TaggedComment: Hashable {
    /// The comment without the line of tags.
    package var text: String
    package var tags: [String]

    private static let heading = "Tags: "
    private static let separator = ", "

    package init(text: String, tags: [String]) {
        self.text = text
        self.tags = tags
    }

    /// Splits a stored comment. A last line that is not exactly in our format is text, so that text of other programs is never rewritten.
    package init(_ comment: String) {
        self.init(text: comment, tags: [])
        let lines = comment.split(separator: "\n", omittingEmptySubsequences: false)
        guard let last = lines.last, last.hasPrefix(Self.heading) else { return }
        let tags = last.dropFirst(Self.heading.count).split(separator: ",", omittingEmptySubsequences: false).map { tag in
            String(tag.hasPrefix(" ") ? tag.dropFirst() : tag)
        }
        let found = TaggedComment(text: lines.dropLast().joined(separator: "\n"), tags: tags)
        guard tags.allSatisfy({ Self.fault(in: $0) == nil }), Set(tags).count == tags.count, found.comment.utf8.elementsEqual(comment.utf8)
        else {
            return
        }
        self = found
    }

    /// The stored form.
    package var comment: String {
        guard !tags.isEmpty else { return text }
        let line = Self.heading + tags.joined(separator: Self.separator)
        return text.isEmpty ? line : "\(text)\n\(line)"
    }

    /// Returns the tags in a typed line, without duplicates.
    package static func tags(in line: String) -> [String] {
        var tags: [String] = []
        for tag in line.split(separator: ",").map({ $0.trimmingPrefix(while: \.isWhitespace) }) {
            let trimmed = String(String(tag.reversed()).trimmingPrefix(while: \.isWhitespace).reversed())
            if !trimmed.isEmpty, !tags.contains(trimmed) { tags.append(trimmed) }
        }
        return tags
    }

    /// Returns whether a comment has all of these tags.
    static func has(_ tags: [String], in comment: String) -> Bool { tags.isEmpty || Set(tags).isSubset(of: TaggedComment(comment).tags) }

    /// Returns why a word cannot be a tag, or nil if it can.
    package static func fault(in tag: String) -> String? {
        if tag.isEmpty { return "a tag must not be empty" }
        if tag.contains(",") { return "a tag must not contain a comma" }
        if tag.contains(where: \.isNewline) { return "a tag must be one line" }
        if tag.first?.isWhitespace == true || tag.last?.isWhitespace == true { return "a tag must not begin or end with a space" }
        return nil
    }
}

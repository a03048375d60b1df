/// An attribute in which two descriptions of an item differ, and its content in the first of them.
package struct ItemDifference: Hashable {
    /// The key in `vauban show --json`.
    package let key: String
    /// Nil if the first description lacks the attribute.
    package let value: ItemDescription.Value?

    /// One line, or for a comment as many as it has; without control characters. Only the first can be taken for an attribute: further ones
    /// are indented.
    func lines(indent: String) -> [String] {
        guard let value else { return ["\(indent)without \(key)"] }
        let shown = ItemDescription.shown(value)
        let texts = key == "comment" ? ItemDescription.linesOfText(shown) : [shown]
        return texts.enumerated().map { row, text in
            (row == 0 ? "\(indent)\(key): " : indent + indent) + SafeText.visible(text)
        }
    }
}

extension ItemDescription {
    /// Dates and protection are not attributes that a user edits, and are shown for each version anyway.
    private static let keysOfWrite: Set<String> = ["readable", "asks", "accessControl", "created", "changed"]

    /// Returns the attributes in which this description differs from another one, those that it lacks at the end.
    package func differences(from other: ItemDescription) -> [ItemDifference] {
        let others = Dictionary(other.parts.map { ($0.key, $0.value) }) { first, _ in first }
        let differing = parts.filter { others[$0.key] != $0.value }.map { ItemDifference(key: $0.key, value: $0.value) }
        let own = Set(parts.map(\.key))
        let lacking = other.parts.filter { !own.contains($0.key) }.map { ItemDifference(key: $0.key, value: nil) }
        return (differing + lacking).filter { !Self.keysOfWrite.contains($0.key) }
    }
}

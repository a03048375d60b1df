/// Corrections to the help that the parser generates.
enum HelpText {
    private static let surplus = " SUBCOMMANDS:"

    /// Returns the help with the names of the groups of commands as their headings, to which the parser adds a word.
    static func repaired(_ text: String) -> String {
        guard text.contains(surplus) else { return text }
        return text.split(separator: "\n", omittingEmptySubsequences: false)
            .map { $0.hasSuffix(surplus) ? String($0.dropLast(surplus.count)) + ":" : String($0) }.joined(separator: "\n")
    }
}

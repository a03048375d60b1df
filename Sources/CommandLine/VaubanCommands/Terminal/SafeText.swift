import VaubanPlainText

/// Text that came from elsewhere, made fit to be shown: a terminal obeys what it is sent, and a user believes what
/// they see.
enum SafeText {
    /// One line without control characters, direction overrides and other invisible signs, with single spaces, and not
    /// longer than `max` characters. For a caller's words, which must not draw lines of ours by filling up a row.
    static func line(_ text: String, max: Int) -> String {
        PlainLine.of(text, charactersMax: max)
    }

    /// The whole text on one line, with every invisible sign written out as `\u{…}`: two names that differ look different.
    static func visible(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: isInvisible) else { return text }
        return text.unicodeScalars.map { isInvisible($0) ? "\\u{\(String($0.value, radix: 16))}" : String($0) }.joined()
    }

    /// JSON that shows itself as it is: invisible signs, which stand only within its strings, in JSON's own way of writing them.
    static func json(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: { $0 != "\n" && isInvisible($0) }) else { return text }
        return text.unicodeScalars.map { scalar in
            guard scalar != "\n", isInvisible(scalar) else { return String(scalar) }
            return String(scalar).utf16.map { unit in
                let digits = String(unit, radix: 16)
                return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            }.joined()
        }.joined()
    }

    /// A path in full where it is short, otherwise its beginning and its end, and no more of any name than fits a row: whoever
    /// chose it must not push the line that names them off the screen, nor fill up rows with spaces.
    static func path(_ path: String, max: Int) -> String {
        PlainLine.path(path, charactersMax: max)
    }

    private static func isInvisible(_ scalar: Unicode.Scalar) -> Bool { PlainLine.isInvisible(scalar) }
}

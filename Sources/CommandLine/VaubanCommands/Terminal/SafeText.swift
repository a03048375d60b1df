import VaubanPlainText

/// Makes foreign text safe to display: a terminal interprets what it receives, and users believe what they see.
package enum SafeText {
    /// Returns one line of at most `max` characters with single spaces, without control characters, direction overrides and other invisible
    /// characters. This is for a caller's text, which must not imitate lines of our own by filling a row.
    package static func line(_ text: String, max: Int) -> String {
        PlainLine.of(text, charactersMax: max)
    }

    /// Returns the whole text on one line with every invisible character written as `\u{…}`, so that two different names look different.
    package static func visible(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: isInvisible) else { return text }
        return text.unicodeScalars.map { isInvisible($0) ? "\\u{\(String($0.value, radix: 16))}" : String($0) }.joined()
    }

    /// Returns the text as one word of a shell, quoted if it needs that.
    package static func word(_ text: String) -> String {
        let isPlain =
            !text.isEmpty
            && text.unicodeScalars.allSatisfy {
                $0.properties.isAlphabetic || $0.properties.numericType != nil || "._-/@:+".unicodeScalars.contains($0)
            }
        return isPlain ? text : "'" + visible(text).replacing("'", with: "'\\''") + "'"
    }

    /// Returns JSON in which invisible characters, which occur only in strings, are replaced by JSON escapes.
    package static func json(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: { $0 != "\n" && isInvisible($0) }) else { return text }
        return text.unicodeScalars.map { scalar in
            guard scalar != "\n", isInvisible(scalar) else { return String(scalar) }
            return String(scalar).utf16.map { unit in
                let digits = String(unit, radix: 16)
                return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            }.joined()
        }.joined()
    }

    /// Returns a short path in full, otherwise its beginning and its end, and at most one row of each name. A long or padded path must not
    /// push the line that names the program off the screen or fill rows with spaces.
    package static func path(_ path: String, max: Int) -> String {
        PlainLine.path(path, charactersMax: max)
    }

    private static func isInvisible(_ scalar: Unicode.Scalar) -> Bool { PlainLine.isInvisible(scalar) }
}

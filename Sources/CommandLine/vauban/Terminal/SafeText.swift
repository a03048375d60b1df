/// Text that came from elsewhere, made fit to be shown: a terminal obeys what it is sent, and a person believes what
/// they see.
enum SafeText {
    /// One line without control characters, direction overrides and other invisible signs, and not longer than `max`
    /// characters. For a caller's words.
    static func line(_ text: String, max: Int) -> String {
        var shown = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            if [.lineSeparator, .paragraphSeparator].contains(scalar.properties.generalCategory) || "\n\r\t".unicodeScalars.contains(scalar) {
                shown.append(" ")
            } else if !isInvisible(scalar) {
                shown.append(scalar)
            }
        }
        // A letter can carry thousands of accents, which are one character: so scalars are bounded too.
        let bounded = String(String.UnicodeScalarView(shown.prefix(max * 4)))
        return bounded.count > max ? bounded.prefix(max - 1) + "…" : bounded
    }

    /// The whole text on one line, with every invisible sign written out as `\u{…}`: two names that differ look different.
    static func visible(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: isInvisible) else { return text }
        return text.unicodeScalars.map { isInvisible($0) ? "\\u{\(String($0.value, radix: 16))}" : String($0) }.joined()
    }

    private static func isInvisible(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .surrogate, .unassigned: true
        default: false
        }
    }
}

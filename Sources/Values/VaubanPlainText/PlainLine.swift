/// Foreign text made safe to display: terminals obey control characters, and users trust what they see.
package enum PlainLine {
    /// Returns one line without control characters, direction overrides and other invisible characters, with single spaces and none at the
    /// ends, of at most `charactersMax` characters and `bytesMax` bytes of UTF-8.
    package static func of(_ text: String, charactersMax: Int, bytesMax: Int = .max) -> String {
        var shown = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            if isSpace(scalar) || "\n\r\t".unicodeScalars.contains(scalar) {
                if let last = shown.last, last != " " { shown.append(" ") }
            } else if !isInvisible(scalar) {
                shown.append(scalar)
            }
        }
        if shown.last == " " { shown.removeLast() }
        // One character can have thousands of combining accents, so limit the scalars too.
        let bounded = String(String.UnicodeScalarView(shown.prefix(charactersMax * 4)))
        let isCut = bounded.count > charactersMax || bounded.utf8.count > bytesMax
        guard isCut else { return bounded }
        var cut = String.UnicodeScalarView(bounded.prefix(charactersMax - 1).unicodeScalars)
        var bytes = String(cut).utf8.count
        while bytes > bytesMax - ellipsis.utf8.count, let last = cut.popLast() { bytes -= UTF8.width(last) }
        return String(cut) + ellipsis
    }

    private static let ellipsis = "…"

    package static func isSpace(_ scalar: Unicode.Scalar) -> Bool {
        [.spaceSeparator, .lineSeparator, .paragraphSeparator].contains(scalar.properties.generalCategory)
    }

    package static func isInvisible(_ scalar: Unicode.Scalar) -> Bool {
        // A fast path: nearly all text is plain ASCII.
        if (0x20...0x7E).contains(scalar.value) { return false }
        // The fillers and the blank braille cell count as letters and symbols, but look like spaces.
        if scalar.properties.isDefaultIgnorableCodePoint || scalar.value == 0x2800 { return true }
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .surrogate, .unassigned: return true
        default: return false
        }
    }
}

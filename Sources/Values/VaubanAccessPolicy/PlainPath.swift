extension PlainLine {
    /// A path in full where it is short, otherwise its beginning and its end, with every invisible sign and every unusual
    /// space written out as `\u{…}`: two paths that differ look different, and whoever chose one must not push what names
    /// them off the screen.
    package static func path(_ path: String, charactersMax: Int) -> String {
        var text = ""
        var wasSpace = false
        for scalar in path.unicodeScalars {
            let isPlain = !isInvisible(scalar) && !(isSpace(scalar) && (wasSpace || scalar != " "))
            text += isPlain ? String(scalar) : "\\u{\(String(scalar.value, radix: 16))}"
            wasSpace = isSpace(scalar)
        }
        // Scalars and not characters: a letter can carry any number of accents.
        let scalars = text.unicodeScalars
        guard scalars.count > charactersMax else { return text }
        let head = String.UnicodeScalarView(scalars.prefix(charactersMax / 3))
        let tail = String.UnicodeScalarView(scalars.suffix(charactersMax - charactersMax / 3 - 1))
        return String(head) + "…" + String(tail)
    }
}

extension PlainLine {
    /// Returns a path in full if it is short, otherwise its beginning and end. Characters that are invisible, unusual spaces,
    /// right-to-left, or combining are written as `\u{…}`: two paths that differ look different, each reads in the order of its names, and
    /// a program that chose a path cannot push the decisive part off the screen.
    package static func path(_ path: String, charactersMax: Int) -> String { line(path, charactersMax, keepsDirection: false) }

    /// Returns an item's name in the same way, but in any script, since it is shown on its own line.
    package static func name(_ name: String, charactersMax: Int) -> String { line(name, charactersMax, keepsDirection: true) }

    /// Returns the text, or its beginning and end, in at most `bytesMax` bytes. Cuts between scalars, since one character can have any
    /// number of accents and must not displace everything before it.
    package static func bothEnds(_ text: String, bytesMax: Int) -> String {
        guard text.utf8.count > bytesMax else { return text }
        let room = bytesMax - "…".utf8.count
        func take(_ scalars: some Sequence<Unicode.Scalar>, _ bytesMax: Int) -> (scalars: [Unicode.Scalar], bytes: Int) {
            var taken: [Unicode.Scalar] = []
            var bytes = 0
            for scalar in scalars {
                guard bytes + UTF8.width(scalar) <= bytesMax else { break }
                bytes += UTF8.width(scalar)
                taken.append(scalar)
            }
            return (taken, bytes)
        }
        let head = take(text.unicodeScalars, room / 3)
        let tail = take(text.unicodeScalars.reversed(), room - head.bytes)
        var view = String.UnicodeScalarView(head.scalars)
        view.append("…")
        view.append(contentsOf: tail.scalars.reversed())
        return String(view)
    }

    private static func line(_ path: String, _ charactersMax: Int, keepsDirection: Bool) -> String {
        var text = ""
        var last: Unicode.Scalar = "/"
        for scalar in path.unicodeScalars {
            let isDoubleSpace = isSpace(scalar) && (isSpace(last) || scalar != " ")
            // A combining accent on a plain letter must not look like the precomposed letter; on a slash it would hide it.
            let isLooseMark = isMark(scalar) && last.isASCII
            let isPlain = !isInvisible(scalar) && (keepsDirection || !isRightToLeft(scalar)) && !isDoubleSpace && !isLooseMark
            text += isPlain ? String(scalar) : "\\u{\(String(scalar.value, radix: 16))}"
            last = scalar
        }
        // Scalars, not characters: a letter can have any number of accents.
        let scalars = text.unicodeScalars
        guard scalars.count > charactersMax else { return text }
        let head = String.UnicodeScalarView(scalars.prefix(charactersMax / 3))
        let tail = String.UnicodeScalarView(scalars.suffix(charactersMax - charactersMax / 3 - 1))
        return String(head) + "…" + String(tail)
    }

    private static func isMark(_ scalar: Unicode.Scalar) -> Bool {
        [.nonspacingMark, .enclosingMark, .spacingMark].contains(scalar.properties.generalCategory)
    }

    /// Returns whether a scalar is in a block of right-to-left scripts, next to which a terminal reorders slashes, digits and brackets.
    private static func isRightToLeft(_ scalar: Unicode.Scalar) -> Bool {
        [0x0590...0x08FF, 0xFB1D...0xFDFF, 0xFE70...0xFEFF, 0x1_0800...0x1_0FFF, 0x1_E800...0x1_EFFF].contains { $0.contains(scalar.value) }
    }
}

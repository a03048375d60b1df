/// Swift source without its comments and without the contents of its string literals, line by line, so that a rule about code does not
/// match prose. Code in string interpolations remains. It does not know regular expression literals; a quotation mark in one hides at most
/// the rest of its line.
struct SwiftText {
    /// A string literal: the line on which it begins, and its text with `…` for each interpolation and a space for each escape.
    struct Literal {
        let line: Int
        let text: String
    }

    let codeLines: [String]
    let literals: [Literal]

    init(_ source: String) {
        var scanner = Scanner(bytes: Array(source.utf8))
        scanner.scan()
        literals = scanner.literals.map { Literal(line: $0.line, text: String(decoding: $0.text, as: UTF8.self)) }
        codeLines = String(decoding: scanner.code, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    }

    /// The modules that the source imports, with any access level, and in any branch of an `#if`.
    var imports: Set<String> {
        var modules: Set<String> = []
        for line in codeLines where line.contains("import") {
            for statement in line.split(separator: ";") {
                if let match = statement.wholeMatch(of: Self.importStatement) { modules.insert(String(match.1)) }
            }
        }
        return modules
    }

    // A regular expression is not Sendable, so it is made where it is used.
    private static var importStatement: Regex<(Substring, Substring)> {
        #/
        \s* (?:@\w+(?:\([^)]*\))?\s*)*
        (?:(?:public|package|internal|fileprivate|private|nonisolated)\s+)?
        import\s+
        (?:(?:struct|class|enum|protocol|typealias|func|let|var|macro|actor)\s+)?
        `?(\w+)`? (?:\..*)? \s*
        /#
    }
}

private struct Scanner {
    let bytes: [UInt8]
    var code: [UInt8] = []
    var literals: [(line: Int, text: [UInt8])] = []
    private var position = 0
    private var line = 1

    init(bytes: [UInt8]) {
        self.bytes = bytes
        code.reserveCapacity(bytes.count)
    }

    mutating func scan() { scanCode(untilClosingParenthesis: false) }

    /// Copies code; in an interpolation it ends at the closing parenthesis.
    private mutating func scanCode(untilClosingParenthesis: Bool) {
        var depth = 0
        while position < bytes.count {
            let hashes = count(of: "#", at: position)
            if starts(with: "//") {
                while position < bytes.count, bytes[position] != newline { position += 1 }
            } else if starts(with: "/*") {
                skipBlockComment()
            } else if byte(at: position + hashes) == UInt8(ascii: "\"") {
                scanString(hashes: hashes)
            } else if hashes > 0 {
                copy(hashes)
            } else {
                if bytes[position] == UInt8(ascii: "(") { depth += 1 }
                if bytes[position] == UInt8(ascii: ")") {
                    if depth == 0, untilClosingParenthesis { return }
                    depth -= 1
                }
                copy(1)
            }
        }
    }

    private mutating func skipBlockComment() {
        // Block comments nest in Swift.
        var depth = 0
        repeat {
            if starts(with: "/*") {
                depth += 1
                position += 2
            } else if starts(with: "*/") {
                depth -= 1
                position += 2
            } else {
                if bytes[position] == newline { endLine() }
                position += 1
            }
        } while depth > 0 && position < bytes.count
        code.append(UInt8(ascii: " "))
    }

    private mutating func scanString(hashes: Int) {
        let quotes = starts(with: "\"\"\"", at: position + hashes) ? 3 : 1
        let start = line
        var text: [UInt8] = []
        defer { literals.append((start, text)) }
        copy(hashes + quotes)
        while position < bytes.count {
            if bytes[position] == newline {
                endLine()
                text.append(newline)
                position += 1
                // A single-line literal cannot be open any more.
                if quotes == 1 { return }
            } else if bytes[position] == UInt8(ascii: "\\"), count(of: "#", at: position + 1) >= hashes {
                position += 1 + hashes
                if byte(at: position) == UInt8(ascii: "(") {
                    copy(1)
                    scanCode(untilClosingParenthesis: true)
                    if position < bytes.count { copy(1) }
                    text += Array("…".utf8)
                } else if byte(at: position) != newline {
                    position += 1
                    text.append(UInt8(ascii: " "))
                }
            } else if starts(with: quotes == 3 ? "\"\"\"" : "\""), count(of: "#", at: position + quotes) >= hashes {
                copy(quotes + hashes)
                return
            } else {
                text.append(bytes[position])
                position += 1
            }
        }
    }

    private let newline = UInt8(ascii: "\n")

    private func byte(at index: Int) -> UInt8? { index < bytes.count ? bytes[index] : nil }

    private func starts(with text: StaticString, at index: Int? = nil) -> Bool {
        let start = index ?? position
        guard start + text.utf8CodeUnitCount <= bytes.count else { return false }
        return (0..<text.utf8CodeUnitCount).allSatisfy { bytes[start + $0] == text.utf8Start[$0] }
    }

    private func count(of character: Unicode.Scalar, at index: Int) -> Int {
        var end = index
        while byte(at: end) == UInt8(ascii: character) { end += 1 }
        return end - index
    }

    private mutating func endLine() {
        code.append(newline)
        line += 1
    }

    private mutating func copy(_ length: Int) {
        let copied = bytes[position..<min(position + length, bytes.count)]
        code.append(contentsOf: copied)
        for byte in copied where byte == newline { line += 1 }
        position += length
    }
}

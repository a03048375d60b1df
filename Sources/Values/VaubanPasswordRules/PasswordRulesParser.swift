/// A parser for the language of password rules. It skips, stops and counts (in UTF-16 code units) exactly as Apple's reference does.
struct PasswordRulesParser {
    enum Rule {
        case required(PasswordCharacters)
        case allowed(PasswordCharacters)
        case maxConsecutive(Int)
        case lengthMin(Int)
        case lengthMax(Int)
    }

    private(set) var faults: [PasswordRulesError] = []
    private let text: [UInt16]
    private var position = 0
    /// A bound that no site exceeds; the reference has none.
    private static let numberMax = 1_000_000_000

    init(_ text: String) { self.text = Array(text.utf16) }

    /// Returns the rules up to the first position where none begins; nil if anything other than a semicolon follows a rule.
    mutating func rules() -> [Rule]? {
        var rules: [Rule] = []
        skipWhitespace()
        while let first = current {
            guard Self.isIdentifier(first) else {
                note(.noRule)
                return rules
            }
            if let rule = rule() { rules.append(rule) }
            skipWhitespace()
            guard let next = current else { break }
            guard next == Self.semicolon else {
                note(.noSeparator)
                return nil
            }
            position += 1
            skipWhitespace()
        }
        return rules
    }

    /// Returns the rule at this position; nil if its value is missing or cannot be parsed.
    private mutating func rule() -> Rule? {
        let start = position
        let name = identifier()
        guard ["required", "allowed", "max-consecutive", "minlength", "maxlength"].contains(name) else {
            position = start
            note(.unknownRule(name))
            return nil
        }
        guard current == UInt16(UInt8(ascii: ":")) else {
            note(.noColon(name))
            return nil
        }
        position += 1
        skipWhitespace()
        guard let first = current, first != Self.semicolon else { return nil }
        switch name {
        case "required": return classes().map(Rule.required)
        case "allowed": return classes().map(Rule.allowed)
        case "max-consecutive": return number().map(Rule.maxConsecutive)
        case "minlength": return number().map(Rule.lengthMin)
        default: return number().map(Rule.lengthMax)
        }
    }

    /// Returns the union of the classes at this position.
    private mutating func classes() -> PasswordCharacters? {
        var all = PasswordCharacters()
        while true {
            if let first = current, Self.isIdentifier(first) {
                let start = position
                let name = identifier()
                guard let named = Self.named(name) else {
                    position = start
                    note(.unknownClass(name))
                    return nil
                }
                all = all.union(named)
            } else if current == Self.openingBracket {
                if let custom = bracketed() { all = all.union(custom) }
            } else {
                note(.noClass)
                return nil
            }
            skipWhitespace()
            guard let next = current, next != Self.semicolon else { return all }
            guard next == UInt16(UInt8(ascii: ",")) else {
                note(.noSeparator)
                return nil
            }
            position += 1
            skipWhitespace()
            guard current != nil else {
                note(.noClass)
                return nil
            }
        }
    }

    /// Returns the printable characters up to the closing bracket. If the set ends with `]]`, it contains the bracket itself.
    private mutating func bracketed() -> PasswordCharacters? {
        let opening = position
        position += 1
        let start = position
        var found: [UInt8] = []
        while let character = current, character != Self.closingBracket {
            if character == UInt16(UInt8(ascii: "-")), position > start {
                note(.hyphenInside)
            } else if PasswordCharacters.isPrintable(character) {
                found.append(UInt8(character))
            }
            position += 1
        }
        guard current != nil else {
            note(.openBracket, at: opening)
            return nil
        }
        position += 1
        guard let next = current else { return PasswordCharacters(found) }
        if next == Self.closingBracket {
            position += 1
            return PasswordCharacters(found + [UInt8(ascii: "]")])
        }
        if !Self.isWhitespace(next), next != UInt16(UInt8(ascii: ",")), next != Self.semicolon { note(.bracketInside, at: position - 1) }
        return PasswordCharacters(found)
    }

    /// Returns a number above 0; nil for 0, which has no meaning.
    private mutating func number() -> Int? {
        let start = position
        var number = 0
        while let digit = current, (0x30...0x39).contains(digit) {
            number = min(number * 10 + Int(digit - 0x30), Self.numberMax)
            position += 1
        }
        guard position > start, current == nil || current == Self.semicolon else {
            note(.noNumber, at: start)
            return nil
        }
        return number > 0 ? number : nil
    }

    private mutating func identifier() -> String {
        let start = position
        while let character = current, Self.isIdentifier(character) { position += 1 }
        return String(decoding: text[start..<position], as: UTF16.self)
    }

    private mutating func skipWhitespace() {
        while let character = current, Self.isWhitespace(character) { position += 1 }
    }

    private mutating func note(_ kind: PasswordRulesError.Kind, at place: Int? = nil) {
        let before = String(decoding: text[..<(place ?? position)], as: UTF16.self)
        faults.append(PasswordRulesError(position: before.count + 1, kind: kind))
    }

    private var current: UInt16? { position < text.count ? text[position] : nil }

    private static let semicolon = UInt16(UInt8(ascii: ";"))
    private static let openingBracket = UInt16(UInt8(ascii: "["))
    private static let closingBracket = UInt16(UInt8(ascii: "]"))

    private static func isIdentifier(_ character: UInt16) -> Bool {
        (0x61...0x7A).contains(character) || (0x41...0x5A).contains(character) || character == 0x2D
    }

    private static func isWhitespace(_ character: UInt16) -> Bool { [0x20, 0x0C, 0x0A, 0x0D, 0x09].contains(character) }

    /// Returns the class of this name. Ignores case, unlike the names of rules.
    private static func named(_ name: String) -> PasswordCharacters? {
        switch name.lowercased() {
        case "upper": .upper
        case "lower": .lower
        case "digit": .digit
        case "special": .special
        case "ascii-printable", "unicode": .asciiPrintable
        default: nil
        }
    }
}

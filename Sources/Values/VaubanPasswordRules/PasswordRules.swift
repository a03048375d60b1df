/// The demands of a site on passwords, in the language of Apple's `passwordrules` attribute (developer.apple.com/password-rules).
///
/// Parses a text as leniently as Apple's reference does (`PasswordRulesParser.js` in apple/password-manager-resources): skips what it
/// cannot parse, and lists the places in `faults`. Rules that a user types are refused if there is a fault.
package struct PasswordRules: Equatable, Sendable {
    /// Sets of characters, each of which must have one in the password.
    package internal(set) var required: [PasswordCharacters] = []
    /// All characters that the password may have, including those of `required`. `unicode` counts as the printable ASCII characters.
    package internal(set) var allowed = PasswordCharacters()
    /// The largest number of times that a character may occur in a row.
    package internal(set) var maxConsecutive: Int?
    package internal(set) var lengthMin: Int?
    package internal(set) var lengthMax: Int?
    /// The places where the text violates the language, in order.
    package internal(set) var faults: [PasswordRulesError] = []

    package init(_ text: String) {
        var parser = PasswordRulesParser(text)
        for rule in parser.rules() ?? [] { add(rule) }
        if allowed.isEmpty { allowed = .asciiPrintable }
        faults = parser.faults
    }

    /// Returns the rules with further limits of the length, such as those of a field. Of several limits, the strictest applies.
    package func limited(lengthMin: Int?, lengthMax: Int?) -> PasswordRules {
        var rules = self
        if let lengthMin { rules.add(.lengthMin(lengthMin)) }
        if let lengthMax { rules.add(.lengthMax(lengthMax)) }
        return rules
    }

    /// Adds a rule. If there are several limits, the strictest applies.
    private mutating func add(_ rule: PasswordRulesParser.Rule) {
        switch rule {
        case .required(let characters):
            required.append(characters)
            allowed = allowed.union(characters)
        case .allowed(let characters): allowed = allowed.union(characters)
        case .maxConsecutive(let number): maxConsecutive = min(number, maxConsecutive ?? number)
        case .lengthMin(let number): lengthMin = max(number, lengthMin ?? number)
        case .lengthMax(let number): lengthMax = min(number, lengthMax ?? number)
        }
    }
}

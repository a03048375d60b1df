/// What a site demands of a password, in the language of Apple's `passwordrules` attribute (developer.apple.com/password-rules).
///
/// Reads a text as leniently as Apple's reference does (`PasswordRulesParser.js` in apple/password-manager-resources): what it cannot read
/// is passed over, and `faults` says where. Rules that a user types are refused if there is a fault.
package struct PasswordRules: Equatable, Sendable {
    /// Sets of characters, each of which must have one in the password.
    package internal(set) var required: [PasswordCharacters] = []
    /// All characters that the password may have, those of `required` among them. `unicode` counts as the printable characters of ASCII.
    package internal(set) var allowed = PasswordCharacters()
    /// How often the same character may follow itself.
    package internal(set) var maxConsecutive: Int?
    package internal(set) var lengthMin: Int?
    package internal(set) var lengthMax: Int?
    /// Where the text does not follow the language, in its order.
    package internal(set) var faults: [PasswordRulesFault] = []

    package init(_ text: String) {
        var parser = PasswordRulesParser(text)
        for rule in parser.rules() ?? [] { add(rule) }
        if allowed.isEmpty { allowed = .asciiPrintable }
        faults = parser.faults
    }

    /// Of several limits the strictest counts.
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

/// A place where a text violates the language of password rules. The author of the rules, the user or a website, must correct it.
package struct PasswordRulesError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The number of the character, from 1.
    package let position: Int
    package let kind: Kind
    /// The site whose rules these are, in a user's file of rules.
    package private(set) var site: String?

    init(position: Int, kind: Kind) {
        self.position = position
        self.kind = kind
    }

    /// Returns the same fault, in the rules of a site.
    func of(site: String) -> PasswordRulesError {
        var fault = self
        fault.site = site
        return fault
    }

    package enum Kind: Hashable, Sendable {
        case noRule
        case unknownRule(String)
        case noColon(String)
        case noClass
        case unknownClass(String)
        case noSeparator
        case noNumber
        case openBracket
        case hyphenInside
        case bracketInside
    }

    package var description: String {
        site.map { "the rules of \($0): at character \(position): \(reason)" } ?? "At character \(position): \(reason)"
    }

    private var reason: String {
        switch kind {
        case .noRule: "a rule begins with its name: \(Self.names)"
        case .unknownRule(let name): "no rule is called “\(name)”; the rules are \(Self.names)"
        case .noColon(let name): "“\(name)” needs a colon and what it demands, such as \(name): \(Self.example(for: name))"
        case .noClass: "a class of characters is missing; the classes are \(Self.classes)"
        case .unknownClass(let name): "no class of characters is called “\(name)”; the classes are \(Self.classes)"
        case .noSeparator: "a comma must come before another class, and a semicolon before the next rule"
        case .noNumber: "this rule takes a number, followed directly by a semicolon or the end"
        case .openBracket: "the brackets need a ] at their end"
        case .hyphenInside: "a hyphen must be the first character in brackets"
        case .bracketInside: "a ] must be the last character in brackets: end them with ]]"
        }
    }

    private static let names = "required, allowed, max-consecutive, minlength and maxlength"
    private static let classes = "upper, lower, digit, special, ascii-printable, unicode, and characters in brackets such as [-_.]"

    private static func example(for name: String) -> String { ["required", "allowed"].contains(name) ? "lower, digit" : "12" }
}

import ArgumentParser
package import VaubanPasswordRules

/// A class of characters in a generated secret.
package enum CharacterClass: String, CaseIterable {
    case lower, upper, digits, symbols

    /// The characters of the class. The symbols exclude quotation marks, the backslash, the tilde and the space, which many forms and
    /// shells interpret.
    package var characters: PasswordCharacters {
        switch self {
        case .lower: .lower
        case .upper: .upper
        case .digits: .digit
        case .symbols: PasswordCharacters("!#$%&()*+,-./:;<=>?@[]^_{|}".utf8)
        }
    }
}

/// One or more classes, as an option names them: `lower,digits`.
package struct CharacterClasses: ExpressibleByArgument {
    package let all: [CharacterClass]

    package static let everything = CharacterClasses(all: CharacterClass.allCases)

    private init(all: [CharacterClass]) { self.all = all }

    package init?(argument: String) {
        let named = argument.split(separator: ",", omittingEmptySubsequences: false).map { CharacterClass(rawValue: String($0)) }
        let known = named.compactMap { $0 }
        guard !known.isEmpty, known.count == named.count, Set(known).count == known.count else { return nil }
        all = known
    }

    package static var allValueStrings: [String] { CharacterClass.allCases.map(\.rawValue) }
}

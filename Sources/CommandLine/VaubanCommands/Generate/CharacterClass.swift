import ArgumentParser
package import VaubanPasswordRules

/// A kind of characters that a generated secret has.
package enum CharacterClass: String, CaseIterable {
    case lower, upper, digits, symbols

    /// Its characters. Quotation marks, the backslash, the tilde and the space are not among the symbols: too many forms and shells
    /// take them for something else.
    package var characters: PasswordCharacters {
        switch self {
        case .lower: .lower
        case .upper: .upper
        case .digits: .digit
        case .symbols: PasswordCharacters("!#$%&()*+,-./:;<=>?@[]^_{|}".utf8)
        }
    }
}

/// One or more of them, as an option names them: `lower,digits`.
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

import VaubanPlainText
import VaubanUserModel

/// The words of a question for consent, and of its answers.
enum ConsentText {
    private static let textMax = 240

    static func purpose(_ consent: Consent) -> String {
        switch consent.purpose {
        case .readItem: "to read an item that another program keeps"
        case .changeItem: "to change an item that another program keeps"
        case .deleteItem: "to delete an item that another program keeps"
        case .acceptBuild: "to be taken for a new build of a program that keeps items here"
        case .listOwners: "to see what every program keeps, without its secrets"
        case .changePermission: "to change what programs may read"
        case .moveItems: "to give items to another owner"
        case .restore: "to put an earlier copy of your keychain in the place of the damaged one; what was deleted since comes back"
        }
    }

    static func particulars(_ consent: Consent) -> [String] {
        let lines = [
            ("Item:", consent.item.map { PlainLine.name($0, charactersMax: textMax) }),
            ("Owner:", consent.owner.map { PlainLine.path($0, charactersMax: textMax) }),
            ("Program:", consent.program.map { PlainLine.path($0, charactersMax: textMax) }),
        ]
        return lines.compactMap { name, text in
            guard let shown = text, !shown.isEmpty else { return nil }
            return "  \(name)\(String(repeating: " ", count: max(11 - name.count, 1)))\(shown)"
        }
    }

    /// What can be chosen, as letters; nil where the only answers are yes and no.
    static func choices(_ consent: Consent) -> String? {
        guard consent.offered != .once else { return nil }
        let words = ConsentChoice.allCases.filter { consent.offered.contains($0) }.map(word)
        return "Let it: \(words.joined(separator: ", ")), [n]o: "
    }

    private static func word(_ choice: ConsentChoice) -> String {
        switch choice {
        case .once: "[o]nce"
        case .untilLock: "until the keychain [l]ocks"
        case .always: "[a]lways"
        }
    }

    /// The choice that a letter stands for; nil for every other key, which is a no.
    static func choice(_ letter: UInt8?, of consent: Consent) -> ConsentChoice? {
        let choice: ConsentChoice? =
            switch letter {
            case UInt8(ascii: "o"), UInt8(ascii: "O"): .once
            case UInt8(ascii: "l"), UInt8(ascii: "L"): .untilLock
            case UInt8(ascii: "a"), UInt8(ascii: "A"): .always
            default: nil
            }
        return choice.flatMap { consent.offered.contains($0) ? $0 : nil }
    }
}

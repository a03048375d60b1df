import ArgumentParser
import VaubanKeychainModel

/// What a shell offers for the name of an item: the names that the keychain has, as far as it tells them without asking anybody.
enum ItemCompletion {
    static let kind = CompletionKind.custom { words, index, typed in
        let typed = typed.drop { $0 == "\"" || $0 == "'" }
        return names().filter { $0.hasPrefix(typed) }
    }

    /// Nothing where the keychain is closed or does not answer: whoever presses a key must not be asked for a passcode.
    private static func names() -> [String] {
        guard let session = try? Session(CommandUser(mayBeAsked: false)), let selection = try? ItemSelection.parse([]),
            let records = try? session.matches(selection)
        else { return [] }
        return Set(records.map(\.name)).filter(isPlain).sorted()
    }

    /// Shells read some of what they are offered as commands, and anybody may have chosen a name: only those without any sign of
    /// a shell are offered.
    private static func isPlain(_ name: String) -> Bool {
        name.unicodeScalars.allSatisfy { scalar in
            scalar.properties.isAlphabetic || scalar.properties.numericType != nil || " ._-/@:+,=%".unicodeScalars.contains(scalar)
        }
    }
}

import ArgumentParser
import VaubanKeychainModel

/// Shell completion of item names, from the names that the keychain returns without a prompt.
enum ItemCompletion {
    static let kind = CompletionKind.custom { words, index, typed in
        let typed = typed.drop { $0 == "\"" || $0 == "'" }
        return names().filter { $0.hasPrefix(typed) }
    }

    /// Returns nothing if the keychain is locked or does not answer: pressing a key must not prompt for a passcode.
    private static func names() -> [String] {
        guard let client = try? ServiceClient(CommandUser(mayBePrompted: false)), let selection = try? ItemSelection.parse([]),
            let records = try? client.matches(selection)
        else { return [] }
        return Set(records.map(\.name)).filter(isPlain).sorted()
    }

    /// Whether a name is free of shell metacharacters. Shells interpret some completions as commands, and foreign programs may have chosen
    /// the names.
    private static func isPlain(_ name: String) -> Bool {
        name.unicodeScalars.allSatisfy { scalar in
            scalar.properties.isAlphabetic || scalar.properties.numericType != nil || " ._-/@:+,=%".unicodeScalars.contains(scalar)
        }
    }
}

import ArgumentParser
import VaubanKeychainModel
import VaubanKeychainWire

/// Shell completion of item names, from the names that the keychain returns without a prompt.
enum ItemCompletion {
    static let kind = CompletionKind.custom { words, index, typed in
        let typed = typed.drop { $0 == "\"" || $0 == "'" }
        return names(for: words.dropFirst().prefix(2).joined(separator: " ")).filter { $0.hasPrefix(typed) }
    }

    /// Returns nothing if the keychain is locked or does not answer: pressing a key must not prompt for a passcode.
    private static func names(for command: String) -> [String] {
        guard let client = try? ServiceClient(CommandUser(mayBePrompted: false)), let records = try? records(for: command, client) else {
            return []
        }
        return Set(records.map(\.name)).filter(isPlain).sorted()
    }

    private static func records(for command: String, _ client: ServiceClient) throws -> [ItemRecord] {
        let all = try ItemSelection.parse([])
        switch command {
        case "code get", "code show": return try CodeKeyring(client: client).records().map(CodeKeyring.namedAsItsPassword)
        case _ where command.hasPrefix("undelete"): return try client.deletedItems(all, ofAllOwners: false).map(\.record)
        default: return try client.matches(all)
        }
    }

    /// Whether a name is free of shell metacharacters. Shells interpret some completions as commands, and foreign programs may have chosen
    /// the names.
    private static func isPlain(_ name: String) -> Bool {
        name.unicodeScalars.allSatisfy { scalar in
            scalar.properties.isAlphabetic || scalar.properties.numericType != nil || " ._-/@:+,=%".unicodeScalars.contains(scalar)
        }
    }
}

/// Verbs of other managers (pass, gopass, op, bw, security, secret-tool, keepassxc-cli, ssh-agent, a shell), and typing errors in ours.
/// Manual/coming-from.md lists them by program.
package enum FamiliarVerbs {
    private static let verbs: [String: String] = [
        "rm": "delete", "remove": "delete", "del": "delete", "clear": "delete", "delete-generic-password": "delete",
        "delete-internet-password": "delete", "ls": "list", "dump-keychain": "list", "vault": "list", "item": "show", "insert": "set",
        "store": "set", "put": "set", "new": "add", "create": "add", "add-generic-password": "set", "add-internet-password": "set",
        "lookup": "get", "read": "get", "cat": "get", "find-generic-password": "get", "find-internet-password": "get", "clip": "get --copy",
        "search": "find", "grep": "find", "locate": "find", "mv": "rename", "cp": "copy", "info": "show", "document": "get",
        "init": "setup", "create-keychain": "setup", "db-create": "setup", "passwd": "passcode change",
        "set-keychain-password": "passcode change", "lock-keychain": "lock", "signout": "lock", "logout": "lock",
        "unlock-keychain": "unlock", "signin": "unlock", "whoami": "status", "show-keychain-info": "status", "list-keychains": "status",
        "default-keychain": "status", "config": "settings", "set-keychain-settings": "settings", "check": "doctor", "verify": "doctor",
        "fsck": "doctor", "start": "serve", "trash": "list --deleted", "otp": "code get", "totp": "code get", "pwgen": "generate",
        "diceware": "generate --words 6", "env": "run", "exec": "run", "ssh-add": "ssh import", "ssh-keygen": "ssh new", "sign": "codesign",
        "clone": "sync join", "audit": "log", "account": "setup", "git": "sync",
    ]

    /// Returns advice for a first argument that is not a verb, or nil if it is one or an option. With `command`, the names are those of its
    /// subcommands.
    package static func advice(for word: String?, among names: [String], of command: String? = nil) -> String? {
        guard let word, !word.hasPrefix("-") else { return nil }
        guard word != "help", !names.contains(word) else { return nil }
        let prefix = command.map { "\($0) " } ?? ""
        let shown = prefix + SafeText.line(word, max: 40)
        let familiar = verbs[word.lowercased()].flatMap { command == nil || names.contains($0) ? [$0] : nil }
        let meant = familiar ?? Similarity.nearest(to: word, among: names)
        guard !meant.isEmpty else { return "No command \(shown). To list commands: vauban help\(command.map { " \($0)" } ?? "")" }
        return "No command \(shown). Did you mean \(meant.map { "vauban \(prefix)\($0)" }.joined(separator: ", or "))?"
    }
}

/// The similarity of two words as typed.
package enum Similarity {
    private static let countMax = 3

    /// Returns the words that differ from one in few letters, the most similar first, regardless of case.
    package static func nearest(to word: String, among words: some Sequence<String>) -> [String] {
        let wanted = Array(word.lowercased())
        let slips = max(1, wanted.count / 4)
        var found: [(slips: Int, word: String)] = []
        for candidate in words {
            let letters = Array(candidate.lowercased())
            guard abs(letters.count - wanted.count) <= slips else { continue }
            let distance = distance(wanted, letters)
            if distance <= slips { found.append((distance, candidate)) }
        }
        return found.sorted { ($0.slips, $0.word) < ($1.slips, $1.word) }.prefix(countMax).map(\.word)
    }

    /// Returns the number of letters added, removed, changed or swapped with their neighbor.
    private static func distance(_ first: [Character], _ second: [Character]) -> Int {
        var before: [Int] = []
        var last = Array(0...second.count)
        for (row, letter) in first.enumerated() {
            var next = [row + 1] + Array(repeating: 0, count: second.count)
            for (column, other) in second.enumerated() {
                var least = min(last[column] + (letter == other ? 0 : 1), last[column + 1] + 1, next[column] + 1)
                if row > 0, column > 0, letter == second[column - 1], first[row - 1] == other { least = min(least, before[column - 1] + 1) }
                next[column + 1] = least
            }
            (before, last) = (last, next)
        }
        return last[second.count]
    }
}

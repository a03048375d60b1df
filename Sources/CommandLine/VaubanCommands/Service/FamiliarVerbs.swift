/// Verbs of other managers (pass, security, secret-tool, a shell), and typing errors in ours.
package enum FamiliarVerbs {
    private static let verbs: [String: String] = [
        "rm": "delete", "remove": "delete", "del": "delete", "clear": "delete", "delete-generic-password": "delete",
        "delete-internet-password": "delete", "ls": "list", "dump-keychain": "list", "insert": "set", "store": "set", "put": "set",
        "new": "add", "create": "add", "add-generic-password": "set", "add-internet-password": "set", "lookup": "get",
        "read": "get", "cat": "get", "find-generic-password": "get", "find-internet-password": "get", "search": "find", "grep": "find",
        "mv": "rename", "cp": "copy", "info": "show", "init": "setup", "passwd": "passcode change", "lock-keychain": "lock",
        "unlock-keychain": "unlock", "check": "doctor", "verify": "doctor", "backup": "export", "start": "serve",
    ]

    /// Returns advice for a first argument that is not a verb, or nil if it is one or an option.
    package static func advice(for word: String?, among names: [String]) -> String? {
        guard let word, !word.hasPrefix("-") else { return nil }
        guard word != "help", !names.contains(word) else { return nil }
        let shown = SafeText.line(word, max: 40)
        let meant = verbs[word.lowercased()].map { [$0] } ?? Similarity.nearest(to: word, among: names)
        guard !meant.isEmpty else { return "No command \(shown). To list commands: vauban help" }
        return "No command \(shown). Did you mean \(meant.map { "vauban \($0)" }.joined(separator: ", or "))?"
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

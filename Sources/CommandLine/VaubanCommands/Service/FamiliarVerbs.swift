/// Verbs of other managers (pass, gopass, op, bw, security, secret-tool, keyring, keepassxc-cli, ssh-agent, a shell), also typed after the
/// name of their program, names of programs alone, and typing errors in ours. Manual/coming-from.md lists them by program.
package enum FamiliarVerbs {
    private static let verbs: [String: String] = [
        "rm": "delete", "remove": "delete", "del": "delete", "clear": "delete", "delete-generic-password": "delete",
        "delete-internet-password": "delete", "ls": "list", "dump-keychain": "list", "vault": "list", "item": "show", "insert": "set",
        "store": "set", "put": "set", "new": "add", "create": "add", "add-generic-password": "set", "add-internet-password": "set",
        "lookup": "get", "read": "get", "cat": "get", "find-generic-password": "get", "find-internet-password": "get", "clip": "get --copy",
        "search": "find", "grep": "find", "locate": "find", "mv": "rename", "cp": "copy", "info": "show", "document": "get",
        "init": "setup", "create-keychain": "setup", "db-create": "setup", "passwd": "passcode change",
        "set-keychain-password": "passcode change", "lock-keychain": "lock", "signout": "lock", "logout": "lock",
        "unlock-keychain": "unlock", "signin": "unlock", "open": "unlock", "whoami": "status", "show-keychain-info": "status",
        "list-keychains": "status", "default-keychain": "status", "config": "settings", "set-keychain-settings": "settings",
        "check": "doctor", "verify": "doctor", "version": "--version",
        "fsck": "doctor", "start": "serve", "trash": "list --deleted", "otp": "code get", "totp": "code get", "pwgen": "generate",
        "diceware": "generate --words 6", "env": "run", "exec": "run", "ssh-add": "ssh import", "ssh-keygen": "ssh new", "sign": "codesign",
        "clone": "sync join", "audit": "log", "account": "setup", "git": "sync", "extract": "export",
        "seahorse": "list", "gnome-keyring-daemon": "enable secret-service", "secretive": "ssh new", "agent": "ssh enable",
        "fingerprint": "finger enroll", "touchid": "finger enroll", "biometric": "finger enroll", "keychain": "list",
    ]

    /// Commands of two words, which mean something else than the first word alone, or than ours of the same name.
    private static let pairs: [String: String] = [
        "item get": "show", "item list": "list", "item create": "set", "item edit": "edit", "item delete": "delete", "vault list": "list",
        "document get": "get", "document create": "set", "op login": "unlock", "bw login": "unlock", "pass edit": "update",
        "gopass edit": "update", "ssh-add -l": "ssh list", "ssh-add -L": "ssh list --public", "ssh-add -d": "ssh delete",
        "ssh-add -D": "ssh delete",
        "ssh-add -x": "lock", "ssh-add -X": "unlock", "git push": "sync", "git pull": "sync", "find-generic-password -w": "get",
        "find-internet-password -w": "get", "pass show": "get", "gopass show": "get", "pass generate": "set --generate",
        "gopass generate": "set --generate", "gnome-keyring-daemon --unlock": "unlock",
    ]

    /// Subcommands that do not exist, and the verb of ours that does their work.
    private static let substitutes: [String: String] = [
        "code delete": "delete otpauth:NAME", "code remove": "delete otpauth:NAME", "code rm": "delete otpauth:NAME",
        "code rename": "rename otpauth:NAME otpauth:NEW", "passcode recover": "recover", "passcode reset": "recover",
        "ssh add": "ssh import", "ssh generate": "ssh new", "enable ssh": "ssh enable", "enable ssh-agent": "ssh enable",
        "disable ssh": "ssh disable", "disable ssh-agent": "ssh disable", "enable kwallet": "enable secret-service --kwallet",
        "disable kwallet": "disable secret-service",
    ]

    /// The most words of a command that are looked up.
    private static let wordsMax = 3

    /// The programs, and the meaning of their name without a known verb: usually the user wants a secret.
    private static let programs: [String: String] = [
        "pass": "get", "gopass": "get", "op": "get", "bw": "get", "security": "get", "secret-tool": "get", "keyring": "get",
        "keepassxc-cli": "get", "lpass": "get", "kwallet-query": "get", "aws-vault": "run", "envchain": "run",
    ]
    /// Those whose first argument is always a verb.
    private static let programsWithVerbs: Set = ["security", "secret-tool", "keyring", "keepassxc-cli", "op", "bw", "lpass"]

    /// Returns advice for a first argument that is not a verb, or nil if it is one or an option.
    ///
    /// - Parameters:
    ///   - rest: The arguments after it.
    ///   - names: The verbs, or with `command` its subcommands.
    package static func advice(
        for word: String?, before rest: [String] = [], among names: [String], of command: String? = nil
    ) -> String? {
        guard let word, !word.hasPrefix("-") else { return nil }
        guard word != "help", !names.contains(word) else { return nil }
        if command == nil, let (count, verb) = meaning(of: ([word] + rest).prefix(wordsMax), among: names), count > 1 {
            // Only words of these tables, and no argument, are repeated.
            return "No command \(([word] + rest.prefix(count - 1)).joined(separator: " ")). Did you mean vauban \(verb)?"
        }
        if command == nil, programsWithVerbs.contains(word.lowercased()), let next = rest.first, !next.hasPrefix("-") {
            // The word is not repeated, since it may be an argument.
            return "No command corresponds to this one of \(word.lowercased()). Those that do: \(ManualPage.comingFrom.path)"
        }
        let prefix = command.map { "\($0) " } ?? ""
        if let verb = substitutes[prefix + word.lowercased()] { return "No command \(prefix)\(word). Did you mean vauban \(verb)?" }
        let shown = prefix + SafeText.line(word, max: 40)
        let known = verbs[word.lowercased()] ?? programs[word.lowercased()]
        let familiar = known.flatMap { command == nil || names.contains($0) ? [$0] : nil }
        let meant = familiar ?? Similarity.nearest(to: word, among: names)
        guard !meant.isEmpty else { return "No command \(shown). To list commands: vauban help\(command.map { " \($0)" } ?? "")" }
        return "No command \(shown). Did you mean \(meant.map { "vauban \(prefix)\($0)" }.joined(separator: ", or "))?"
    }

    /// Returns the verb that the first words mean, and how many words that is; nil if the tables do not contain them.
    private static func meaning(of words: ArraySlice<String>, among names: [String]) -> (count: Int, verb: String)? {
        guard let first = words.first?.lowercased() else { return nil }
        if let next = words.dropFirst().first, let verb = pairs["\(first) \(next)"] { return (2, verb) }
        if let usual = programs[first] {
            let rest = words.dropFirst()
            if let (count, verb) = meaning(of: rest, among: names) { return (count + 1, verb) }
            if let next = rest.first, names.contains(next) { return (2, next) }
            return (1, usual)
        }
        return verbs[first].map { (1, $0) }
    }
}

/// The similarity of two words as typed.
package enum Similarity {
    static let countMax = 3

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

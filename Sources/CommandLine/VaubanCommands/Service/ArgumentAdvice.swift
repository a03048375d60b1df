import ArgumentParser

/// Messages about arguments that a command does not take, where those of the parser would mislead or repeat a secret.
package enum ArgumentAdvice {
    /// The commands that ask for a secret, which a user may have typed as an argument.
    private static let askingForSecrets = [
        ["unlock"], ["recover"], ["passcode"], ["setup"], ["erase"], ["code", "add"], ["sync", "join"],
    ]
    private static let secretOptions = ["-w", "--password", "--secret", "--passcode"]
    private static let whySecret = "A secret is never an argument, since other programs and your shell's history can see it"

    /// Returns a better message than the parser's; nil if there is none.
    static func message(for given: [String], of root: any ParsableCommand.Type, after message: String) -> String? {
        var command = root
        var name = "vauban"
        for word in given {
            guard let next = command.configuration.subcommands.first(where: { $0._commandName == word }) else { break }
            (command, name) = (next, "\(name) \(word)")
        }
        if let surplus = surplusArgument(for: given, named: name, after: message) { return surplus }
        // The parser looks for unknown options last: after the rules of a command, which their values may break.
        guard !["Unknown option", "The value ", "Missing value"].contains(where: { message.hasPrefix($0) }) else { return nil }
        var help = root.helpMessage(for: command, includeHidden: true)
        if let usual = command.configuration.defaultSubcommand { help += root.helpMessage(for: usual, includeHidden: true) }
        return unknownOption(in: given, known: help).map { "\($0)\nFor its options: \(name) --help" }
    }

    /// Returns the message about a surplus argument of a command that asks for a secret. It does not repeat the argument.
    package static func surplusArgument(for given: [String], named name: String, after message: String) -> String? {
        guard message.hasPrefix("Unexpected argument") || message.contains(" unexpected arguments: "),
            askingForSecrets.contains(where: { given.starts(with: $0) })
        else { return nil }
        return "\(whySecret). If this was one, it was visible: change it. Vauban asks for it: \(name)"
    }

    /// Returns the message about the first option that is not in the help of a command; nil if all are. It repeats no other argument,
    /// since that may be a secret.
    package static func unknownOption(in given: [String], known help: String) -> String? {
        let known = Set(help.matches(of: /-{1,2}[A-Za-z][A-Za-z-]*/).map { String($0.output) })
        for word in given.prefix(while: { $0 != "--" }) {
            guard let match = word.prefixMatch(of: /-{1,2}[A-Za-z][A-Za-z-]*/) else { continue }
            let name = String(match.output)
            // After a single dash there may be several options, or the value of one.
            let option = name.hasPrefix("--") ? name : String(name.prefix(2))
            guard !known.contains(option) else { continue }
            let shown = SafeText.line(option, max: 40)
            if secretOptions.contains(option) {
                return "Unknown option '\(shown)'. \(whySecret). If one was visible, change it; Vauban asks for it, or reads it from a pipe"
            }
            let similar = Similarity.nearest(to: option, among: known.filter { $0.hasPrefix("--") })
            let meant = similar.map { "'\($0)'" }.joined(separator: ", or ")
            return "Unknown option '\(shown)'\(meant.isEmpty ? "" : ". Did you mean \(meant)?")"
        }
        return nil
    }
}

import ArgumentParser
import Foundation
import Glibc
import VaubanKeychainClient
import VaubanLinuxHost
package import VaubanRefusal

/// The exit codes of a command: as for `security`, the low byte of Apple's status if the manual lists it; 64 for usage errors, and 53 for
/// failures that the caller did not cause. There are no other codes (Manual/command-line.md, "Exit codes").
package enum CommandEnd {
    package static let usage: Int32 = 64

    package static func code(of refusal: Refusal) -> Int32 {
        switch (refusal.reason, refusal.status) {
        // Apple has one status for both of these and for a wrong passcode. A new passcode is a value, and a reader may be missing.
        case (.passcodeTooWeak, _): usage
        case (.biometryNotAvailable, _): 53
        case (_, -25308): 36
        case (_, -25300): 44
        case (_, -25299): 45
        case (_, -25293), (_, -34018): 51
        case (_, -128): 128
        // A value that is too large, an invalid word, or an unsupported operation.
        case (_, -50), (_, -4), (_, -25302), (_, -25303), (_, -25306): usage
        default: 53
        }
    }

    static func run(_ root: any ParsableCommand.Type) -> Never {
        if let advice = advice(for: Array(CommandLine.arguments.dropFirst()), root) {
            say("vauban: \(advice)")
            exit(usage)
        }
        do {
            var command = try root.parseAsRoot()
            try command.run()
            CanaryNotice.show()
            end(with: 0)
        } catch {
            end(error, root)
        }
    }

    /// Returns advice for arguments that begin with no command, or with a command and none of its subcommands, also after `help`.
    private static func advice(for given: [String], _ root: any ParsableCommand.Type) -> String? {
        let arguments = given.first == "help" ? Array(given.dropFirst()) : given
        let commands = root.configuration.subcommands
        guard !commands.isEmpty else { return nil }
        let names = commands.map { $0._commandName }
        if let advice = FamiliarVerbs.advice(for: arguments.first, before: Array(arguments.dropFirst()), among: names) { return advice }
        // The first argument of these commands may also belong to the subcommand that they stand for.
        guard arguments.count > 1, let command = commands.first(where: { $0._commandName == arguments[0] }),
            command != Allow.self, command != Disallow.self
        else { return nil }
        let subcommands = command.configuration.subcommands.map { $0._commandName }
        return subcommands.isEmpty ? nil : FamiliarVerbs.advice(for: arguments[1], among: subcommands, of: arguments[0])
    }

    /// Returns how to name an item that begins with a dash, if the parser took one for an option.
    ///
    /// - Parameters:
    ///   - names: The commands that have no subcommands.
    ///   - message: What the parser reports; it may find that the item is missing before it finds the unknown option.
    package static func dashAdvice(for given: [String], among names: [String], after message: String) -> String? {
        guard message.hasPrefix("Unknown option") || message.hasPrefix("No item given"), let command = given.first,
            names.contains(command)
        else { return nil }
        let words = given.prefix { $0 != "--" }
        guard let place = words.firstIndex(where: { $0.hasPrefix("-") && $0.contains("/") && !$0.contains("=") }) else { return nil }
        // A later word may be a secret, which no message repeats.
        let name = place == 1 ? SafeText.word(words[place]) : "NAME"
        return "For a name that begins with a dash: vauban \(command) -- \(name)"
    }

    /// Exits with a code, unless the output could not be written: a truncated list must not look complete.
    private static func end(with code: Int32) -> Never {
        guard fflush(nil) == 0 else {
            say("vauban: The output could not be written completely\(errno == ENOSPC ? ": the disk is full" : "")")
            exit(self.code(of: Refusal(.storageFailed)))
        }
        exit(code)
    }

    private static func end(_ error: any Error, _ root: any ParsableCommand.Type) -> Never {
        // Another thread may still show a prompt on this terminal.
        Interruption.putRight()
        if error is Refusal { CanaryNotice.show() }
        switch error {
        case let refusal as Refusal:
            say("vauban: \(refusal.message)")
            exit(code(of: refusal))
        case let several as SeveralMatches:
            say(several.description)
            exit(usage)
        case let missing as NoCircle:
            say("vauban: \(missing)")
            exit(usage)
        case let fault as SystemError where fault.isFullDisk, PrivateFolder.OpeningError.system(let fault) where fault.isFullDisk:
            say("vauban: \(Refusal(.storageFull).message) (\(fault))")
            exit(code(of: Refusal(.storageFull)))
        case let fault as SystemError:
            say("vauban: \(fault.sentence)")
            exit(code(of: Refusal(.unavailable)))
        case is PrivateFolder.OpeningError:
            say("vauban: \(error)")
            exit(code(of: Refusal(.unavailable)))
        default:
            // The parser's own results: help, usage errors, and exit codes that a verb chose.
            if let chosen = error as? ExitCode { end(with: chosen.rawValue) }
            let code = root.exitCode(for: error)
            guard code == .success else {
                let given = Array(CommandLine.arguments.dropFirst())
                let names = root.configuration.subcommands.filter { $0.configuration.subcommands.isEmpty }.map { $0._commandName }
                let message = root.message(for: error)
                if let advice = dashAdvice(for: given, among: names, after: message) {
                    say(root.fullMessage(for: error))
                    say(advice)
                } else if let better = ArgumentAdvice.message(for: given, of: root, after: message) {
                    say("vauban: \(better)")
                } else {
                    root.exit(withError: error)
                }
                exit(code.rawValue)
            }
            print(HelpText.repaired(CompletionScript.repaired(root.fullMessage(for: error))))
            end(with: 0)
        }
    }
}

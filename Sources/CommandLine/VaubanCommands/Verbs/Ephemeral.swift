import ArgumentParser

struct Ephemeral: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Runs a command with a keychain of its own, which is gone when the command ends.",
        discussion: """
            For tests and trials. The keychain is new and empty, in a new folder of its own, and VAUBAN_HOME names it to the \
            command; it is never one that was there before. It has no passcode, and nobody to ask, unless --user brings somebody \
            who answers every question with yes, or with no. It ends as the command ends.

            Example:
              vauban ephemeral -- make test
              vauban ephemeral --user yes -- bash
            """)

    @Option(help: "Set a passcode, and have a scripted user answer every question so.")
    var user: ScriptedUser.Answer?

    @Argument(parsing: .postTerminator, help: "The command and its arguments, after --.")
    var command: [String] = []

    func validate() throws {
        if command.isEmpty { throw ValidationError("Which command? Name it after --: vauban ephemeral -- COMMAND") }
    }

    func run() throws {
        let keychain = try EphemeralKeychain()
        say("vauban: a keychain for this command alone, in \(SafeText.visible(keychain.folder)); it is gone when the command ends.")
        let code: Int32
        do {
            if let user { try keychain.bring(user) }
            code = try ChildCommand.run(command)
        } catch {
            try? keychain.end()
            throw error
        }
        try keychain.end()
        say("vauban: the keychain of this command is gone.")
        throw ExitCode(code)
    }
}

extension ScriptedUser.Answer: ExpressibleByArgument {}

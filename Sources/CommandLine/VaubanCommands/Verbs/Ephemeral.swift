import ArgumentParser

struct Ephemeral: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ephemeral",
        abstract: "Run a command with a temporary keychain, which is removed when the command ends.",
        discussion: """
            For tests and trials. The keychain is empty, in a new folder that VAUBAN_HOME names for the command; an existing \
            keychain is never used. Without --user it has no passcode and answers no prompts. Exits with the status of the command.

            Example:
              vauban ephemeral -- make test
              vauban ephemeral --user yes -- bash
            """)

    @Option(help: "Set a passcode, and answer every prompt with yes or no.")
    var user: ScriptedUser.Answer?

    @Argument(parsing: .postTerminator, help: "The command and its arguments.")
    var command: [String] = []

    func validate() throws {
        if command.isEmpty { throw ValidationError("No command given: vauban ephemeral -- COMMAND") }
    }

    func run() throws {
        let keychain = try EphemeralKeychain()
        say("vauban: Temporary keychain in \(SafeText.visible(keychain.folder)); it is removed when the command ends")
        let code: Int32
        do {
            if let user { try keychain.bring(user) }
            code = try ChildCommand.run(command)
        } catch {
            try? keychain.end()
            throw error
        }
        try keychain.end()
        say("vauban: The temporary keychain is removed")
        throw ExitCode(code)
    }
}

extension ScriptedUser.Answer: ExpressibleByArgument {}

import ArgumentParser

/// The root command. Each subcommand has a file under Verbs and an entry here; completion and help are generated from these.
struct VaubanCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "vauban",
        abstract: "Keep passwords and keys encrypted, and release them only to you and the programs you allow.",
        discussion: """
            Example:
              vauban setup                       create a keychain of your own
              vauban set github/anna             ask for a secret and store it
              vauban get github/anna             print it

            If you come from another program, such as op, pass or security, type its command: vauban names its own. The manual \
            describes every command: \(ManualPage.commandLine.path)

            In user mode, which vauban setup creates, any program that you run can read your secrets. To protect against that, \
            install the service: a package, or sudo make install.

            Exit codes: 0 success, 1 something is left out or wrong, 36 needs your approval but cannot ask, 44 not found, 45 already \
            exists, 51 authentication failed, 53 service unavailable or output not written, 64 usage error, 128 cancelled; run, \
            ephemeral and protect exit with the status of their command.
            """,
        version: Version.text,
        subcommands: [HoldClipboard.self],
        groupedSubcommands: [
            CommandGroup(
                name: "Items",
                subcommands: [
                    SetItem.self, AddItem.self, UpdateItem.self, GetItem.self, ShowItem.self, ListItems.self, FindItems.self,
                    EditItem.self, RenameItem.self, CopyItem.self, MoveItem.self, DeleteItem.self, Undelete.self, History.self, Undo.self,
                    ImportPasswords.self, ExportItems.self, Backup.self, RestoreBackup.self, Sync.self, Code.self, Generate.self,
                ]),
            CommandGroup(
                name: "Programs",
                subcommands: [
                    RunCommand.self, Inject.self, Ephemeral.self, Protect.self, CodeSign.self, Team.self, ATSVerb.self, SSH.self,
                    SSHAgentVerb.self, SecretServiceVerb.self, Enable.self, Disable.self, Allow.self, Disallow.self, Give.self,
                ]),
            CommandGroup(
                name: "The keychain",
                subcommands: [
                    Status.self, AccessLogVerb.self, Canary.self, Doctor.self, Unlock.self, Lock.self, Settings.self, Approve.self,
                ]),
            CommandGroup(name: "The passcode", subcommands: [Passcode.self, Finger.self, Recover.self, Erase.self]),
            CommandGroup(name: "The service", subcommands: [Setup.self, Adopt.self, Serve.self, Stop.self, Integrity.self, Sdk.self]),
            CommandGroup(
                name: "Run by other programs",
                subcommands: [
                    GitCredential.self, DockerCredential.self, CredentialProcess.self, KubernetesCredentialVerb.self, Login.self,
                ]),
        ])

    /// The prefix of the parser's errors, the same as that of all other errors.
    static var _errorPrefix: String { "vauban: " }
}

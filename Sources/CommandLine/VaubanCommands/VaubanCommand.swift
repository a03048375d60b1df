import ArgumentParser

/// The grammar. A verb is one file under Verbs; a verb with verbs of its own is one more row there.
struct VaubanCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "vauban",
        abstract: "A keychain: keeps your passwords and keys encrypted on this machine, and opens them only for you and what you allow.",
        discussion: """
            Example:
              vauban setup                       a keychain of your own
              vauban set github/anna             asks for the secret and keeps it
              vauban get github/anna             prints it

            In user mode, which vauban setup makes, any program that you run can read your secrets; install the service against that \
            (a package, or sudo make install).

            Exit codes: 0 done, 36 not possible without asking you, 44 not found, 45 exists already, 51 authentication \
            failed, 53 Vauban does not answer, is not set up or cannot write, 64 wrong use, 128 cancelled.
            """,
        version: Version.text,
        subcommands: [HoldClipboard.self],
        groupedSubcommands: [
            CommandGroup(
                name: "Items:",
                subcommands: [
                    SetItem.self, AddItem.self, UpdateItem.self, GetItem.self, ShowItem.self, ListItems.self, FindItems.self,
                    EditItem.self, RenameItem.self, CopyItem.self, MoveItem.self, DeleteItem.self, Undelete.self, History.self, Undo.self,
                    ImportPasswords.self, ExportItems.self, Code.self,
                ]),
            CommandGroup(
                name: "Programs:",
                subcommands: [
                    RunCommand.self, Ephemeral.self, GitCredential.self, SSH.self, SSHAgentVerb.self, Allow.self, Disallow.self, Give.self,
                ]),
            CommandGroup(
                name: "The keychain:", subcommands: [Status.self, Doctor.self, Unlock.self, Lock.self, Settings.self, Approve.self]),
            CommandGroup(name: "The passcode:", subcommands: [Passcode.self, Finger.self, Recover.self, Erase.self]),
            CommandGroup(name: "The service:", subcommands: [Setup.self, Adopt.self, Serve.self, Stop.self, Login.self, Sdk.self]),
        ])
}

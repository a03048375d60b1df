import ArgumentParser

struct SSHSignCommits: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sign-commits",
        abstract: "Let git sign commits with a key.",
        discussion: """
            Sets gpg.format, user.signingKey and commit.gpgSign, for this folder's repository or, with --global, for all of yours, and \
            adds the key to git's file of allowed signers, so that git log --show-signature verifies. Lists each change. --undo \
            restores the previous values. git signs through the agent in SSH_AUTH_SOCK.

            Example:
              vauban ssh sign-commits work --global
              vauban ssh sign-commits --undo --global
            """)

    @Argument(help: "The name of the key.") var name: String?
    @Flag(help: "Change the settings of all your repositories.") var global = false
    @Flag(help: "Restore the previous settings.") var undo = false
    @OptionGroup var user: UserOptions

    func validate() throws {
        if undo == (name != nil) { throw ValidationError("Name the key to sign with, or use --undo") }
    }

    func run() throws {
        let signing = CommitSigning(try GitConfiguration(global ? .global : .local))
        guard let name else { return try signing.disable() }
        try signing.enable(try SSHKeyring(try ServiceClient(user)).key(name))
    }
}

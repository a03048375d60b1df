import ArgumentParser

struct SSHSignCommits: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sign-commits",
        abstract: "Has git sign commits with a key, and says what it changed.",
        discussion: """
            It sets gpg.format, user.signingKey and commit.gpgSign, for the repository of this folder or, with --global, for all of \
            yours, and adds the key to git's file of allowed signers, so that git log --show-signature verifies. --undo gives each \
            setting the value that it had. git signs through the agent that SSH_AUTH_SOCK names.

            Example:
              vauban ssh sign-commits work --global
              vauban ssh sign-commits --undo --global
            """)

    @Argument(help: "The key's name.") var name: String?
    @Flag(help: "For all repositories of yours, not only this one.") var global = false
    @Flag(help: "Take back what was set.") var undo = false
    @OptionGroup var user: UserOptions

    func validate() throws {
        if undo == (name != nil) { throw ValidationError("Name the key to sign with, or say --undo.") }
    }

    func run() throws {
        let signing = CommitSigning(try GitConfiguration(global ? .global : .local))
        guard let name else { return try signing.disable() }
        try signing.enable(try SSHKeyring(try Session(user)).key(name))
    }
}

import ArgumentParser

struct SSHRotate: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rotate",
        abstract: "Replace a key with a new one; both can sign until you finish.",
        discussion: """
            Creates a key in the enclave, named NAME-new. --finish deletes the old key and gives its name to the new one; it refuses \
            until the new key is recorded at each place of the old one (vauban ssh where).

            Example:
              vauban ssh rotate work
              vauban ssh where work-new --add git.example.org
              vauban ssh rotate work --finish
            """)

    @Argument(help: "The name of the key.") var name: String
    @Flag(help: "Delete the old key and give its name to the new one.") var finish = false
    @Flag(help: "With --finish: skip the check of recorded places.") var yes = false
    @OptionGroup var protection: ProtectionOptions
    @OptionGroup var user: UserOptions

    func validate() throws {
        try SSHKeyring.check(name: name)
        if yes, !finish { throw ValidationError("Use --yes only with --finish") }
        if finish, !protection.isEmpty { throw ValidationError("Use protection options without --finish, when the new key is created") }
    }

    func run() throws {
        let rotation = SSHRotation(try ServiceClient(user), of: name)
        if finish { try rotation.finish(force: yes) } else { try rotation.begin(protection) }
    }
}

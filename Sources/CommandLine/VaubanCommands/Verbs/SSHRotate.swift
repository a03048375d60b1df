import ArgumentParser

struct SSHRotate: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rotate",
        abstract: "Makes a new key beside an old one, and deletes the old one when you finish.",
        discussion: """
            The new key is of the enclave and is called NAME-new until --finish deletes the old one and gives it the old one's name. \
            Both sign until then. --finish refuses while the new key is not recorded at each place of the old one (vauban ssh where).

            Example:
              vauban ssh rotate work
              vauban ssh where work-new --add git.example.org
              vauban ssh rotate work --finish
            """)

    @Argument(help: "The key's name.") var name: String
    @Flag(help: "Delete the old key and give its name to the new one.") var finish = false
    @Flag(help: "With --finish: also where the new key is not recorded at each place.") var yes = false
    @OptionGroup var protection: ProtectionOptions
    @OptionGroup var user: UserOptions

    func validate() throws {
        try SSHKeyring.check(name: name)
        if yes, !finish { throw ValidationError("--yes goes with --finish.") }
        if finish, !protection.isEmpty { throw ValidationError("How the new key is protected is said when it is made.") }
    }

    func run() throws {
        let rotation = SSHRotation(try Session(user), of: name)
        if finish { try rotation.finish(force: yes) } else { try rotation.begin(protection) }
    }
}

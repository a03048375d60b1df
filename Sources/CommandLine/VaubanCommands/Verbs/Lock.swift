import ArgumentParser
import VaubanAuthenticationClient

struct Lock: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "lock",
        abstract: "Lock the keychain: erase the keys of when-unlocked items from memory.",
        discussion: """
            Example:
              vauban lock
            """)

    @OptionGroup var user: UserOptions

    func run() throws {
        try ServiceClient(user).authentication.lock()
        say("Locked.")
    }
}

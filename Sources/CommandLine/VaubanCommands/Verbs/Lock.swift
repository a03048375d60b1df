import ArgumentParser
import VaubanAuthenticationClient

struct Lock: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Locks the keychain: the keys of items for while it is unlocked are erased.",
        discussion: """
            Example:
              vauban lock
            """)

    @OptionGroup var user: UserOptions

    func run() throws {
        try Session(user).authentication.lock()
        say("Locked.")
    }
}

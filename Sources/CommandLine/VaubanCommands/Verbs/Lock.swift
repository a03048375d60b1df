import ArgumentParser
import VaubanAuthenticationClient

struct Lock: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Locks the keychain: the keys of items for while it is unlocked are erased.",
        discussion: """
            Example:
              vauban lock
            """)

    @OptionGroup var person: PersonOptions

    func run() throws {
        try Session(person).authentication.lock()
        say("Locked.")
    }
}

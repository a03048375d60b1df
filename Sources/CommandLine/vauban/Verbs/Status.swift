import ArgumentParser
import Glibc
import VaubanAccessPolicy
import VaubanAuthenticationClient
import VaubanLinuxHost

struct Status: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Says what protects this keychain, what state it is in, and what to do next.",
        discussion: """
            Example:
              vauban status
            """)

    @OptionGroup var person: PersonOptions

    func run() throws {
        let session = try Session(person)
        let (device, places) = try session.authentication.status()
        let terminal = session.person.terminal
        print(StatusText.text(mode: session.service.mode, device, promptPlaces: places, terminal: terminal?.name))
    }
}

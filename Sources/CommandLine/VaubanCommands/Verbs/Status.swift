import ArgumentParser
import Glibc
import VaubanAuthenticationClient
import VaubanKeychainClient
import VaubanLinuxHost

struct Status: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Says what protects this keychain, what state it is in, and what to do next.",
        discussion: """
            Example:
              vauban status
              vauban status --json
            """)

    @Flag(help: "One JSON document, for a program.")
    var json = false

    @OptionGroup var user: UserOptions

    func run() throws {
        let session = try Session(user)
        let (device, places) = try session.authentication.status()
        if json { return print(try ItemDescription.json(StatusDocument(mode: session.service.mode, device, promptPlaces: places))) }
        let terminal = session.user.terminal
        // What is permitted cannot be read before the first unlock, and in user mode there is nothing.
        let permissions = session.service.mode == .system ? (try? session.keychain.permissions()) ?? [] : []
        print(
            StatusText.text(
                mode: session.service.mode, device, promptPlaces: places, terminal: terminal?.name, permissions: permissions,
                own: OwnKeychain.behind(session.service)?.status(in: session)))
    }
}

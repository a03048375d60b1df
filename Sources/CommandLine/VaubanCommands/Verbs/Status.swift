import ArgumentParser
import Glibc
import VaubanAuthenticationClient
import VaubanKeychainClient
import VaubanKeychainWire
import VaubanLinuxHost

struct Status: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Show what protects this keychain, its state, and what to do next.",
        discussion: """
            Example:
              vauban status
              vauban status --json
            """)

    @Flag(help: "Print one JSON document.")
    var json = false

    @OptionGroup var user: UserOptions

    func run() throws {
        let session = try Session(user)
        let (device, places) = try session.authentication.status()
        let alerts = try? session.keychain.canaryAlerts()
        if json {
            let document = StatusDocument(mode: session.service.mode, device, promptPlaces: places, canaryAlerts: alerts?.unseen)
            return print(try ItemDescription.json(document))
        }
        let terminal = session.user.terminal
        // Permissions are unreadable before the first unlock, and do not exist in user mode.
        let permissions = session.service.mode == .system ? (try? session.keychain.permissions()) ?? [] : []
        print(
            StatusText.text(
                mode: session.service.mode, device, promptPlaces: places, terminal: terminal?.name, permissions: permissions,
                own: OwnKeychain.beside(session.service)?.status(in: session), alerts: alerts))
    }
}

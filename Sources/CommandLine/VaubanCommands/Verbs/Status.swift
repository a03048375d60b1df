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
        let client = try ServiceClient(user)
        let (device, places) = try client.authentication.status()
        let alerts = try? client.keychain.canaryAlerts()
        if json {
            let document = StatusDocument(mode: client.service.mode, device, promptPlaces: places, canaryAlerts: alerts?.unseen)
            return print(try ItemDescription.json(document))
        }
        let terminal = client.user.terminal
        // Permissions are unreadable before the first unlock, and do not exist in user mode.
        let permissions = client.service.mode == .system ? (try? client.keychain.permissions()) ?? [] : []
        print(
            StatusText.text(
                mode: client.service.mode, device, promptPlaces: places, terminal: terminal?.name, permissions: permissions,
                own: OwnKeychain.beside(client.service)?.status(in: client), alerts: alerts))
    }
}

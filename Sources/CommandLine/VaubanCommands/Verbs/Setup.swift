import ArgumentParser
import Glibc
import VaubanAuthenticationClient
import VaubanLinuxHost
import VaubanPasscodeEstimate
import VaubanRefusal
import VaubanUserModel

struct Setup: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "setup",
        abstract: "Create a keychain of your own (user mode), start it, and offer to set a passcode.",
        discussion: """
            If Vauban is installed as a system service, only the passcode remains to be set.

            Example:
              vauban setup
            """)

    @OptionGroup var recovery: RecoveryKeyOptions
    @OptionGroup var user: UserOptions

    func run() throws {
        if let service = try ServiceAccess.own(), let home = service.home {
            say(StatusText.mode(service.mode).joined(separator: "\n"))
            say(try ServiceAccess.make(home: home) ? "Created \(home)." : "Already set up in \(home).")
        } else {
            say("Vauban is installed as a system service and needs no setup of your own.")
        }
        let client = try ServiceClient(user)
        // The first request starts the service.
        let device = try client.authentication.status().device
        say("The service is running.")
        try offerPasscode(device, client)
        say("Next: vauban status")
    }

    private func offerPasscode(_ device: DeviceStatus, _ client: ServiceClient) throws {
        if device.passcodeIsSet { return }
        if client.user.hasPreparedPasscode { return try NewPasscode.setFirst(client, recovery) }
        say("Note: \(StatusText.noPasscode)")
        guard let terminal = client.user.terminal else { return say("To set one: vauban passcode set") }
        terminal.write("\(PasscodeEstimate.rules)\n")
        do {
            try NewPasscode.setFirst(client, recovery)
        } catch let refusal as Refusal where refusal.reason == .cancelled {
            // The keychain is set up without a passcode too.
            say("No passcode is set. To set one later: vauban passcode set")
        }
    }
}

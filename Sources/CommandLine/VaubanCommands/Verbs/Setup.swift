import ArgumentParser
import Glibc
import VaubanAuthenticationClient
import VaubanLinuxHost
import VaubanRefusal
import VaubanUserModel

struct Setup: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Makes a keychain of your own (user mode), starts it, and offers to set a passcode.",
        discussion: """
            Where Vauban is installed as a system service there is nothing to set up but the passcode.

            Example:
              vauban setup
            """)

    @OptionGroup var recovery: RecoveryKeyOptions
    @OptionGroup var user: UserOptions

    func run() throws {
        if let service = try ServiceAccess.own(), let home = service.home {
            say(StatusText.mode(service.mode).joined(separator: "\n"))
            say(try ServiceAccess.make(home: home) ? "Made \(home)." : "It is set up already, in \(home).")
        } else {
            say("Vauban is installed on this machine as a system service; it needs no set-up of your own.")
        }
        let session = try Session(user)
        // The first request starts the service.
        let device = try session.authentication.status().device
        say("It is running.")
        try offerPasscode(device, session)
        say("Next: vauban status")
    }

    private func offerPasscode(_ device: DeviceStatus, _ session: Session) throws {
        if device.passcodeIsSet { return }
        if session.user.hasPreparedPasscode { return try NewPasscode.setFirst(session, recovery) }
        say("Until you set one: \(StatusText.noPasscode)")
        guard let terminal = session.user.terminal else { return say("Set one: vauban passcode set") }
        terminal.write("\(PasscodeInput.rules)\n")
        do {
            try NewPasscode.setFirst(session, recovery)
        } catch let refusal as Refusal where refusal.reason == .cancelled {
            // Not now is an answer; the keychain is set up all the same.
            say("No passcode was set. Set one later: vauban passcode set")
        }
    }
}

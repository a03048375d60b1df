import ArgumentParser
import Glibc
import VaubanAccessPolicy
import VaubanAuthenticationClient
import VaubanLinuxHost

struct Setup: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Makes a keychain of your own (user mode), starts it, and offers to set a passcode.",
        discussion: """
            Where Vauban is installed as a system service there is nothing to set up but the passcode.

            Example:
              vauban setup
            """)

    @OptionGroup var person: PersonOptions

    func run() throws {
        if let service = try ServiceAccess.own(), let home = service.home {
            say(StatusText.mode(service.mode).joined(separator: "\n"))
            say(try ServiceAccess.make(home: home) ? "Made \(home)." : "It is set up already, in \(home).")
        } else {
            say("Vauban is installed on this machine as a system service; it needs no set-up of your own.")
        }
        let session = try Session(person)
        // The first request starts the service.
        let device = try session.authentication.status().device
        say("It is running.")
        try offerPasscode(device, session)
        say("Next: vauban status")
    }

    private func offerPasscode(_ device: DeviceStatus, _ session: Session) throws {
        if device.passcodeIsSet { return }
        if session.person.hasPreparedPasscode {
            let passcode = try session.person.preparedPasscode()
            try session.authentication.setPasscode(passcode)
            return say("The passcode is set.")
        }
        say("Until you set one: \(StatusText.noPasscode)")
        guard let terminal = session.person.terminal else { return say("Set one: vauban passcode set") }
        terminal.write("\(PasscodeInput.rules)\n")
        do throws(Refusal) {
            try PasscodeInput.setNew("New passcode", on: terminal) { passcode throws(Refusal) in try session.authentication.setPasscode(passcode) }
            say("The passcode is set. Keep it in your head: without it nobody can open this keychain.")
        } catch {
            // Not now is an answer; the keychain is set up all the same.
            guard error.reason == .cancelled else { throw error }
            say("No passcode was set. Set one later: vauban passcode set")
        }
    }
}

import ArgumentParser
import VaubanAccessPolicy
import VaubanAuthenticationClient
import VaubanRefusal
import VaubanSecretBytes
import VaubanUserModel

struct Unlock: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "unlock",
        abstract: "Unlock the keychain with your passcode or a finger.",
        discussion: """
            If you enrolled with --unlock, waits for a finger after the first unlock; press Return to type the passcode instead. A \
            passcode from a descriptor is tried once.

            Example:
              vauban unlock
              vauban unlock --passcode-fd 3 3<passcode-file
            """)

    // An option of this command only: a credential of the machine unlocks the keychain, but never approves a prompt for a user.
    @Option(
        help: ArgumentHelp("Read the passcode from this systemd credential; it is tried once.", valueName: "name"))
    var passcodeCredential: String?

    @OptionGroup var user: UserOptions

    func validate() throws {
        guard passcodeCredential == nil || user.passcodeDescriptor == nil else {
            throw ValidationError("Use --passcode-fd or --passcode-credential, not both")
        }
    }

    func run() throws {
        let session = try Session(user)
        let device = try session.authentication.status().device
        guard device.passcodeIsSet else { throw Refusal(.passcodeNotSet, "there is nothing to unlock") }
        if let passcodeCredential {
            try session.authentication.unlock(try ServiceCredential.line(passcodeCredential, max: SealedPasscode.passcodeBytesMax))
        } else if session.user.hasPreparedPasscode {
            let passcode = try session.user.preparedPasscode()
            try session.authentication.unlock(passcode)
        } else if device.lock == .unlocked {
            say("Already unlocked.")
            return Rewrapping(session).runSilently()
        } else if let terminal = session.user.terminal {
            try session.unlock(on: terminal)
        } else {
            throw Refusal(.interactionNotAllowed, "No terminal to ask for the passcode; use --passcode-fd N")
        }
        say("Unlocked.")
        // Continues an interrupted `passcode change --roll`, which needs the unlocked keys.
        Rewrapping(session).runSilently()
    }
}

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
        let client = try ServiceClient(user)
        let device = try client.authentication.status().device
        guard device.passcodeIsSet else { throw Refusal(.passcodeNotSet, "there is nothing to unlock") }
        if let passcodeCredential {
            try client.authentication.unlock(try ServiceCredential.line(passcodeCredential, max: SealedPasscode.passcodeBytesMax))
        } else if client.user.hasPreparedPasscode {
            let passcode = try client.user.preparedPasscode()
            try client.authentication.unlock(passcode)
        } else if device.lock == .unlocked {
            say("Already unlocked.")
            return Rewrapping(client).runSilently()
        } else if let terminal = client.user.terminal {
            try client.unlock(on: terminal)
        } else {
            throw Refusal(.interactionNotAllowed, "No terminal to ask for the passcode; use --passcode-fd N")
        }
        say("Unlocked.")
        // Continues an interrupted `passcode change --roll`, which needs the unlocked keys.
        Rewrapping(client).runSilently()
    }
}

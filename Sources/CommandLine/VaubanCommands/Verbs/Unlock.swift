import ArgumentParser
import VaubanAccessPolicy
import VaubanAuthenticationClient
import VaubanRefusal
import VaubanSecretBytes
import VaubanUserModel

struct Unlock: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Unlocks the keychain, with your passcode or a finger.",
        discussion: """
            Where you chose at enrollment that a finger unlocks, it takes one after the first unlock; Return takes the \
            passcode instead. A passcode that is sent along is tried once.

            Example:
              vauban unlock
              vauban unlock --passcode-fd 3 3<passcode-file
            """)

    // Of this verb alone: a machine's credential opens the keychain, and never answers for a user.
    @Option(
        help: ArgumentHelp("Read the passcode from this credential of the service's unit (systemd); it is tried once.", valueName: "name"))
    var passcodeCredential: String?

    @OptionGroup var user: UserOptions

    func validate() throws {
        guard passcodeCredential == nil || user.passcodeDescriptor == nil else {
            throw ValidationError("Say --passcode-fd or --passcode-credential, not both.")
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
            say("Unlocked already.")
            return Rewrapping(session).runSilently()
        } else if let terminal = session.user.terminal {
            try session.unlock(on: terminal)
        } else {
            throw Refusal(.interactionNotAllowed, "no terminal to ask for the passcode; send it along: --passcode-fd N")
        }
        say("Unlocked.")
        // Goes on with what `passcode change --roll` began: now the keys are there.
        Rewrapping(session).runSilently()
    }
}

import ArgumentParser
import VaubanRefusal
import VaubanSecretBytes
import VaubanUserModel

struct Passcode: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Sets, changes or removes the passcode, and what goes with it.",
        subcommands: [PasscodeSet.self, PasscodeChange.self, PasscodeRoll.self, PasscodeRemove.self, PasscodeRecoveryKey.self])

    static func terminal(of session: Session) throws(Refusal) -> Terminal {
        guard let terminal = session.user.terminal else {
            throw Refusal(.interactionNotAllowed, "no terminal to ask for the passcode; send it along: --passcode-fd N")
        }
        return terminal
    }

    /// The passcode that is set: the one sent along, or asked for once.
    static func current(of session: Session, prompt: String = "Passcode") throws -> SecretBytes {
        if session.user.hasPreparedPasscode { return try session.user.preparedPasscode() }
        return try PasscodeInput.ask("\(prompt) (\(PromptText.cancelHint)): ", on: try terminal(of: session))
    }

    static func requireSet(_ device: DeviceStatus) throws(Refusal) {
        guard device.passcodeIsSet else { throw Refusal(.passcodeNotSet) }
    }
}

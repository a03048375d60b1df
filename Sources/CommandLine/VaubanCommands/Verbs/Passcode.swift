import ArgumentParser
import VaubanAuthenticationClient
import VaubanRefusal
import VaubanSecretBytes
import VaubanUserModel

struct Passcode: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "passcode",
        abstract: "Set, change or remove the passcode and its recovery key.",
        subcommands: [PasscodeSet.self, PasscodeChange.self, PasscodeRoll.self, PasscodeRemove.self, PasscodeRecoveryKey.self])

    static func terminal(of client: ServiceClient) throws(Refusal) -> Terminal {
        guard let terminal = client.user.terminal else {
            throw Refusal(.interactionNotAllowed, "No terminal to ask for the passcode; use --passcode-fd N")
        }
        return terminal
    }

    /// Returns the current passcode: from `--passcode-fd`, or typed once.
    static func current(of client: ServiceClient, prompt: String = "Passcode") throws -> SecretBytes {
        if client.user.hasPreparedPasscode { return try client.user.preparedPasscode() }
        return try PasscodeInput.ask("\(prompt) (\(TerminalPrompt.cancelHint)): ", on: try terminal(of: client))
    }

    static func requireSet(_ device: DeviceStatus) throws(Refusal) {
        guard device.passcodeIsSet else { throw Refusal(.passcodeNotSet) }
    }
}

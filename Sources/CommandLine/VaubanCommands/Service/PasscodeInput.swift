import VaubanAuthenticationClient
import VaubanPasscodeEstimate
import VaubanRefusal
import VaubanSecretBytes
import VaubanUserModel

/// A passcode from the user.
enum PasscodeInput {
    /// Prompts once. An empty line cancels.
    static func ask(_ prompt: String, on terminal: Terminal, bytesMax: Int = SealedPasscode.passcodeBytesMax) throws(Refusal) -> SecretBytes
    {
        switch terminal.readSecretLine(prompt, bytesMax: bytesMax) {
        case .cancelled: throw Refusal(.cancelled)
        case .withdrawn: throw Refusal(.cancelled)
        case .line(let passcode):
            if passcode.isEmpty { throw Refusal(.cancelled) }
            return passcode
        }
    }

    /// Prompts twice, since the input is invisible. An entry that `weakness` returns a message for is not repeated but made again.
    static func promptForNew(
        _ name: String, on terminal: Terminal, weakness: (borrowing SecretBytes) -> String? = { _ in nil }
    ) throws(Refusal) -> SecretBytes {
        while true {
            let first = try ask("\(name) (\(TerminalPrompt.cancelHint)): ", on: terminal)
            if let message = weakness(first) {
                terminal.write("\(message)\n")
                continue
            }
            let second = try ask(TerminalPrompt.repetition, on: terminal)
            if first.equals(second) { return first }
            terminal.write("\(PasscodeEstimate.differ)\n")
        }
    }

    /// Prompts for a new passcode and passes it to `set`, again while it is too weak, which the enclave decides. Then shows the cost of
    /// guessing it, only on the terminal and never in a script's log.
    static func setNew(_ name: String, on terminal: Terminal, _ set: (borrowing SecretBytes) throws(Refusal) -> Void) throws(Refusal) {
        while true {
            let passcode = try promptForNew(name, on: terminal, weakness: PasscodeEstimate.weakness(of:))
            do throws(Refusal) {
                try set(passcode)
                return terminal.write("\(PasscodeEstimate.sentence(on: passcode))\n")
            } catch {
                guard error.reason == .passcodeTooWeak else { throw error }
                terminal.write("\(PasscodeEstimate.weak(error.detail))\n")
            }
        }
    }
}

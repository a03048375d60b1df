import VaubanAccessPolicy
import VaubanAuthenticationClient
import VaubanLinuxHost
import VaubanSecretBytes

/// Asks on a terminal.
final class TerminalSurface: PromptSurface {
    private let terminal: Terminal
    /// Says also how it ended; a command that asked for itself says that by its own result.
    private let tellsOutcome: Bool

    init(_ terminal: Terminal, tellsOutcome: Bool) {
        self.terminal = terminal
        self.tellsOutcome = tellsOutcome
    }

    func ask(_ question: PromptQuestion, withdrawal: any Withdrawal) -> PromptResponse {
        let head =
            if question.attempt == 1 {
                "\n" + PromptText.question(question)
            } else {
                "That was not the passcode; \(PromptText.tries(question.triesLeft)). Attempt \(question.attempt) of \(PromptQuestion.attemptsMax).\n"
            }
        // All of it in the prompt's own mode: a relay has made the terminal raw, where a line does not begin at the left.
        let prompt = head + "Passcode (\(PromptText.cancelHint)): "
        switch terminal.readSecretLine(prompt, bytesMax: SealedPasscode.passcodeBytesMax, withdrawal: withdrawal) {
        case .cancelled: return .cancelled
        case .withdrawn: return .withdrawn
        case .line(let passcode): return passcode.isEmpty ? .cancelled : .passcode(passcode)
        }
    }

    func settled(_ outcome: PromptOutcome) {
        if tellsOutcome { terminal.write(PromptText.outcome(outcome) + "\n") }
    }
}

/// Answers with the passcode that came on a descriptor: once, and never again.
final class PreparedSurface: PromptSurface {
    private let person: Person
    init(_ person: Person) { self.person = person }

    func ask(_ question: PromptQuestion, withdrawal: any Withdrawal) -> PromptResponse {
        guard question.attempt == 1, let passcode = try? person.preparedPasscode() else { return .cancelled }
        return .passcode(passcode)
    }

    func settled(_ outcome: PromptOutcome) {}
}

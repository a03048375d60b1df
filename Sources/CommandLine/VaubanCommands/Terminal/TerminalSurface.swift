import VaubanAccessPolicy
import VaubanAuthenticationClient
import VaubanLinuxHost
import VaubanSecretBytes
import VaubanUserModel

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
        // All of it in the prompt's own mode: a relay has made the terminal raw, where a line does not begin at the left.
        let head = question.attempt == 1 ? "\n" + PromptText.question(question) : PromptText.again(question)
        guard question.methods.contains(.passcode) else { return askForFinger(head, withdrawal) }
        if let consent = question.consent { return askForConsent(consent, head, question.methods, withdrawal) }
        let prompt = head + PromptText.entryPrompt(question)
        let hasOtherWay = question.methods.contains(.finger)
        switch terminal.readSecretLine(prompt, bytesMax: SealedPasscode.passcodeBytesMax, withdrawal: withdrawal, hasOtherWay: hasOtherWay)
        {
        case .cancelled: return .cancelled
        case .withdrawn: return .withdrawn
        case .line(let passcode): return passcode.isEmpty ? .cancelled : .passcode(passcode)
        }
    }

    /// First how long the yes holds, then the passcode, which is sealed together with it. A finger says yes to this once.
    private func askForConsent(_ consent: Consent, _ head: String, _ methods: AuthenticationMethods, _ withdrawal: any Withdrawal)
        -> PromptResponse
    {
        var head = head
        var choice = ConsentChoice.once
        if let choices = ConsentText.choices(consent) {
            let hint = methods.contains(.finger) ? "A finger allows it once.\n" : ""
            switch terminal.readSecretLine(
                head + hint + choices, bytesMax: 16, withdrawal: withdrawal, hasOtherWay: methods.contains(.finger))
            {
            case .cancelled: return .cancelled
            case .withdrawn: return .withdrawn
            case .line(let line):
                guard let chosen = ConsentText.choice(line.withUnsafeBytes { $0.first }, of: consent) else { return .cancelled }
                choice = chosen
            }
            head = "\(choice == .once ? "Once" : choice == .untilLock ? "Until the keychain locks" : "Always").\n"
        }
        let prompt = head + PromptText.passcodePrompt(methods)
        switch terminal.readSecretLine(
            prompt, bytesMax: SealedPasscode.passcodeBytesMax, withdrawal: withdrawal, hasOtherWay: methods.contains(.finger))
        {
        case .cancelled: return .cancelled
        case .withdrawn: return .withdrawn
        case .line(let passcode): return passcode.isEmpty ? .cancelled : .consent(passcode, choice)
        }
    }

    /// The finger goes to the reader, not through here: what can be said here is no.
    private func askForFinger(_ head: String, _ withdrawal: any Withdrawal) -> PromptResponse {
        switch terminal.awaitKey(head + PromptText.fingerPrompt, takesReturn: false, withdrawal: withdrawal) {
        case .enter, .cancel: .cancelled
        case .withdrawn: .withdrawn
        }
    }

    func settled(_ outcome: PromptOutcome) {
        if tellsOutcome { terminal.write(PromptText.outcome(outcome) + "\n") }
    }
}

/// Answers with the passcode that came on a descriptor: once, and never again.
final class PreparedSurface: PromptSurface {
    private let user: CommandUser
    init(_ user: CommandUser) { self.user = user }

    func ask(_ question: PromptQuestion, withdrawal: any Withdrawal) -> PromptResponse {
        // A question for a finger alone, or for an item's own password, is none that a passcode answers.
        guard question.methods.contains(.passcode), question.operation != .applicationPassword, question.attempt == 1,
            let passcode = try? user.preparedPasscode()
        else {
            return .cancelled
        }
        // Whoever sent the passcode along said yes to what this command does, and to nothing after it.
        return question.consent == nil ? .passcode(passcode) : .consent(passcode, .once)
    }

    func settled(_ outcome: PromptOutcome) {}
}

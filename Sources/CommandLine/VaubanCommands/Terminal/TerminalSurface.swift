import Synchronization
import VaubanAccessPolicy
import VaubanAuthenticationClient
import VaubanLinuxHost
import VaubanPasscode
import VaubanPasscodeEstimate
import VaubanRefusal
import VaubanSecretBytes
import VaubanUserModel

/// A prompt on a terminal.
final class TerminalSurface: PromptSurface {
    private let terminal: Terminal
    /// Whether to show the outcome as well; a command that prompts for itself reports it in its own result.
    private let showsOutcome: Bool
    private let last = Mutex<PromptRequest?>(nil)
    /// The device whose prompts these are, if it is not this one.
    private let device: String?

    init(_ terminal: Terminal, showsOutcome: Bool, of device: String? = nil) {
        self.terminal = terminal
        self.device = device
        self.showsOutcome = showsOutcome
    }

    func ask(_ request: PromptRequest, withdrawal: any Withdrawal) -> PromptResponse {
        // Show the whole prompt of another device each time: a third device may have prompted between two attempts.
        let prompt = TerminalPrompt(request, after: device == nil ? last.withLock { $0 } : nil, of: device)
        last.withLock { $0 = request }
        guard request.methods.contains(.passcode) else { return askForFinger(prompt, withdrawal) }
        if request.change == .changePasscode { return askForNewPasscode(prompt, withdrawal) }
        if request.consent != nil { return askForConsent(prompt, methods: request.methods, withdrawal: withdrawal) }
        // Print all of this text in the prompt's own mode: a caller may have set the terminal to raw mode, in which a line feed does not
        // return to the left margin.
        let text = prompt.head() + prompt.instruction + prompt.entry
        let hasOtherWay = request.methods.contains(.finger)
        switch terminal.readSecretLine(text, bytesMax: SealedPasscode.passcodeBytesMax, withdrawal: withdrawal, hasOtherWay: hasOtherWay)
        {
        case .cancelled: return .cancelled
        case .withdrawn: return .withdrawn
        case .line(let passcode): return passcode.isEmpty ? .cancelled : .passcode(passcode)
        }
    }

    /// Prompts first for the duration of the consent, then for the passcode, which is sealed together with it. A fingerprint consents once.
    private func askForConsent(_ prompt: TerminalPrompt, methods: AuthenticationMethods, withdrawal: any Withdrawal)
        -> PromptResponse
    {
        var head = prompt.head()
        var instruction = prompt.instruction
        var choice = ConsentChoice.once
        if let choices = prompt.choices {
            switch terminal.readSecretLine(
                head + (methods.contains(.finger) ? instruction : "") + choices, bytesMax: 16, withdrawal: withdrawal,
                hasOtherWay: methods.contains(.finger))
            {
            case .cancelled: return .cancelled
            case .withdrawn: return .withdrawn
            case .line(let line):
                guard let chosen = prompt.choice(line.withUnsafeBytes { $0.first }) else { return .cancelled }
                choice = chosen
            }
            head = "\(prompt.title(of: choice)).\n"
            if methods.contains(.finger) { instruction = "" }
        }
        switch terminal.readSecretLine(
            head + instruction + prompt.entry, bytesMax: SealedPasscode.passcodeBytesMax, withdrawal: withdrawal,
            hasOtherWay: methods.contains(.finger))
        {
        case .cancelled: return .cancelled
        case .withdrawn: return .withdrawn
        case .line(let passcode): return passcode.isEmpty ? .cancelled : .consent(passcode, choice)
        }
    }

    /// Prompts for the current passcode, then for the new one twice, and again while the two differ or the passcode is too weak.
    private func askForNewPasscode(_ prompt: TerminalPrompt, _ withdrawal: any Withdrawal) -> PromptResponse {
        let bytesMax = SealedPasscode.passcodeBytesMax
        let current: SecretBytes
        switch terminal.readSecretLine(prompt.head() + prompt.instruction + prompt.entry, bytesMax: bytesMax, withdrawal: withdrawal) {
        case .cancelled: return .cancelled
        case .withdrawn: return .withdrawn
        case .line(let line): current = line
        }
        if current.isEmpty { return .cancelled }
        // What was wrong with the last entries, printed above the next ones, in the prompt's own mode so that line feeds work.
        var news = ""
        while true {
            let new: SecretBytes
            switch terminal.readSecretLine(news + TerminalPrompt.newEntry, bytesMax: bytesMax, withdrawal: withdrawal) {
            case .cancelled: return .cancelled
            case .withdrawn: return .withdrawn
            case .line(let line): new = line
            }
            if new.isEmpty { return .cancelled }
            if let weakness = PasscodeEstimate.weakness(of: new) {
                news = "\(weakness)\n"
                continue
            }
            switch terminal.readSecretLine(TerminalPrompt.repetition, bytesMax: bytesMax, withdrawal: withdrawal) {
            case .cancelled: return .cancelled
            case .withdrawn: return .withdrawn
            case .line(let again) where again.equals(new): news = ""
            case .line: news = "\(PasscodeEstimate.differ)\n"
            }
            guard news.isEmpty else { continue }
            terminal.write("\(PasscodeEstimate.sentence(on: new))\r\n")
            return .newPasscode(current: current, new)
        }
    }

    /// Waits while the finger touches the reader. The terminal can only cancel.
    private func askForFinger(_ prompt: TerminalPrompt, _ withdrawal: any Withdrawal) -> PromptResponse {
        switch terminal.awaitKey(prompt.head() + prompt.instruction + prompt.entry, takesReturn: false, withdrawal: withdrawal) {
        case .enter, .cancel: .cancelled
        case .withdrawn: .withdrawn
        }
    }

    func show(_ recoveryKey: borrowing RecoveryKey) -> Bool { terminal.show(recoveryKey, of: .passcode).isConfirmed }

    func handleOutcome(_ outcome: PromptOutcome) {
        if showsOutcome { terminal.write(PromptWords.outcome(outcome) + "\n") }
    }
}

/// A surface that answers once with a passcode that was read from a descriptor.
final class PreparedSurface: PromptSurface {
    private let user: CommandUser
    private let wrong = Mutex<Refusal?>(nil)
    init(_ user: CommandUser) { self.user = user }

    /// The refusal for a passcode that a prompt did not accept; nil if none was wrong.
    var refusal: Refusal? { wrong.withLock { $0 } }

    func ask(_ request: PromptRequest, withdrawal: any Withdrawal) -> PromptResponse {
        // A prompt that comes again, after this surface answered it.
        if request.attempt > 1, request.methods.contains(.passcode), request.operation != .applicationPassword {
            let refusal = Refusal(.authenticationFailed, "the passcode is wrong", attemptsLeft: request.attemptsLeft)
            wrong.withLock { $0 = refusal }
        }
        // A passcode does not answer a prompt for a fingerprint alone or for an item's application password.
        guard request.methods.contains(.passcode), request.operation != .applicationPassword, request.attempt == 1,
            request.change?.takesNewSecret != true,
            let passcode = try? user.preparedPasscode()
        else {
            return .cancelled
        }
        // The passcode that came with the command consents to what this command does and to nothing afterwards.
        return request.consent == nil ? .passcode(passcode) : .consent(passcode, .once)
    }

    func handleOutcome(_ outcome: PromptOutcome) {}
}

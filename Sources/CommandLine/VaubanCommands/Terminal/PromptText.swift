import VaubanAccessPolicy
import VaubanAuthenticationClient
import VaubanLinuxHost
import VaubanPlainText
import VaubanUserModel

/// The question, in words: who asks as the system knows it, what for, and apart from both what the caller says.
enum PromptText {
    static let cancelHint = "Ctrl-C or an empty line cancels"
    private static let reasonCharactersMax = 200
    private static let nameMax = 60
    private static let pathMax = 240

    static func question(_ question: PromptQuestion) -> String {
        let isForPassword = question.operation == .applicationPassword
        var lines = ["Vauban asks for \(isForPassword ? "the item’s own password" : "your \(wanted(question.ways))")."]
        lines.append("  Who asks:  \(caller(question.caller))")
        lines += TerminalPhrases.doubt(question.caller).map { "             \($0)" }
        lines.append("  What for:  \(question.consent.map(ConsentText.purpose) ?? TerminalPhrases.operation(question.operation))")
        if let consent = question.consent { lines += ConsentText.particulars(consent) }
        if let reason = question.reason.map({ SafeText.line($0, max: reasonCharactersMax) }), !reason.isEmpty {
            lines.append("  It says:   “\(reason)”")
        }
        // The tries are the passcode's; fingers are counted by themselves.
        let left = question.ways.contains(.passcode) && !isForPassword ? "; \(tries(question.triesLeft))" : ""
        lines.append(
            """
              Attempt \(question.attempt) of \(PromptQuestion.attemptsMax)\(left). You have \(ConnectionLimits.userTimeout / 60_000_000_000) \
            minutes.
            """
        )
        return lines.joined(separator: "\n") + "\n"
    }

    private static func wanted(_ ways: AuthenticationMethods) -> String {
        switch (ways.contains(.finger), ways.contains(.passcode)) {
        case (true, true): "finger or your passcode"
        case (true, false): "finger"
        default: "passcode"
        }
    }

    /// What is said when a try failed and there is another.
    static func again(_ question: PromptQuestion) -> String {
        let left = "Attempt \(question.attempt) of \(PromptQuestion.attemptsMax).\n"
        if question.operation == .applicationPassword { return "That was not the item’s password. \(left)" }
        guard question.ways.contains(.passcode) else { return "That finger was not recognized. \(left)" }
        let what = question.ways.contains(.finger) ? "That was not accepted" : "That was not the passcode"
        return "\(what); \(tries(question.triesLeft)). \(left)"
    }

    static let fingerPrompt = "Touch the reader, or press Ctrl-C or Esc to refuse: "

    static func entryPrompt(_ question: PromptQuestion) -> String {
        question.operation == .applicationPassword ? "The item’s password (\(cancelHint)): " : passcodePrompt(question.ways)
    }

    static func passcodePrompt(_ ways: AuthenticationMethods) -> String {
        ways.contains(.finger) ? "Touch the reader or type the passcode (\(cancelHint)): " : "Passcode (\(cancelHint)): "
    }

    static func caller(_ caller: CallerName) -> String {
        guard let path = caller.path else { return "an unknown program (process \(caller.pid))" }
        let name = SafeText.path(PathBytes.name(of: path), max: nameMax)
        return "\(name) (\(SafeText.path(path, max: pathMax)), process \(caller.pid))"
    }

    static func tries(_ count: Int64) -> String { "\(count) \(count == 1 ? "try" : "tries") left" }

    static func outcome(_ outcome: PromptOutcome) -> String {
        switch outcome {
        case .accepted: "Accepted."
        case .failed: "Not accepted."
        case .cancelled: "Cancelled."
        case .expired: "The question has expired."
        case .callerGone: "The question was withdrawn."
        }
    }
}

import VaubanAccessPolicy
import VaubanAuthenticationClient
import VaubanLinuxHost
import VaubanPlainText
import VaubanUserModel

/// The text of a prompt on the terminal: the program and the action as the system knows them, and in quotes the message of the caller.
enum PromptText {
    static let cancelHint = "Ctrl-C or an empty line cancels"
    private static let reasonCharactersMax = 200
    private static let nameMax = 60
    private static let pathMax = 240

    static func question(_ question: PromptQuestion) -> String {
        let isForPassword = question.operation == .applicationPassword
        var lines = ["Vauban asks for your approval."]
        lines.append("  Program:  \(caller(question.caller))")
        lines += TerminalPhrases.doubt(question.caller).map { "            \($0)" }
        lines.append("  Action:   \(question.consent.map(ConsentText.purpose) ?? TerminalPhrases.operation(question.operation))")
        if let consent = question.consent { lines += ConsentText.particulars(consent) }
        if let reason = question.reason.map({ SafeText.line($0, max: reasonCharactersMax) }), !reason.isEmpty {
            lines.append("  Message:  “\(reason)”")
        }
        // Attempts count for the passcode only; fingers have their own limit.
        let left = question.methods.contains(.passcode) && !isForPassword ? "; \(tries(question.attemptsLeft))" : ""
        lines.append(
            """
              Attempt \(question.attempt) of \(PromptQuestion.attemptsMax)\(left). \
            You have \(ConnectionLimits.userTimeout / 60_000_000_000) minutes.
            """
        )
        return lines.joined(separator: "\n") + "\n"
    }

    /// The text after a failed attempt that may be repeated.
    static func again(_ question: PromptQuestion) -> String {
        let left = "Attempt \(question.attempt) of \(PromptQuestion.attemptsMax).\n"
        if question.operation == .applicationPassword { return "That was not the password of this item. \(left)" }
        guard question.methods.contains(.passcode) else { return "That finger was not recognized. \(left)" }
        let what = question.methods.contains(.finger) ? "That was not accepted" : "That was not the passcode"
        return "\(what); \(tries(question.attemptsLeft)). \(left)"
    }

    static let fingerPrompt = "Touch the reader, or press Ctrl-C or Esc to refuse: "

    static func entryPrompt(_ question: PromptQuestion) -> String {
        question.operation == .applicationPassword
            ? "Password of this item, not your passcode (\(cancelHint)): " : passcodePrompt(question.methods)
    }

    static func passcodePrompt(_ methods: AuthenticationMethods) -> String {
        methods.contains(.finger) ? "Touch the reader or type the passcode (\(cancelHint)): " : "Passcode (\(cancelHint)): "
    }

    static func caller(_ caller: CallerName) -> String {
        guard let path = caller.path else { return "an unknown program (process \(caller.pid))" }
        let name = SafeText.path(PathBytes.name(of: path), max: nameMax)
        return "\(name) (\(SafeText.path(path, max: pathMax)), process \(caller.pid))"
    }

    static func tries(_ count: Int64) -> String { "\(count) \(count == 1 ? "attempt" : "attempts") left" }

    static func outcome(_ outcome: PromptOutcome) -> String {
        switch outcome {
        case .accepted: "Accepted."
        case .failed: "Not accepted."
        case .cancelled: "Cancelled."
        case .expired: "The prompt has expired."
        case .callerGone: "The prompt was withdrawn."
        }
    }
}

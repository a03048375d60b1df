import VaubanAccessPolicy
import VaubanLinuxHost

/// The question, in words: who asks as the system knows it, what for, and apart from both what the caller says.
enum PromptText {
    static let cancelHint = "Ctrl-C or an empty line cancels"
    private static let reasonCharactersMax = 200
    private static let nameMax = 60
    private static let pathMax = 240

    static func question(_ question: PromptQuestion) -> String {
        var lines = ["Vauban asks for your \(wanted(question.ways))."]
        lines.append("  Who asks:  \(caller(question.caller))")
        lines += doubt(question.caller).map { "             \($0)" }
        lines.append("  What for:  \(question.consent.map(ConsentText.purpose) ?? operation(question.operation))")
        if let consent = question.consent { lines += ConsentText.particulars(consent) }
        if let reason = question.reason.map({ SafeText.line($0, max: reasonCharactersMax) }), !reason.isEmpty {
            lines.append("  It says:   “\(reason)”")
        }
        // The tries are the passcode's; fingers are counted by themselves.
        let left = question.ways.contains(.passcode) ? "; \(tries(question.triesLeft))" : ""
        lines.append(
            "  Attempt \(question.attempt) of \(PromptQuestion.attemptsMax)\(left). You have \(DoorLimits.personTime / 60_000_000_000) minutes."
        )
        return lines.joined(separator: "\n") + "\n"
    }

    private static func wanted(_ ways: Ways) -> String {
        switch (ways.contains(.finger), ways.contains(.passcode)) {
        case (true, true): "finger or your passcode"
        case (true, false): "finger"
        default: "passcode"
        }
    }

    /// What is said when a try failed and there is another.
    static func again(_ question: PromptQuestion) -> String {
        let left = "Attempt \(question.attempt) of \(PromptQuestion.attemptsMax).\n"
        guard question.ways.contains(.passcode) else { return "That finger was not recognised. \(left)" }
        let what = question.ways.contains(.finger) ? "That was not accepted" : "That was not the passcode"
        return "\(what); \(tries(question.triesLeft)). \(left)"
    }

    static let fingerPrompt = "Touch the reader, or press Ctrl-C or Esc to refuse: "

    static func passcodePrompt(_ ways: Ways) -> String {
        ways.contains(.finger) ? "Touch the reader or type the passcode (\(cancelHint)): " : "Passcode (\(cancelHint)): "
    }

    static func caller(_ caller: CallerName) -> String {
        guard let path = caller.path else { return "an unknown program (process \(caller.pid))" }
        let name = SafeText.path(path.split(separator: "/").last.map(String.init) ?? path, max: nameMax)
        return "\(name) (\(SafeText.path(path, max: pathMax)), process \(caller.pid))"
    }

    /// What a person should know of a caller whose name says little.
    private static func doubt(_ caller: CallerName) -> [String] {
        let chain = caller.startedBy.map { SafeText.path($0, max: pathMax) }.joined(separator: ", started by ")
        var lines = chain.isEmpty ? [] : ["started by \(chain)"]
        let who = caller.startedBy.isEmpty ? "It" : "What started it"
        switch caller.doubt {
        case .interpreter: lines.append("\(who) runs what anybody wrote: which script or command that is cannot be told.")
        case .traced: lines.append("WARNING: another program watches and controls it.")
        case .orphan: lines.append("Who started it cannot be told: they have ended, or it was cut off from them.")
        case .foreignCode: lines.append("WARNING: it may run code that was not installed by the administrator.")
        case .unseen: lines.append("\(who) could not be looked at.")
        case nil: break
        }
        return lines
    }

    static func operation(_ operation: PromptOperation) -> String {
        switch operation {
        case .readItem: "to read an item that asks for you"
        case .evaluatePolicy: "to know that you are here"
        case .unlock: "to unlock the keychain"
        case .consent: "to be let in"
        case .sign: "to sign with a private key that asks for you"
        case .decrypt: "to decrypt with a private key that asks for you"
        case .exchangeKeys: "to agree on a secret with a private key that asks for you"
        }
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

package import VaubanLinuxHost
package import VaubanSecretBytes
package import VaubanUserModel

/// What the user did with a question.
package enum PromptResponse: ~Copyable, Sendable {
    case passcode(SecretBytes)
    /// To a question for consent: the passcode, and how long the yes holds.
    case consent(SecretBytes, ConsentChoice)
    case cancelled
    /// The caller's own way out instead; only where the question offers it.
    case fallback
    /// The question was settled elsewhere, its asker is gone, or it comes anew in another form: there is nothing to answer.
    case withdrawn
}

/// A place where a user can be asked: a terminal, later a sheet. It is asked one question at a time, on one thread.
package protocol PromptSurface: AnyObject, Sendable {
    /// Shows the question and waits for the user. While it waits it must watch `withdrawal` too: when its descriptor
    /// is readable and `isWithdrawn` then answers true, the question leaves the screen and the answer is `withdrawn`.
    func ask(_ question: PromptQuestion, withdrawal: any Withdrawal) -> PromptResponse

    /// Says how the last question ended, in a word. Nothing is to be waited for here.
    func settled(_ outcome: PromptOutcome)
}

/// The news that a question on the screen needs no answer any more.
package protocol Withdrawal {
    /// Becomes readable when there may be news.
    var descriptor: Descriptor { get }
    /// Takes the news in, and says whether the question was withdrawn.
    func isWithdrawn() -> Bool
    /// What happened to the question since this was asked the last time: for the picture of the finger.
    func updates() -> [PromptUpdate]
}

extension Withdrawal {
    /// A place without a picture has no use for them.
    package func updates() -> [PromptUpdate] { [] }
}

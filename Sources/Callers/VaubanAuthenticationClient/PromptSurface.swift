package import VaubanLinuxHost
package import VaubanPasscode
package import VaubanSecretBytes
package import VaubanUserModel

/// How the user responded to a prompt.
package enum PromptResponse: ~Copyable, Sendable {
    case passcode(SecretBytes)
    /// To a consent prompt: the passcode, and for how long the consent holds.
    case consent(SecretBytes, ConsentChoice)
    /// To a prompt for another passcode: the current one, and the new one, which was typed twice.
    case newPasscode(current: SecretBytes, SecretBytes)
    case cancelled
    /// The caller's fallback; only if the prompt offers one.
    case fallback
    /// The prompt was resolved elsewhere, its caller has ended, or it is sent again in another form: no answer is needed.
    case withdrawn
}

/// A place that can show prompts: a terminal or a sheet. It shows one at a time, on one thread.
package protocol PromptSurface: AnyObject, Sendable {
    /// Shows the prompt and waits for the user. While waiting it must watch `withdrawal` too: when its descriptor is readable and
    /// `isWithdrawn` returns true, it removes the prompt from the screen and returns `withdrawn`.
    func ask(_ request: PromptRequest, withdrawal: any Withdrawal) -> PromptResponse

    /// Shows a recovery key, which works from now on and is shown only here, until the user has written it down. Returns whether they have.
    /// A withdrawal does not end this: the key would be lost.
    func show(_ recoveryKey: borrowing RecoveryKey) -> Bool

    /// Shows briefly how the last prompt ended. Must not wait.
    func handleOutcome(_ outcome: PromptOutcome)
}

extension PromptSurface {
    /// By default declines: a surface that makes no changes of credentials never receives a prompt for one.
    package func show(_ recoveryKey: borrowing RecoveryKey) -> Bool { false }
}

/// The notice that a prompt on the screen no longer needs an answer.
package protocol Withdrawal {
    /// Becomes readable when the prompt may have been withdrawn or updated.
    var descriptor: Descriptor { get }
    /// Handles withdrawals and updates, and returns whether the prompt was withdrawn.
    func isWithdrawn() -> Bool
    /// Returns what happened at the fingerprint reader since the last call.
    func updates() -> [PromptUpdate]
}

extension Withdrawal {
    /// By default returns no updates: only a surface with a picture of the finger uses them.
    package func updates() -> [PromptUpdate] { [] }
}

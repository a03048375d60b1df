import Foundation
import LocalAuthentication

/// Lets the user through after they have authenticated.
public final class Gate: Sendable {
    public enum Answer: Sendable {
        case open
        /// The user was rejected, or did not authenticate with this method: the protected data should be deleted.
        case rejected(LAError)
        /// Undecided: the user cancelled, or no prompt was possible.
        case undecided(LAError)
    }

    private let laContext = LAContext()

    public init() {}

    /// Returns why the policy cannot succeed on this device; nil if it can. Does not prompt.
    public func obstacle(to policy: LAPolicy) -> LAError? {
        var error: NSError?
        if laContext.canEvaluatePolicy(policy, error: &error) { return nil }
        return error as? LAError ?? LAError(.authenticationFailed)
    }

    /// Prompts the user, and calls `answer` on a private queue.
    public func ask(
        _ reason: String, for policy: LAPolicy = .deviceOwnerAuthentication, answer: @escaping @Sendable (Answer) -> Void
    ) {
        laContext.evaluatePolicy(policy, localizedReason: reason) { authenticated, error in
            if authenticated { return answer(.open) }
            let laError = error as? LAError ?? LAError(.authenticationFailed)
            if laError.code == .authenticationFailed || laError.code == .userFallback {
                answer(.rejected(laError))
            } else {
                answer(.undecided(laError))
            }
        }
    }
}

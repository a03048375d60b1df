import Foundation
import LocalAuthentication

/// Lets the user through after they have shown that they are there.
public final class Gate: Sendable {
    public enum Answer: Sendable {
        case open
        /// Not this user, or not in this way: what lies behind should go.
        case rejected(LAError)
        /// Nothing is known about the user: they cancelled, or could not be asked.
        case undecided(LAError)
    }

    private let laContext = LAContext()

    public init() {}

    /// Why the policy cannot succeed on this device; nil when it can. Shows nothing.
    public func obstacle(to policy: LAPolicy) -> LAError? {
        var error: NSError?
        if laContext.canEvaluatePolicy(policy, error: &error) { return nil }
        return error as? LAError ?? LAError(.authenticationFailed)
    }

    /// Asks the user, and answers on a queue of its own.
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

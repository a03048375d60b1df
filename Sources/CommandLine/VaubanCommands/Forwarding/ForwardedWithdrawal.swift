import VaubanAccessPolicy
import VaubanAuthenticationClient
import VaubanLinuxHost
import VaubanUserModel

/// The end of a forwarded prompt, as its device says it.
final class ForwardedWithdrawal: Withdrawal {
    private let wakeup: Wakeup
    private let hasEnded: () -> Bool
    private var isOver = false

    init(_ wakeup: Wakeup, hasEnded: @escaping () -> Bool) {
        self.wakeup = wakeup
        self.hasEnded = hasEnded
    }

    var descriptor: Descriptor { wakeup.descriptor }

    func isWithdrawn() -> Bool {
        wakeup.clear()
        if !isOver { isOver = hasEnded() }
        return isOver
    }
}

extension PromptRequest {
    /// Whether another device may show it: no change of credentials, and one that takes a passcode.
    var isForOtherDevice: Bool { change == nil && !isMade && takesPasscode }

    /// The prompt as another device shows it: its passcode answers, and no reader there looks for a finger.
    var forOtherDevice: PromptRequest {
        PromptRequest(
            prompt: prompt, user: user, challenge: challenge, caller: caller, operation: operation, reason: reason, attempt: attempt,
            attemptsLeft: attemptsLeft, methods: .passcode, state: PromptState(secondsToWait: state.secondsToWait), consent: consent,
            titles: titles, hold: hold, change: change)
    }
}

import VaubanAccessPolicy
import VaubanAuthenticationClient
package import VaubanLinuxHost
import VaubanUserModel

/// The end of a forwarded prompt: its device says so, or the user's time is over.
package final class ForwardedWithdrawal: Withdrawal {
    private let wakeup: Wakeup
    private let deadline: UInt64
    private let hasEnded: () -> Bool
    private let isDone: Wakeup
    private var isOver = false

    /// `hasEnded` is asked whenever `wakeup` was signaled. The deadline is one of the boot clock, in nanoseconds.
    package init(_ wakeup: Wakeup, until deadline: UInt64, hasEnded: @escaping () -> Bool) throws(SystemError) {
        self.wakeup = wakeup
        self.deadline = deadline
        self.hasEnded = hasEnded
        isDone = try Wakeup()
        try HostThread.start { [wakeup, isDone] in
            // Again after a sleep of the device, in which the clock of the waiting stands still.
            while case let now = MachineClock.boot, now < deadline {
                if isDone.wait(until: MachineClock.monotonic + (deadline - now)) != .deadline { return }
            }
            wakeup.signal()
        }
    }

    deinit { isDone.signal() }

    package var descriptor: Descriptor { wakeup.descriptor }

    package func isWithdrawn() -> Bool {
        wakeup.clear()
        if !isOver { isOver = MachineClock.boot >= deadline || hasEnded() }
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

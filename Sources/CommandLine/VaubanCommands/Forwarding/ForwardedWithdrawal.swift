import VaubanAccessPolicy
import VaubanAuthenticationClient
package import VaubanLinuxHost
package import VaubanRefusal
import VaubanUserModel

/// The end of a forwarded prompt: its device reports it, or the user's timeout has passed.
package final class ForwardedWithdrawal: Withdrawal {
    private let wakeup: Wakeup
    private let deadline: UInt64
    private let hasEnded: () -> Bool
    private let isDone: Wakeup
    private var isOver = false

    private static let checkNanoseconds: UInt64 = 5_000_000_000

    /// Calls `hasEnded` after each signal of `wakeup`. The deadline is in nanoseconds of the boot clock.
    package init(_ wakeup: Wakeup, until deadline: UInt64, hasEnded: @escaping () -> Bool) throws(Refusal) {
        self.wakeup = wakeup
        self.deadline = deadline
        self.hasEnded = hasEnded
        do throws(SystemError) {
            let isDone = try Wakeup()
            self.isDone = isDone
            try HostThread.start {
                // Check the time regularly, since the clock of the wait stops while the device sleeps.
                while case let now = MachineClock.boot, now < deadline {
                    if isDone.wait(until: MachineClock.monotonic + min(deadline - now, Self.checkNanoseconds)) != .deadline { return }
                }
                wakeup.signal()
            }
        } catch {
            throw Refusal(.unavailable, error.sentence)
        }
    }

    deinit { isDone.signal() }

    /// Whether the user's timeout has passed.
    package var hasExpired: Bool { MachineClock.boot >= deadline }

    package var descriptor: Descriptor { wakeup.descriptor }

    package func isWithdrawn() -> Bool {
        wakeup.clear()
        if !isOver { isOver = hasExpired || hasEnded() }
        return isOver
    }
}

extension PromptRequest {
    /// Whether another device may show this prompt: it changes no credentials, and takes a passcode.
    var isForOtherDevice: Bool { change == nil && !isMade && takesPasscode }

    /// The prompt as another device shows it: it is answered with a passcode, and no reader there waits for a finger.
    var forOtherDevice: PromptRequest {
        PromptRequest(
            prompt: prompt, user: user, challenge: challenge, caller: caller, operation: operation, reason: reason, attempt: attempt,
            attemptsLeft: attemptsLeft, methods: .passcode, state: PromptState(secondsToWait: state.secondsToWait), consent: consent,
            titles: titles, hold: hold, change: change)
    }
}

internal import VaubanUserModel

/// The sentences for changes of credentials and of the lock settings. They use the enclave's values alone, and no text of the caller.
extension PromptWords {
    static func action(_ change: CredentialChange) -> String {
        switch change {
        case .configure(let before, let after): settings(before, after)
        case .enroll(let unlocks):
            """
            to enroll a finger: all fingers that this computer’s reader has for you then approve requests in place of your passcode\
            \(unlocks ? ", and unlock your keychain" : ""); \(fingersEnd)
            """
        case .forgetFingers: "to delete your fingers, so that only your passcode approves requests; \(fingersEnd)"
        case .changePasscode: "to change your passcode to a new one that you type here; no program receives it"
        case .makeRecoveryKey:
            """
            to make a recovery key, which is shown here once and sets a new passcode if you forget yours; an earlier one ends when you \
            have confirmed this one
            """
        case .endRecoveryKey: "to end your recovery key; if you forget your passcode then, everything in your keychain is lost"
        }
    }

    private static let fingersEnd = "items that require the present set of fingers can never be read again"

    private static func settings(_ before: LockSettings, _ after: LockSettings) -> String {
        var changes: [String] = []
        if after.idleSeconds != before.idleSeconds {
            changes.append(
                after.idleSeconds == 0
                    ? "to keep your keychain open however long nobody uses it (now: locks after \(DurationText.exact(before.idleSeconds)))"
                    : "to lock your keychain after \(DurationText.exact(after.idleSeconds)) without use (now: \(idle(before)))")
        }
        if after.locksWithScreen != before.locksWithScreen {
            let locks = after.graceSeconds == 0 ? "with the screen" : "\(DurationText.exact(after.graceSeconds)) after the screen locks"
            changes.append(
                after.locksWithScreen
                    ? "to lock your keychain \(locks) (now: stays open)"
                    : "to keep your keychain open when the screen locks (now: locks)")
        }
        if after.graceSeconds != before.graceSeconds {
            let when = after.locksWithScreen ? "sleep or a screen lock" : "sleep"
            let now = before.graceSeconds == 0 ? "locks at once" : DurationText.exact(before.graceSeconds)
            changes.append(
                after.graceSeconds == 0
                    ? "to lock your keychain at once after \(when) (now: stays open for \(now))"
                    : "to keep your keychain open for \(DurationText.exact(after.graceSeconds)) after \(when) (now: \(now))")
        }
        // The enclave refuses a prompt for this change, but whatever is shown must be all that the passcode is sealed for.
        if after.allowsTerminalPrompts != before.allowsTerminalPrompts {
            changes.append("to change which programs may prompt on their own terminals")
        }
        return changes.isEmpty ? "to keep the settings of your keychain" : changes.joined(separator: ", and ")
    }

    private static func idle(_ settings: LockSettings) -> String {
        settings.idleSeconds == 0 ? "never" : "after \(DurationText.exact(settings.idleSeconds))"
    }
}

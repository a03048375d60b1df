// The rows of `vauban status` about wrong attempts, the recovery key, locking and fingers.

import Foundation
import VaubanKeychainModel
import VaubanPlainText
import VaubanUserModel

extension StatusText {
    static func failedAttempts(_ guesses: [FailedAttempt]) -> [String] {
        guesses.enumerated().map { index, guess in
            let what = "wrong on \(time(guess.date)), \(purpose(guess.purpose)): \(SafeText.path(guess.who, max: 240))"
            return row(index == 0 ? "Attempts" : "", what)
        }
    }

    private static func purpose(_ purpose: PasscodePurpose) -> String {
        switch purpose {
        case .unlock: "to unlock"
        case .set: "to set a passcode"
        case .change: "to change the passcode"
        case .prompt: "to answer a prompt"
        case .remove: "to remove the passcode"
        case .recover: "to recover"
        case .recoveryKey: "to make a recovery key"
        case .configure: "to change the settings"
        case .enroll: "to enroll or delete fingerprints"
        case .erase: "to erase the keychain"
        }
    }

    static func recoveryKey(_ device: DeviceStatus) -> String {
        let used = device.recovered.map { "; one was used on \(time($0))" } ?? ""
        guard device.recoveryKeyIsSet else {
            return "none: if you forget the passcode, everything is lost; to create one: vauban passcode recovery-key" + used
        }
        return "set" + (device.earlierRecoveryKeyWorks ? "; \(earlierRecoveryKey)" : "") + used
    }

    static let earlierRecoveryKey = """
        an earlier one works too, since the new one was not confirmed; if you have it: vauban passcode recovery-key --confirm
        """

    static func locks(_ settings: LockSettings) -> String {
        let events = settings.locksWithScreen ? "when the machine sleeps or the screen is locked" : "when the machine sleeps"
        let grace = settings.graceSeconds > 0 ? ", \(DurationText.exact(settings.graceSeconds)) later" : ""
        let idle = settings.idleSeconds > 0 ? "; after \(DurationText.exact(settings.idleSeconds)) without use" : ""
        return events + grace + idle
    }

    static let sleepIsNotAnnounced =
        """
        this system does not announce sleep or the screen lock: keys stay in memory while the machine sleeps and are erased at \
        the first use afterward; the screen lock has no effect
        """

    /// Returns the text for `vauban settings`, in the words of its options.
    static func settings(_ settings: LockSettings) -> String {
        [
            ("grace", "\(DurationText.exact(settings.graceSeconds)) from sleep or the screen lock until the keys are erased"),
            (
                "idle",
                settings.idleSeconds > 0
                    ? "\(DurationText.exact(settings.idleSeconds)) without use, then locks" : "never"
            ),
            (
                "lock-with-screen",
                settings.locksWithScreen ? "on, locks with the screen" : "off, does not lock with the screen"
            ),
        ].map { TextColumns.label($0.0, 18) + $0.1 }.joined(separator: "\n")
    }

    static func fingers(_ biometry: DeviceStatus.Biometry) -> [String] {
        guard biometry.isEnrolled else {
            return [row("Fingers", biometry.readerIsPresent ? "reader available; no finger enrolled" : "no reader")]
        }
        var words = biometry.readerIsPresent ? "enrolled" : "enrolled, but the reader is missing"
        if biometry.isReady {
            words += "; \(biometry.missesLeft) more may fail before the passcode is required"
        } else {
            words += "; not accepted until the passcode is entered: vauban unlock"
        }
        guard biometry.unlocks else { return [row("Fingers", words), row("", "a finger does not unlock the keychain")] }
        let cost =
            """
            a finger unlocks the keychain after the first unlock: while locked, its keys stay in memory, encrypted with a key that \
            only the reader has
            """
        return [row("Fingers", words), row("", cost)]
    }

    static let terminalPrompts =
        """
        weak: other programs may show prompts on their own terminal, where they can read what you type; to disable: vauban allow \
        terminal-prompts off
        """

    static func builds(_ permissions: [Permission]) -> [String] {
        permissions.filter { $0.kind == .buildsIn }.enumerated().map { index, permission in
            row(
                index == 0 ? "Builds" : "",
                "weak: any new build in \(SafeText.visible(permission.subject)) is accepted without asking")
        }
            + permissions.filter { $0.kind == .offers && $0.object.hasByteSuffix("as many as it may") }.map { permission in
                row(
                    "Offers",
                    """
                    \(SafeText.path(permission.subject, max: 120)) offers the maximum number of its items to other programs; to list them: \
                    vauban allow
                    """
                )
            }
    }
}

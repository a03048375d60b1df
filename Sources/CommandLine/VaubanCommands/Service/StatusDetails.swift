// The rows of `vauban status` that say who tried, what a recovery key did, when it locks, and what fingers are worth.

import Foundation
import VaubanKeychainModel
import VaubanPlainText
import VaubanUserModel

extension StatusText {
    static func wrongGuesses(_ guesses: [WrongGuess]) -> [String] {
        guesses.enumerated().map { index, guess in
            row(index == 0 ? "Wrong tries" : "", "\(time(guess.date)), \(purpose(guess.purpose)): \(SafeText.path(guess.who, max: 240))")
        }
    }

    private static func purpose(_ purpose: PasscodePurpose) -> String {
        switch purpose {
        case .unlock: "to unlock"
        case .set: "to set a passcode"
        case .change: "to change the passcode"
        case .prompt: "to answer a question"
        case .remove: "to remove the passcode"
        case .recover: "to recover"
        case .recoveryKey: "to make a recovery key"
        case .configure: "to change the settings"
        case .enrol: "to enrol or forget fingers"
        case .erase: "to erase the keychain"
        }
    }

    static func recoveryKey(_ device: DeviceStatus) -> String {
        let used = device.recovered.map { "; one was used on \(time($0))" } ?? ""
        return (device.recoveryKeyIsSet ? "set" : "none, so a forgotten passcode loses everything; make one: vauban passcode recovery-key")
            + used
    }

    static func locks(_ settings: LockSettings) -> String {
        let events = settings.locksWithScreen ? "when the machine sleeps or the screen is locked" : "when the machine sleeps"
        let grace = settings.graceSeconds > 0 ? ", \(TimeLength.words(settings.graceSeconds)) later" : ""
        let idle = settings.idleSeconds > 0 ? "; after \(TimeLength.words(settings.idleSeconds)) without use" : ""
        return events + grace + idle
    }

    static let sleepIsNotAnnounced =
        """
        nobody announces sleep or a screen's lock here: the keys stay in memory while the machine sleeps and go at the first look \
        afterwards, and the screen's lock is not noticed
        """

    /// For `vauban settings`, in the words of its options.
    static func settings(_ settings: LockSettings) -> String {
        [
            ("grace", "\(TimeLength.words(settings.graceSeconds)), from the machine's sleep or the screen's lock until the keys go"),
            (
                "idle",
                settings.idleSeconds > 0
                    ? "\(TimeLength.words(settings.idleSeconds)) without any use, then it locks" : "never, it does not lock for want of use"
            ),
            (
                "lock-with-screen",
                settings.locksWithScreen ? "on, the screen's lock locks it too" : "off, the screen's lock does not lock it"
            ),
        ].map { "\($0.0.padding(toLength: 18, withPad: " ", startingAt: 0))\($0.1)" }.joined(separator: "\n")
    }

    static func fingers(_ biometry: DeviceStatus.Biometry) -> [String] {
        guard biometry.isEnrolled else {
            return [row("Fingers", biometry.readerIsThere ? "there is a reader; no finger is enrolled" : "there is no reader")]
        }
        var words = biometry.readerIsThere ? "enrolled" : "enrolled, but the reader is not there"
        if biometry.isReady {
            words += "; \(biometry.missesLeft) more may fail before the passcode is needed"
        } else {
            words += "; not accepted until the passcode is entered: vauban unlock"
        }
        guard biometry.unlocks else { return [row("Fingers", words), row("", "a matched finger does not unlock the keychain")] }
        let cost =
            """
            a matched finger unlocks after the first unlock: while locked, the keys of open classes are kept encrypted under a key \
            that the reader holds
            """
        return [row("Fingers", words), row("", cost)]
    }

    static let terminalPrompts =
        """
        weak: other programs may ask on the terminal that they run on, where they can read what you type; to end that: vauban allow \
        terminal-prompts off
        """

    static func builds(_ permissions: [Permission]) -> [String] {
        permissions.filter { $0.kind == .buildsIn }.enumerated().map { index, permission in
            row(
                index == 0 ? "Builds" : "",
                "weak: a new build in \(SafeText.visible(permission.subject)) is accepted without a question, whoever wrote it")
        }
            + permissions.filter { $0.kind == .offers && $0.object.hasByteSuffix("as many as it may") }.map { permission in
                row(
                    "Offers",
                    """
                    \(SafeText.path(permission.subject, max: 120)) offers other programs as many of its items as it may; to see them: \
                    vauban allow
                    """
                )
            }
    }
}

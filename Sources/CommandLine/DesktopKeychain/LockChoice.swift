package import VaubanCommands
package import VaubanUserModel

/// When the keychain should lock, as chosen in the window.
package struct LockChoice: Hashable, Sendable {
    /// A duration to choose, in seconds and in words.
    package struct Length: Hashable, Sendable {
        package let seconds: Int64
        package let words: String
    }

    private let before: LockSettings
    /// Seconds without use; 0 for never.
    package var idleSeconds: Int64
    /// Seconds from sleep or a screen lock; 0 for at once.
    package var graceSeconds: Int64
    package var locksWithScreen: Bool

    package init(_ settings: LockSettings) {
        before = settings
        idleSeconds = settings.idleSeconds
        graceSeconds = settings.graceSeconds
        locksWithScreen = settings.locksWithScreen
    }

    /// The idle times to choose from, including the current one.
    package var idleLengths: [Length] { Self.lengths([0, 5 * 60, 15 * 60, 60 * 60], with: before.idleSeconds, zero: "Never") }
    /// The grace periods to choose from, including the current one.
    package var graceLengths: [Length] { Self.lengths([0, 10, 60, 5 * 60], with: before.graceSeconds, zero: "At once") }

    private static func lengths(_ usual: [Int64], with present: Int64, zero: String) -> [Length] {
        Set(usual + [present]).sorted().map { Length(seconds: $0, words: $0 == 0 ? zero : DurationText.exact($0)) }
    }

    /// The settings as chosen. Where programs may prompt cannot be chosen in the window.
    private var after: LockSettings {
        var settings = before
        settings.idleSeconds = idleSeconds
        settings.graceSeconds = graceSeconds
        settings.locksWithScreen = locksWithScreen
        return settings
    }

    /// The change from the current settings to the chosen ones; nil if they are the same.
    package var change: KeychainChange? {
        after == before ? nil : KeychainChange("Change", done: "Changed.", .configure(before: before, after: after))
    }
}

/// A change for which the service prompts for the passcode.
package struct KeychainChange: Hashable, Sendable {
    let change: CredentialChange
    /// The title of its button.
    package let title: String
    /// The sentence for a completed change.
    package let done: String

    init(_ title: String, done: String, _ change: CredentialChange) {
        self.change = change
        self.title = title
        self.done = done
    }

    /// The sentence for a change whose outcome is unknown; empty for none.
    package var ifUnknown: String {
        self == .makeRecoveryKey ? "If a new recovery key is on the screen, it works, and an earlier one no longer does." : ""
    }

    static let changePasscode = KeychainChange("Change Passcode", done: "The passcode is changed.", .changePasscode)
    static let makeRecoveryKey = KeychainChange(
        "Make Recovery Key", done: "The new recovery key was shown with its prompt. An earlier one no longer works.", .makeRecoveryKey)
    static let endRecoveryKey = KeychainChange("End Recovery Key", done: "The recovery key no longer works.", .endRecoveryKey)
    static let enroll = KeychainChange("Enroll Finger to Approve", done: "The finger is enrolled.", .enroll(unlocks: false))
    static let enrollToUnlock = KeychainChange(
        "Enroll Finger to Approve and Unlock", done: "The finger is enrolled, and unlocks the keychain.", .enroll(unlocks: true))
    static let forgetFingers = KeychainChange("Delete Fingers", done: "Your fingerprints are deleted.", .forgetFingers)

    /// Returns the warning before one of these changes; nil for none.
    package static func warning(about changes: [KeychainChange]) -> String? {
        if changes.contains(changePasscode) {
            return """
                You type the current passcode and a new one where the prompt appears; this window receives neither. An old copy of this \
                disk still opens with the old passcode; the command below also renews the keys.
                """
        }
        if changes.contains(makeRecoveryKey) {
            return """
                A new recovery key is shown once, where the prompt appears, and never in this window. An earlier one ends when you have \
                confirmed the new one.
                """
        }
        let ofFingers: [KeychainChange] = [.enroll, .enrollToUnlock, .forgetFingers]
        guard changes.contains(where: { ofFingers.contains($0) }) else { return nil }
        return """
            If you enroll one, all fingers that this computer’s reader has for you count, not only the new one. Items that require the \
            present set of fingers can never be read again once you enroll or delete fingers.
            """
    }

    /// Returns the changes that are possible now in a part of the settings. Locking is a `LockChoice` instead.
    package static func offered(for subject: SettingsSummary.Subject, of device: DeviceStatus) -> [KeychainChange] {
        guard device.passcodeIsSet else { return [] }
        let biometry = device.biometry
        return switch subject {
        case .passcode: [.changePasscode]
        case .recoveryKey: [.makeRecoveryKey] + (device.recoveryKeyIsSet ? [.endRecoveryKey] : [])
        // Without the reader, fingers cannot be deleted from it.
        case .fingers: biometry.readerIsPresent ? [.enroll, .enrollToUnlock] + (biometry.isEnrolled ? [.forgetFingers] : []) : []
        case .locks, .terminalPrompts: []
        }
    }
}

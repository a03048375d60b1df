package import Foundation
import VaubanAccessPolicy
package import VaubanLinuxHost
package import VaubanUserModel

/// The output of `vauban status --json`. The keys must not change, since scripts use them; unknown values are left out.
package struct StatusDocument: Encodable {
    package struct Passcode: Encodable {
        package let isSet: Bool
        package let attemptsLeft: Int64
        package let secondsToWait: Int64
        package let recoveryKeyIsSet: Bool
        /// Whether the previous recovery key is still valid because the newest one was not confirmed.
        package let earlierRecoveryKeyWorks: Bool
    }

    package struct Fingers: Encodable {
        package let reader: Bool
        package let enrolled: Bool
        package let accepted: Bool
        package let unlock: Bool
    }

    package let mode: String
    /// The folder of a keychain of user mode.
    package let folder: String?
    package let passcode: Passcode
    package let state: String
    package let since: Date
    package let locks: SettingsDocument
    package let fingers: Fingers
    /// Where programs can prompt the user.
    package let prompts: [String]
    package let warnings: [String]
    /// The uses of canary items that the user has not seen; left out if that is unknown.
    package let canaryAlerts: Int64?

    package init(mode: Service.Mode, _ device: DeviceStatus, promptPlaces: [String], canaryAlerts: Int64? = nil) {
        switch mode {
        case .system: (self.mode, folder) = ("system", nil)
        case .user(let home), .named(let home): (self.mode, folder) = ("user", home)
        }
        passcode = Passcode(
            isSet: device.passcodeIsSet, attemptsLeft: device.attemptsLeft, secondsToWait: device.secondsToWait,
            recoveryKeyIsSet: device.recoveryKeyIsSet, earlierRecoveryKeyWorks: device.earlierRecoveryKeyWorks)
        state =
            switch device.lock {
            case .beforeFirstUnlock: "beforeFirstUnlock"
            case .locked: "locked"
            case .unlocked: "unlocked"
            case .unreadable: "unreadable"
            }
        since = Date(microseconds: device.since)
        locks = SettingsDocument(device.settings, keepsHistory: nil)
        let biometry = device.biometry
        fingers = Fingers(
            reader: biometry.readerIsPresent, enrolled: biometry.isEnrolled, accepted: biometry.isReady, unlock: biometry.unlocks)
        prompts = promptPlaces
        warnings = device.warnings
        self.canaryAlerts = canaryAlerts
    }
}

/// The output of `vauban settings --json`.
package struct SettingsDocument: Encodable {
    package let graceSeconds: Int64
    /// The idle time after which the keychain locks; 0 if it does not lock when idle.
    package let idleSeconds: Int64
    package let locksWithScreen: Bool
    package let keepsHistory: Bool?

    package init(_ settings: LockSettings, keepsHistory: Bool?) {
        graceSeconds = settings.graceSeconds
        idleSeconds = settings.idleSeconds
        locksWithScreen = settings.locksWithScreen
        self.keepsHistory = keepsHistory
    }
}

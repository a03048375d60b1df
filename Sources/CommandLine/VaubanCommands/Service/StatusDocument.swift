import Foundation
import VaubanAccessPolicy
import VaubanLinuxHost
import VaubanUserModel

/// `vauban status --json`. Keys stay as they are, since scripts name them; what is not known or not so is left out.
struct StatusDocument: Encodable {
    struct Passcode: Encodable {
        let isSet: Bool
        let triesLeft: Int64
        let secondsToWait: Int64
        let recoveryKeyIsSet: Bool
    }

    struct Fingers: Encodable {
        let reader: Bool
        let enrolled: Bool
        let accepted: Bool
        let unlock: Bool
    }

    let mode: String
    /// The folder of a keychain of user mode.
    let folder: String?
    let passcode: Passcode
    let state: String
    let since: Date
    let locks: SettingsDocument
    let fingers: Fingers
    /// Where programs can ask the user.
    let prompts: [String]
    let warnings: [String]

    init(mode: Service.Mode, _ device: DeviceStatus, promptPlaces: [String]) {
        switch mode {
        case .system: (self.mode, folder) = ("system", nil)
        case .user(let home), .named(let home): (self.mode, folder) = ("user", home)
        }
        passcode = Passcode(
            isSet: device.passcodeIsSet, triesLeft: device.triesLeft, secondsToWait: device.secondsToWait,
            recoveryKeyIsSet: device.recoveryKeyIsSet)
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
            reader: biometry.readerIsThere, enrolled: biometry.isEnrolled, accepted: biometry.isReady, unlock: biometry.unlocks)
        prompts = promptPlaces
        warnings = device.warnings
    }
}

/// `vauban settings --json`.
struct SettingsDocument: Encodable {
    let graceSeconds: Int64
    /// 0: it does not lock for want of use.
    let idleSeconds: Int64
    let locksWithScreen: Bool
    let keepsHistory: Bool?

    init(_ settings: LockSettings, keepsHistory: Bool?) {
        graceSeconds = settings.graceSeconds
        idleSeconds = settings.idleSeconds
        locksWithScreen = settings.locksWithScreen
        self.keepsHistory = keepsHistory
    }
}

extension Date {
    /// From the keychain's form of a date: microseconds since 2001.
    init(microseconds: Int64) { self.init(timeIntervalSinceReferenceDate: Double(microseconds) / 1_000_000) }
}

import Foundation
import Glibc
import VaubanAccessPolicy
import VaubanKeychainModel
import VaubanKeychainWire
import VaubanLinuxHost
import VaubanUserModel

/// The texts of `vauban status` and `vauban setup`.
enum StatusText {
    static let noPasscode =
        "No passcode is set: anyone who has the disk, or a copy of it, can read every item."

    static let noPasscodeSentence =
        "Anyone who has the disk, or a copy of it, can now read every item that does not need your approval."

    /// A description of the protection that user mode provides.
    static let userMode = [
        "protects against disk theft (as strongly as your passcode), other users and sandboxed programs",
        "any program that you run can read your secrets; install the service against that",
        "all your programs count as one owner: access groups are labels, and no program needs consent",
    ]

    static let systemMode = [
        "your other programs cannot read its memory or files, and cannot answer prompts for you",
        "does NOT protect against root, or against a program that controls the terminal or desktop where you type your passcode",
    ]

    static func text(
        mode: Service.Mode, _ device: DeviceStatus, promptPlaces: [String], terminal: String?, permissions: [Permission] = [],
        own: String? = nil, alerts: CanaryAlerts? = nil
    ) -> String {
        var lines = self.mode(mode)
        if let own { lines.append(row("Own keychain", own)) }
        lines.append(row("Passcode", passcode(device)))
        lines += failedAttempts(device.failedAttempts)
        if device.passcodeIsSet { lines.append(row("Recovery key", recoveryKey(device))) }
        lines.append(row("State", state(device)))
        lines.append(row("Locks", locks(device.settings)))
        if device.passcodeIsSet, !device.sleepIsAnnounced { lines.append(row("", sleepIsNotAnnounced)) }
        lines += fingers(device.biometry)
        if device.hasOlderKeys { lines.append(row("Keys", "some items still use older keys; run: vauban passcode roll")) }
        lines += prompts(promptPlaces, terminal)
        if device.settings.allowsTerminalPrompts { lines.append(row("", terminalPrompts)) }
        lines += builds(permissions)
        if let alerts, alerts.unseen > 0 { lines.append(row("Canaries", CanaryNotice.text(alerts))) }
        lines += device.warnings.map { row("Warning", SafeText.line($0, max: 500)) }
        if case .named(let home) = mode {
            lines.append(row("VAUBAN_HOME", "\(SafeText.visible(home)) (this shell's, for development and tests)"))
        }
        lines.append(row("Next", next(device, hasAgent: !promptPlaces.isEmpty)))
        return lines.joined(separator: "\n")
    }

    static func mode(_ mode: Service.Mode) -> [String] {
        switch mode {
        case .system: [row("Mode", "system: the service of this machine, under its own system users")] + systemMode.map { row("", $0) }
        case .user(let home), .named(let home):
            [row("Mode", "user: runs as you, in \(SafeText.visible(home))")] + userMode.map { row("", $0) }
        }
    }

    private static func passcode(_ device: DeviceStatus) -> String {
        if device.lock == .unreadable { return "unknown: the stored state cannot be read" }
        guard device.passcodeIsSet else { return "not set: anyone who has the disk, or a copy of it, can read every item" }
        if device.secondsToWait > 0 { return "set; the next attempt is possible in \(DurationText.wait(device.secondsToWait))" }
        return "set; \(device.attemptsLeft) \(device.attemptsLeft == 1 ? "attempt" : "attempts") left before a delay"
    }

    private static func state(_ device: DeviceStatus) -> String {
        let state =
            switch device.lock {
            case .beforeFirstUnlock: "not unlocked since it started"
            case .locked: "locked"
            case .unlocked: "unlocked"
            case .unreadable: "refusing everything: the stored state cannot be read"
            }
        let cause =
            switch device.cause {
            case .started: "the service started"
            case .passcodeEntered: "the passcode was entered"
            case .lockRequested: "you locked it"
            case .passcodeSet: "the passcode was set"
            case .slept: "the machine went to sleep"
            case .screenLocked: "the screen was locked"
            case .idle: "it was not used"
            case .fingerMatched: "a finger was recognized"
            case .passcodeRemoved: "the passcode was removed"
            case .recovered: "the recovery key was used"
            case .erased: "the keychain was erased"
            }
        return "\(state), since \(time(device.since)): \(cause)"
    }

    private static func prompts(_ places: [String], _ terminal: String?) -> [String] {
        var rows = places.map { "for all programs at: \(SafeText.line($0, max: 200))" }
        if rows.isEmpty { rows.append("for other programs nowhere: requests that need your approval fail; run: vauban approve") }
        rows.append(terminal.map { "for vauban on this terminal (\($0))" } ?? "for vauban nowhere: no terminal")
        return rows.enumerated().map { row($0.offset == 0 ? "Prompts" : "", $0.element) }
    }

    private static func next(_ device: DeviceStatus, hasAgent: Bool) -> String {
        if device.lock == .unreadable { return "follow the warning; nothing was changed" }
        if !device.passcodeIsSet { return "vauban passcode set" }
        switch device.lock {
        case .beforeFirstUnlock, .locked, .unreadable: return "vauban unlock"
        case .unlocked:
            return hasAgent ? "vauban set github/anna" : "vauban approve, in a terminal of its own, to let other programs ask for approval"
        }
    }

    static func row(_ name: String, _ text: String) -> String {
        TextColumns.label(name, 13) + text
    }

    private static let unknownTime = "an unknown time"

    static func time(_ date: Date) -> String { date.microseconds.map { time($0) } ?? unknownTime }

    /// Returns local time for microseconds since the reference date.
    static func time(_ microseconds: Int64) -> String {
        var seconds = time_t(microseconds / 1_000_000 + 978_307_200)
        var local = tm()
        guard localtime_r(&seconds, &local) != nil else { return unknownTime }
        var text = [CChar](repeating: 0, count: 64)
        let count = strftime(&text, text.count, "%Y-%m-%d %H:%M", &local)
        return String(decoding: text[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}

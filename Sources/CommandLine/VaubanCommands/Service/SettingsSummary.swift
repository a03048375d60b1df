package import VaubanUserModel

/// The keychain's settings in words, and the commands for changes that only a terminal can make.
package struct SettingsSummary: Hashable, Sendable {
    package enum Subject: Sendable { case locks, passcode, recoveryKey, fingers, terminalPrompts }

    package let subject: Subject
    package let title: String
    package let text: String
    package let commands: [String]

    private init(_ subject: Subject, title: String, text: String, commands: [String] = []) {
        self.subject = subject
        self.title = title
        self.text = text
        self.commands = commands
    }

    /// Returns one summary for each part of the settings.
    package static func all(of device: DeviceStatus) -> [SettingsSummary] {
        [locks(device), passcode(device)] + (device.passcodeIsSet ? [recoveryKey(device)] : []) + [fingers(device.biometry)]
            + (device.settings.allowsTerminalPrompts ? [terminalPrompts] : [])
    }

    private static func locks(_ device: DeviceStatus) -> SettingsSummary {
        let notes = device.passcodeIsSet && !device.sleepIsAnnounced ? "\n\(sentence(StatusText.sleepIsNotAnnounced))" : ""
        return SettingsSummary(.locks, title: "The keychain locks", text: sentence(StatusText.locks(device.settings)) + notes)
    }

    private static func passcode(_ device: DeviceStatus) -> SettingsSummary {
        guard device.passcodeIsSet else {
            return SettingsSummary(.passcode, title: "Passcode", text: StatusText.noPasscode, commands: ["vauban passcode set"])
        }
        let wrong = device.failedAttempts.count
        let attempts = wrong == 0 ? "" : " Wrong attempts since the last correct one: \(wrong); vauban status lists them."
        return SettingsSummary(
            .passcode, title: "Passcode", text: "A passcode is set.\(attempts)", commands: ["vauban passcode change --roll"])
    }

    private static func recoveryKey(_ device: DeviceStatus) -> SettingsSummary {
        let used = device.recovered.map { " One was used on \(StatusText.time($0))." } ?? ""
        guard device.recoveryKeyIsSet else {
            return SettingsSummary(
                .recoveryKey, title: "Recovery key", text: "There is none: if you forget the passcode, everything is lost.\(used)")
        }
        guard device.earlierRecoveryKeyWorks else {
            return SettingsSummary(.recoveryKey, title: "Recovery key", text: "A recovery key is set.\(used)")
        }
        return SettingsSummary(
            .recoveryKey, title: "Recovery key",
            text: "A recovery key was made and not confirmed: an earlier one works too.\(used) If you have the new one, confirm it:",
            commands: ["vauban passcode recovery-key --confirm"])
    }

    private static func fingers(_ biometry: DeviceStatus.Biometry) -> SettingsSummary {
        guard biometry.isEnrolled else {
            return biometry.readerIsPresent
                ? SettingsSummary(.fingers, title: "Fingers", text: "No finger is enrolled.")
                : SettingsSummary(.fingers, title: "Fingers", text: "There is no fingerprint reader.")
        }
        var words = biometry.readerIsPresent ? "A finger approves requests" : "Fingers are enrolled, but the reader is missing"
        words += biometry.unlocks ? ", and unlocks the keychain after the first unlock." : ", and does not unlock the keychain."
        if !biometry.isReady { words += " They are accepted again once the passcode is entered." }
        return SettingsSummary(.fingers, title: "Fingers", text: words)
    }

    private static let terminalPrompts = SettingsSummary(
        .terminalPrompts, title: "Prompts on terminals",
        text: "Weak: other programs may show prompts on their own terminal, where they can read what you type.",
        commands: ["vauban allow terminal-prompts off"])

    private static func sentence(_ text: String) -> String { "\(text.prefix(1).uppercased())\(text.dropFirst())." }
}

/// The programs that `vauban enable` and `vauban ssh enable` connect to the keychain. Files in the user's home do it, so it needs no
/// approval.
package enum ProgramAccess: CaseIterable, Sendable {
    case secretService, browser, ssh

    /// Whether it is enabled as the commands would enable it.
    package var isEnabled: Bool {
        switch self {
        case .secretService: (try? SecretServiceEnabling.installed())?.isEnabled ?? false
        case .browser: (try? BrowserEnabling.current().isEnabled) ?? false
        case .ssh: (try? SSHEnabling.current().isEnabled) ?? false
        }
    }

    package func set(_ isEnabled: Bool) throws {
        // Throws if nothing is set up, since programs would lose the provider that they have.
        if isEnabled { _ = try ServiceAccess.current() }
        switch self {
        case .secretService: isEnabled ? try SecretServiceEnabling.current().enable() : try SecretServiceEnabling.disable()
        case .browser: isEnabled ? try BrowserEnabling.current().enable() : try BrowserEnabling.current().disable()
        case .ssh: isEnabled ? try SSHEnabling.current().enable() : try SSHEnabling.current().disable()
        }
    }
}

import VaubanAuthenticationClient
import VaubanCommands
import VaubanKeychainClient
package import VaubanLinuxHost
import VaubanUserModel

/// The settings as the window shows them.
package struct KeychainSettings: Sendable {
    /// A part of the settings in words, with the changes that are possible here, and the commands for changes in a terminal.
    package struct Part: Hashable, Sendable {
        package let title: String
        package let text: String
        package let commands: [String]
        package let changes: [KeychainChange]
        /// When the keychain locks, if this part covers that and can be changed.
        package let locks: LockChoice?
    }

    /// A setting that connects other programs to the keychain.
    package struct Access: Hashable, Sendable {
        fileprivate let access: ProgramAccess
        package let title: String
        package let isEnabled: Bool

        fileprivate init(_ access: ProgramAccess) {
            self.access = access
            isEnabled = access.isEnabled
            title =
                switch access {
                case .secretService: "Programs that use the Secret Service, such as mail programs"
                case .browser: "Chromium, Chrome and Firefox, with Vauban’s extension"
                case .ssh: "ssh and git, with Vauban’s agent"
                }
        }
    }

    package let parts: [Part]
    /// Whether earlier values and deleted items are kept.
    package let keepsHistory: Bool
    package let accesses: [Access]
}

extension ItemKeychain {
    package func settings() throws -> KeychainSettings {
        let device = try status()
        let parts = SettingsSummary.all(of: device).map { summary in
            KeychainSettings.Part(
                title: summary.title, text: summary.text, commands: summary.commands,
                changes: KeychainChange.offered(for: summary.subject, of: device),
                locks: summary.subject == .locks && device.passcodeIsSet ? LockChoice(device.settings) : nil)
        }
        return KeychainSettings(
            parts: parts,
            keepsHistory: try keepsHistory(), accesses: ProgramAccess.allCases.map { .init($0) })
    }

    /// Makes the service prompt for the passcode with a change, and perform it. Returns a description of the result. Nothing that the user
    /// types or sees at the prompt passes through this process.
    package func make(_ change: KeychainChange, waiting: @escaping Waiting, cancellation: CallCancellation) throws -> String {
        // Whatever the reply: even without one, the passcode may have been changed.
        defer { if change == .changePasscode { LoginMemory.forget() } }
        try authentication.changeByPrompt(change.change, waiting: waiting, cancellation: cancellation)
        return change.done
    }

    /// Returns whether earlier values and deleted items are kept.
    package func keepsHistory() throws -> Bool { try keychain.keepsHistory() }

    /// Sets whether earlier values and deleted items are kept; existing ones stay. Returns a description of the result.
    package func setKeepsHistory(_ isOn: Bool) throws -> String {
        _ = try keychain.keepsHistory(isOn)
        return isOn ? "They are kept." : "No more will be kept. To erase the existing ones: vauban history --clear --all"
    }

    /// Does what `vauban enable` or `vauban disable` does. Returns a description of the result, and when it takes effect.
    package func set(_ access: KeychainSettings.Access, to isEnabled: Bool) throws -> String {
        try access.access.set(isEnabled)
        return switch (access.access, isEnabled) {
        case (.secretService, true): "Enabled. If another Secret Service runs, programs use Vauban from the next login on."
        case (.secretService, false): "Disabled. From the next login on, programs use another Secret Service; their items stay here."
        case (.browser, true): "Enabled. To load the extension, see: man vauban-browser-host"
        case (.browser, false): "Disabled. Passwords that browsers saved stay here."
        case (.ssh, true): "Enabled. From the next login on, ssh and git use Vauban’s agent."
        case (.ssh, false): "Disabled. The keys stay here."
        }
    }
}

import VaubanCommands
import VaubanKeychainClient

/// The settings as the window shows them.
package struct KeychainSettings: Sendable {
    /// A part of the settings in words, with the commands that change it.
    package struct Part: Hashable, Sendable {
        package let title: String
        package let text: String
        package let commands: [String]
    }

    /// What lets other programs use the keychain.
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
        KeychainSettings(
            parts: SettingsSummary.all(of: try status()).map { .init(title: $0.title, text: $0.text, commands: $0.commands) },
            keepsHistory: try keychain.keepsHistory(), accesses: ProgramAccess.allCases.map { .init($0) })
    }

    /// Sets whether earlier values and deleted items are kept; those that there are stay. Returns what was done.
    package func setKeepsHistory(_ isOn: Bool) throws -> String {
        _ = try keychain.keepsHistory(isOn)
        return isOn ? "They are kept." : "No more will be kept. To erase the existing ones: vauban history --clear --all"
    }

    /// Does what `vauban enable` or `vauban disable` does. Returns what was done, and when it takes effect.
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

import Foundation

/// The rows about backups, synchronization, and other programs of the desktop session.
extension DoctorText {
    private static let backupDaysMax = 30
    /// For backups that are scheduled, daily or weekly.
    private static let scheduledBackupDaysMax = 8

    static func lastBackup(_ last: LastBackup?, _ period: String?) -> String {
        let schedule = period.map { "; scheduled \($0)" } ?? ""
        guard let last else { return "none known\(schedule); to make one: vauban backup FOLDER/" }
        let path = SafeText.path(last.path, max: 200)
        let days = Int(exactly: (Date().timeIntervalSince(last.date) / 86400).rounded(.down)) ?? 0
        let daysMax = period == nil ? backupDaysMax : scheduledBackupDaysMax
        let advice = days > daysMax ? "; it is \(days) days old; to make a new one: vauban backup \(path)" : ""
        return "\(StatusText.time(last.date)), to \(path)\(schedule)\(advice)"
    }

    static func lastSync(_ last: LastSync?, _ period: String?) -> String {
        let schedule = period.map { "; scheduled \($0)" } ?? ""
        guard let last else { return "none known\(schedule); run vauban sync" }
        return "\(StatusText.time(last.date)), with \(SafeText.path(last.place, max: 200))\(schedule)\(last.advice())"
    }

    /// The current provider of the Secret Service, how Vauban replaces it, and what starts another one although Vauban's is enabled.
    static func secretService(_ owner: SecretServiceOwner?) -> String {
        let enabling = try? SecretServiceEnabling.installed()
        let isEnabled = enabling?.isEnabled ?? false
        if isEnabled, let fault = enabling?.fault {
            return owner.map { "\($0.words); from the next login on, \(fault)" } ?? fault
        }
        let others = isEnabled ? enabling?.startsOthers ?? [] : []
        return provider(owner, isEnabled: isEnabled, isPartial: enabling != nil && !isEnabled)
            + starts(others, stoppedBy: "vauban enable secret-service")
    }

    /// The agent that programs find, how Vauban replaces it, and what sets another one although Vauban's is enabled; nil if SSH_AUTH_SOCK
    /// names none and Vauban's is not enabled.
    static func sshAgent(_ agent: SSHAgentOwner?) -> String? {
        let enabling = try? SSHEnabling.current()
        let isEnabled = enabling?.isEnabled ?? false
        guard let agent else {
            return isEnabled ? "enabled, but SSH_AUTH_SOCK is not set here; add to ~/.profile: \(SSHEnabling.profileLine)" : nil
        }
        return agent.words(isEnabled: isEnabled) + starts(isEnabled ? enabling?.startsOthers ?? [] : [], stoppedBy: "vauban ssh enable")
    }

    private static func starts(_ others: [String], stoppedBy command: String) -> String {
        guard !others.isEmpty else { return "" }
        return "; at the next login \(others.joined(separator: ", ")) may come first; run \(command) again"
    }

    private static func provider(_ owner: SecretServiceOwner?, isEnabled: Bool, isPartial: Bool) -> String {
        guard let owner else {
            if isEnabled { return "no program yet; the first one that uses it starts Vauban's" }
            let other = (try? ServiceActivation(of: SecretServiceEnabling.busName))?.otherPath
            let starts = other.map { "; \(SafeText.path($0, max: 200)) starts another one" } ?? ""
            return "no program\(starts); to use Vauban: vauban enable secret-service"
        }
        if isPartial, owner.isVauban { return "\(owner.words); some of its files are missing; run vauban enable secret-service again" }
        if owner.isVauban { return isEnabled ? owner.words : "\(owner.words); not enabled, so only until you log out" }
        let first = isEnabled ? "vauban import --from secret-service" : "vauban enable secret-service"
        return "\(owner.words); to use Vauban: \(first), then log out and in"
    }

    /// The provider for KDE's programs now; nil if there is none and Vauban is not meant to be one.
    static func wallets(_ owner: SecretServiceOwner?) -> String? {
        let isEnabled = (try? SecretServiceEnabling.installed())?.isEnabledForWallets ?? false
        guard let owner else { return isEnabled ? "no program yet; the first one that uses it starts Vauban's" : nil }
        if owner.isVauban { return owner.words }
        let first = isEnabled ? "vauban import --from kwallet" : "vauban enable secret-service --kwallet"
        return "\(owner.words); to use Vauban: \(first), then log out and in"
    }
}

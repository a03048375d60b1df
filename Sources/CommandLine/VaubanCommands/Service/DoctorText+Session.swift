import Foundation

/// The rows about backups, and about other programs of the desktop session.
extension DoctorText {
    private static let backupDaysMax = 30

    static func lastBackup(_ last: LastBackup?, _ period: String?) -> String {
        let schedule = period.map { "; scheduled \($0)" } ?? ""
        guard let last else { return "none known\(schedule); to make one: vauban backup FOLDER/" }
        let path = SafeText.path(last.path, max: 200)
        let days = Int(Date().timeIntervalSince(last.date) / 86400)
        let advice = days > backupDaysMax ? "; it is \(days) days old; to make a new one: vauban backup \(path)" : ""
        return "\(StatusText.time(Int64(last.date.timeIntervalSinceReferenceDate * 1_000_000))), to \(path)\(schedule)\(advice)"
    }

    /// Who provides the Secret Service now, and how Vauban takes over.
    static func secretService(_ owner: SecretServiceOwner?) -> String {
        let isEnabled = (try? SecretServiceEnabling.installed().isEnabled) ?? false
        guard let owner else {
            return isEnabled
                ? "no program yet; the first one that uses it starts Vauban's" : "no program; to use Vauban: vauban enable secret-service"
        }
        if owner.isVauban { return owner.words }
        let steps = isEnabled ? "log out and in" : "vauban enable secret-service, then log out and in"
        return "\(owner.words); to use Vauban: vauban import --from secret-service, then \(steps)"
    }

    /// Who serves KDE's programs now; nil if nothing does and Vauban is not to.
    static func wallets(_ owner: SecretServiceOwner?) -> String? {
        let isEnabled = (try? SecretServiceEnabling.installed().isEnabledForWallets) ?? false
        guard let owner else { return isEnabled ? "no program yet; the first one that uses it starts Vauban's" : nil }
        if owner.isVauban { return owner.words }
        let steps = isEnabled ? "log out and in" : "vauban enable secret-service --kwallet, then log out and in"
        return "\(owner.words); to use Vauban: vauban import --from kwallet, then \(steps)"
    }
}

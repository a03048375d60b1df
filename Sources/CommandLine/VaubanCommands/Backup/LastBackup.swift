import Foundation
import VaubanLinuxHost
import VaubanRefusal

/// When and where the last backup of this keychain was completed: a file beside the keychain, or in the user's state folder if the service
/// is installed. The file contains a date and a path, and nothing of the backup.
struct LastBackup {
    let date: Date
    let path: String

    /// Returns nil if there is none, or the file is damaged.
    static func read(of service: Service) -> LastBackup? {
        guard let file = file(of: service), let text = SmallFile.text(path: file, max: 8192) else { return nil }
        let lines = text.split(separator: "\n", maxSplits: 1).map(String.init)
        guard lines.count == 2, let date = try? Date(lines[0], strategy: .iso8601) else { return nil }
        return LastBackup(date: date, path: lines[1].trimmingCharacters(in: .newlines))
    }

    /// Records a completed backup. The backup is valid without this record, so a failure here is not an error.
    static func record(_ path: String, of service: Service) {
        guard let file = file(of: service) else { return }
        let folder = (file as NSString).deletingLastPathComponent
        try? FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        let whole = URL(fileURLWithPath: path).standardizedFileURL.path
        try? BackupFiles.replace(file, with: Array("\(Date().formatted(.iso8601))\n\(whole)\n".utf8))
    }

    private static func file(of service: Service) -> String? {
        if let home = service.home { return "\(home)/last-backup" }
        return (try? UserServiceFiles.folder("XDG_STATE_HOME", ".local/state")).map { "\($0)/vauban/last-backup" }
    }
}

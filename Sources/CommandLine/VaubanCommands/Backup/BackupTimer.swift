import ArgumentParser
import Foundation
import Glibc
import VaubanLinuxHost
import VaubanRefusal

/// The timer and service of the user's systemd that continue the backup of a folder.
struct BackupTimer {
    enum Period: String, ExpressibleByArgument, CaseIterable { case daily, weekly }

    private static let timer = "vauban-backup.timer"
    private static let service = "vauban-backup.service"
    /// By this line a file is one of these, and may be replaced and removed.
    private static let mark = "# Written by vauban backup --schedule. To remove it: vauban backup --unschedule\n"

    private let period: Period
    private let folder: String
    private let home: String?

    /// Refused if no systemd runs for the user, or files of these names are not of this command.
    init(_ period: Period, folder: String, service: Service) throws {
        guard Self.hasManager else {
            throw Refusal(
                .unavailable,
                "no systemd runs for you here, so nothing was scheduled; from another scheduler, run: vauban backup --no-input \(folder)")
        }
        guard let real = realpath(folder, nil) else { throw BackupOutput.refusal("open \(SafeText.visible(folder))", errno) }
        defer { free(real) }
        self.period = period
        self.folder = String(cString: real)
        if case .named(let home) = service.mode { self.home = home } else { home = nil }
        guard !self.folder.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) else {
            throw Refusal(.badParameter, "The name of the folder has control characters, which systemd does not take; rename it")
        }
        for path in try Self.paths() where Self.isForeign(path) {
            throw Refusal(.duplicateItem, "\(path) already exists, and vauban backup did not write it; move it away and try again")
        }
    }

    /// Writes both files and starts the timer. If systemd refuses, everything is as it was before.
    func start() throws {
        let contents = zip(try Self.paths(), [serviceText(try OwnProgram.path(of: "vauban")), timerText])
        let earlier = contents.map { path, _ in (path, try? String(contentsOfFile: path, encoding: .utf8)) }
        do {
            for (path, content) in contents {
                let folder = (path as NSString).deletingLastPathComponent
                try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
                try content.write(toFile: path, atomically: true, encoding: .utf8)
            }
            try Self.systemd(["daemon-reload"])
            try Self.systemd(["--quiet", "enable", "--now", Self.timer])
        } catch {
            for (path, content) in earlier {
                if let content { try? content.write(toFile: path, atomically: true, encoding: .utf8) } else { unlink(path) }
            }
            try? Self.systemd(["daemon-reload"])
            throw error
        }
    }

    /// Stops the timer and removes the files. Returns false if there are none.
    static func remove() throws -> Bool {
        let paths = try paths()
        for path in paths where isForeign(path) {
            throw Refusal(.badParameter, "\(path) is not of vauban backup; nothing was removed")
        }
        let written = paths.filter { access($0, F_OK) == 0 }
        guard !written.isEmpty else { return false }
        if hasManager { try? systemd(["--quiet", "disable", "--now", timer]) }
        for path in written { try FileManager.default.removeItem(atPath: path) }
        // What enables the timer, if no systemd was there to remove it.
        let units = (paths[0] as NSString).deletingLastPathComponent
        unlink("\(units)/timers.target.wants/\(timer)")
        for folder in ["\(units)/timers.target.wants", units, (units as NSString).deletingLastPathComponent] { rmdir(folder) }
        if hasManager { try? systemd(["daemon-reload"]) }
        return true
    }

    /// How often the timer of this user runs; nil if there is none.
    static var period: Period? {
        guard let path = try? paths().last, !isForeign(path), let text = try? String(contentsOfFile: path, encoding: .utf8) else {
            return nil
        }
        return Period.allCases.first { text.contains("OnCalendar=\($0.rawValue)\n") }
    }

    // MARK: The files

    private static func paths() throws(Refusal) -> [String] {
        let units = "\(try UserServiceFiles.folder("XDG_CONFIG_HOME", ".config"))/systemd/user"
        return [service, timer].map { "\(units)/\($0)" }
    }

    private static func isForeign(_ path: String) -> Bool {
        access(path, F_OK) == 0 && (try? String(contentsOfFile: path, encoding: .utf8))?.hasPrefix(mark) != true
    }

    /// A keychain that is locked, or a folder that is not mounted, is tried again; a wrong passphrase or folder is not.
    private func serviceText(_ program: String) -> String {
        let environment = home.map { "Environment=\(Self.quoted("VAUBAN_HOME=\($0)"))\n" } ?? ""
        return """
            \(Self.mark)
            [Unit]
            Description=Backup of the keychain of Vauban

            [Service]
            Type=oneshot
            \(environment)ExecStart=\(Self.quoted(program, isCommand: true)) backup --no-input \(Self.quoted(folder, isCommand: true))
            Restart=on-failure
            RestartSec=15min
            RestartPreventExitStatus=51 64

            """
    }

    private var timerText: String {
        """
        \(Self.mark)
        [Unit]
        Description=Backups of the keychain of Vauban

        [Timer]
        OnCalendar=\(period.rawValue)
        Persistent=true

        [Install]
        WantedBy=timers.target

        """
    }

    /// A word as systemd reads it: quoted, with specifiers escaped, and variables where it expands them.
    private static func quoted(_ word: String, isCommand: Bool = false) -> String {
        let escaped = word.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("%", with: "%%")
        return "\"\(isCommand ? escaped.replacing("$", with: "$$") : escaped)\""
    }

    // MARK: systemd

    private static var hasManager: Bool {
        guard let runtime = getenv("XDG_RUNTIME_DIR").map({ String(cString: $0) }) else { return false }
        return access("\(runtime)/systemd/private", F_OK) == 0
    }

    private static func systemd(_ words: [String]) throws {
        let status = try ChildCommand.run(["systemctl", "--user"] + words)
        guard status == 0 else {
            throw Refusal(.unavailable, "systemd refused (systemctl --user \(words.joined(separator: " "))); nothing is scheduled")
        }
    }
}

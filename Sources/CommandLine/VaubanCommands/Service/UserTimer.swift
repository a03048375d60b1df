import ArgumentParser
import Foundation
import Glibc
import VaubanLinuxHost
import VaubanRefusal

/// A timer and a service of the user's systemd that run one command of vauban repeatedly, or a service alone that keeps running.
struct UserTimer {
    /// The command; the units are named after it.
    enum Command: String {
        case backup, sync

        fileprivate var description: String {
            switch self {
            case .backup: "Backup of the keychain of Vauban"
            case .sync: "Synchronization of the keychain of Vauban"
            }
        }

        /// The reaction of systemd when the command fails. A backup is repeated if the keychain is locked or the folder is not mounted, but
        /// not after a wrong passphrase or folder. The next synchronization comes soon, so a locked keychain or an unreachable carrier does
        /// not count as its failure. Every run has a time limit, since it keeps the next one from starting.
        fileprivate var afterFailure: String {
            switch self {
            case .backup: "TimeoutStartSec=6h\nRestart=on-failure\nRestartSec=15min\nRestartPreventExitStatus=51 64"
            case .sync: "TimeoutStartSec=15min\nSuccessExitStatus=36 53"
            }
        }

        private var units: String { "vauban-\(rawValue)" }
        fileprivate var timer: String { "\(units).timer" }
        fileprivate var service: String { "\(units).service" }
        fileprivate var all: [String] { [service, timer] }
        /// The line that identifies a file as one of these, which may be replaced and removed.
        fileprivate var mark: String { "# Written by vauban \(rawValue) --schedule. To remove it: vauban \(rawValue) --unschedule\n" }
    }

    private static let fileBytesMax = 64 << 10
    private let command: Command
    private let words: [String]
    private let calendar: String?
    private let home: String?

    /// Throws if no systemd runs for the user, or files of these names are not of this command.
    /// - Parameters:
    ///   - words: The arguments of the command.
    ///   - calendar: When it runs, in the notation of systemd.time(7); nil for a service that keeps running.
    init(_ command: Command, _ words: [String], calendar: String?, service: Service) throws {
        guard UserSystemd.isRunning else {
            let shown = (["vauban", command.rawValue, "--no-input"] + words).joined(separator: " ")
            throw Refusal(.unavailable, "No systemd runs for you here, so nothing was scheduled; from another scheduler, run: \(shown)")
        }
        self.command = command
        self.words = words
        self.calendar = calendar
        if case .named(let home) = service.mode { self.home = home } else { home = nil }
        guard !words.joined().unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) else {
            throw Refusal(.badParameter, "The name of the folder has control characters, which systemd does not take; rename it")
        }
        let paths = try Self.paths(of: command)
        for path in paths { try UserServiceFiles.checkOwner(ofFolderOf: path) }
        for path in paths where Self.isForeign(path, command) {
            throw Refusal(
                .duplicateItem, "\(path) already exists, and vauban \(command.rawValue) did not write it; move it away and try again")
        }
    }

    /// Writes the files and starts the timer, or the service if there is none. If systemd refuses, restores the previous files and starts
    /// again what was running.
    func start() throws {
        let contents = zip(
            try Self.paths(of: command), [serviceText(try InstalledPrograms.path(of: "vauban")), calendar.map { timerText($0) }])
        let earlier = contents.map { path, _ in (path, Self.text(of: path)) }
        do {
            // A service that keeps running is stopped, and so is a timer that is no longer needed. A run that a timer started may finish.
            if Self.isFollowService(earlier[0].1) { try? Self.systemd(["--quiet", "disable", "--now", command.service]) }
            if calendar == nil, earlier[1].1 != nil { try? Self.systemd(["--quiet", "disable", "--now", command.timer]) }
            for (path, content) in contents {
                guard let content else {
                    unlink(path)
                    continue
                }
                try Self.write(content, to: path)
            }
            try Self.systemd(["daemon-reload"])
            try Self.systemd(["--quiet", "enable", "--now", calendar == nil ? command.service : command.timer])
        } catch {
            for (path, content) in earlier {
                if let content { try? Self.write(content, to: path) } else { unlink(path) }
            }
            try? Self.systemd(["daemon-reload"])
            // Start again what was running.
            let ran = Self.isFollowService(earlier[0].1) ? command.service : earlier[1].1 == nil ? nil : command.timer
            if let ran { try? Self.systemd(["--quiet", "enable", "--now", ran]) }
            throw error
        }
    }

    /// Replaces a file. Whatever the umask, others cannot change it.
    private static func write(_ content: String, to path: String) throws {
        try UserServiceFiles.makeFolder(of: path)
        let file = try NewFile(path: path)
        try file.write(Array(content.utf8))
        try file.sync()
        try file.name(replacing: true, mode: 0o644)
    }

    /// Stops the timer and removes the files. Returns false if there are none.
    static func remove(_ command: Command) throws -> Bool {
        let paths = try paths(of: command)
        for path in paths where isForeign(path, command) {
            throw Refusal(.badParameter, "\(path) was not written by vauban \(command.rawValue); nothing was removed; delete it yourself")
        }
        let written = paths.filter { access($0, F_OK) == 0 }
        guard !written.isEmpty else { return false }
        if UserSystemd.isRunning {
            let isService = isFollowService(text(of: paths[0]))
            try? systemd(["--quiet", "disable", "--now", isService ? command.service : command.timer])
        }
        for path in written { try FileManager.default.removeItem(atPath: path) }
        // The links that enable them, if no systemd was there to remove them.
        let units = (paths[0] as NSString).deletingLastPathComponent
        let wants = ["\(units)/timers.target.wants", "\(units)/default.target.wants"]
        unlink("\(wants[0])/\(command.timer)")
        unlink("\(wants[1])/\(command.service)")
        for folder in wants + [units, (units as NSString).deletingLastPathComponent] { rmdir(folder) }
        if UserSystemd.isRunning { try? systemd(["daemon-reload"]) }
        return true
    }

    /// Returns when this user's timer runs, in the notation of OnCalendar; nil if there is none.
    static func calendar(of command: Command) -> String? { value(of: "OnCalendar", in: try? paths(of: command).last, of: command) }

    /// Returns the words of the command that this user's service runs; nil if there is none.
    static func words(of command: Command) -> [String]? {
        value(of: "ExecStart", in: try? paths(of: command).first, of: command).map(UserSystemd.words)
    }

    private static func value(of key: String, in path: String?, of command: Command) -> String? {
        guard let path, !isForeign(path, command), let text = text(of: path) else { return nil }
        return text.split(separator: "\n").first { $0.hasPrefix("\(key)=") }.map { String($0.dropFirst(key.count + 1)) }
    }

    // MARK: The files

    private static func paths(of command: Command) throws(Refusal) -> [String] {
        let units = "\(try UserServiceFiles.folder("XDG_CONFIG_HOME", ".config"))/systemd/user"
        return command.all.map { "\(units)/\($0)" }
    }

    private static func isForeign(_ path: String, _ command: Command) -> Bool {
        access(path, F_OK) == 0 && text(of: path)?.hasPrefix(command.mark) != true
    }

    private static func text(of path: String) -> String? { SmallFile.text(path: path, max: fileBytesMax) }

    private func serviceText(_ program: String) -> String {
        let folder = getenv("XDG_STATE_HOME").map { String(cString: $0) }
        let variables = [("VAUBAN_HOME", home), ("XDG_STATE_HOME", command == .sync && home == nil ? folder : nil)]
        let environment = variables.compactMap { name, value in
            value.map { "Environment=\(UserSystemd.quoted("\(name)=\($0)"))\n" }
        }.joined()
        let line =
            "\(UserSystemd.quoted(program, isCommand: true)) \(command.rawValue) --no-input"
            + words.map { " " + UserSystemd.quoted($0, isCommand: true) }.joined()
        return """
            \(command.mark)
            [Unit]
            Description=\(command.description)

            [Service]
            Type=\(calendar == nil ? "exec" : "oneshot")
            \(environment)ExecStart=\(line)
            \(calendar == nil ? Self.serviceRestartSection : command.afterFailure)

            """
    }

    /// For a service without a timer. The service itself waits for temporary failures; a restart does not help with those that the user
    /// must resolve.
    private static let serviceRestartSection = """
        Restart=on-failure
        RestartSec=1min
        RestartPreventExitStatus=51 64

        [Install]
        WantedBy=default.target
        """

    private static func isFollowService(_ serviceText: String?) -> Bool { serviceText?.contains(serviceRestartSection) ?? false }

    private func timerText(_ calendar: String) -> String {
        """
        \(command.mark)
        [Unit]
        Description=\(command.description)

        [Timer]
        OnCalendar=\(calendar)
        Persistent=true

        [Install]
        WantedBy=timers.target

        """
    }

    // MARK: systemd

    private static func systemd(_ words: [String]) throws {
        let status = try ChildCommand.run(["systemctl", "--user"] + words)
        guard status == 0 else {
            throw Refusal(.unavailable, "systemd refused (systemctl --user \(words.joined(separator: " "))); nothing is scheduled")
        }
    }
}

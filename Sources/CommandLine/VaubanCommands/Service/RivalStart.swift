import Glibc
import VaubanRefusal

/// Starts another program in Vauban's place at login: an autostart entry, or a unit of the user's systemd. A file in the user's home hides
/// an entry; a link masks a unit, with a note beside it, so that only what Vauban masked is unmasked again.
struct RivalStart {
    /// The name of the entry or of the unit.
    let name: String
    /// The entry that hides it, or the note.
    fileprivate let file: (path: String, content: String)
    /// The link that masks a unit.
    fileprivate let link: (path: String, target: String)?
    /// Whether this machine has the entry or the unit.
    private let isInstalled: Bool

    /// The folders in which systemd looks for the units of all users.
    private static let unitFolders = [
        "/etc/systemd/user", "/run/systemd/user", "/usr/local/lib/systemd/user", "/usr/lib/systemd/user", "/lib/systemd/user",
        "/usr/local/share/systemd/user", "/usr/share/systemd/user",
    ]

    /// An autostart entry of the system with this file name and title.
    static func entry(_ name: String, title: String) throws(Refusal) -> RivalStart {
        let path = "\(try UserServiceFiles.folder("XDG_CONFIG_HOME", ".config"))/autostart/\(name)"
        return RivalStart(
            name: name, file: (path, "[Desktop Entry]\nType=Application\nName=\(title)\nHidden=true\n"), link: nil,
            isInstalled: access("/etc/xdg/autostart/\(name)", F_OK) == 0)
    }

    /// A unit of the user's systemd, which is masked until the command `undo`.
    static func unit(_ name: String, undo: String) throws(Refusal) -> RivalStart {
        let path = "\(try UserServiceFiles.folder("XDG_CONFIG_HOME", ".config"))/systemd/user/\(name)"
        // The first one counts, and the administrator may have masked it there.
        let paths: [String] = unitFolders.map { "\($0)/\(name)" }
        let installed = paths.first { access($0, F_OK) == 0 }
        return RivalStart(
            name: name, file: ("\(path).d/vauban.conf", "# Vauban masks this unit, and unmasks it again by: \(undo)\n"),
            link: (path, "/dev/null"), isInstalled: installed.map { !isMask($0) } ?? false)
    }

    /// Whether it starts at the next login.
    var starts: Bool {
        guard isInstalled else { return false }
        return link.map { !Self.isMask($0.path) } ?? !ServiceActivation.isSwitchedOff(file.path)
    }

    /// Whether Vauban stopped it, and not the user, who may have started it again since.
    fileprivate var isMarked: Bool { UserServiceFiles.state(of: file) == .written }
    private var isStoppedHere: Bool { isMarked && (link.map { UserServiceFiles.state(ofLink: $0) == .written } ?? true) }

    /// A mask as systemd defines it: a link to a device, or an empty file.
    private static func isMask(_ path: String) -> Bool {
        var status = stat()
        guard stat(path, &status) == 0 else { return false }
        return status.st_mode & S_IFMT == S_IFCHR || (status.st_mode & S_IFMT == S_IFREG && status.st_size == 0)
    }

    /// Returns the names of those that Vauban stopped; nil if there are none.
    static func stoppedHere(of rivals: [RivalStart]) -> String? {
        let names = rivals.filter(\.isStoppedHere).map(\.name)
        return names.isEmpty ? nil : names.joined(separator: ", ")
    }

    /// Prints which of them Vauban stopped, and which command starts them again.
    static func reportStopped(_ rivals: [RivalStart], undo: String) {
        let stopped = rivals.filter(\.isStoppedHere).map { "\($0.name) (\($0.link == nil ? "hidden" : "masked"))" }
        guard !stopped.isEmpty else { return }
        say("From the next login on these do not start by themselves: \(stopped.joined(separator: ", ")). To undo it: \(undo)")
    }
}

extension UserServiceFiles {
    /// Returns these files with those that stop the rivals.
    func stopping(_ rivals: [RivalStart]) -> UserServiceFiles {
        var whole = UserServiceFiles(files: files + rivals.map(\.file), units: units, loginUnit: loginUnit)
        whole.links = links + rivals.compactMap(\.link)
        return whole
    }

    /// Returns these files with those that stopped the rivals, except any that the user wrote or changed.
    func releasing(_ rivals: [RivalStart]) -> UserServiceFiles {
        let stopped = rivals.filter(\.isMarked)
        var whole = UserServiceFiles(files: files + stopped.map(\.file), units: units, loginUnit: loginUnit)
        whole.links = links + stopped.compactMap(\.link).filter { Self.state(ofLink: $0) == .written }
        return whole
    }
}

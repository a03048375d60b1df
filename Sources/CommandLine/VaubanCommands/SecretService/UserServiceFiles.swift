import Foundation
import Glibc
import VaubanRefusal

/// Files in the user's home by which a service is found and started. Either all are written or none, existing files are never changed, and
/// only unmodified files are removed.
struct UserServiceFiles {
    let files: [(path: String, content: String)]
    let units: [String]

    /// Returns a folder of the user: the value of its variable, or its default path in the home folder.
    static func folder(_ variable: String, _ usual: String) throws(Refusal) -> String {
        if let named = getenv(variable).map({ String(cString: $0) }), named.hasPrefix("/") { return named }
        guard let home = getenv("HOME").map({ String(cString: $0) }), home.hasPrefix("/") else {
            throw Refusal(.unavailable, "no home folder: HOME and XDG_CONFIG_HOME are unset")
        }
        return "\(home)/\(usual)"
    }

    /// Whether each of the files has its content.
    var areWritten: Bool { files.allSatisfy { Self.content(of: $0.path) == $0.content } }

    func write() throws {
        let state = files.map { ($0, Self.content(of: $0.path)) }
        for (file, found) in state where found != nil && found != file.content {
            throw Refusal(.duplicateItem, "\(file.path) already exists with other content; move it away and try again")
        }
        for (file, found) in state where found == nil {
            try FileManager.default.createDirectory(atPath: Self.folder(of: file.path), withIntermediateDirectories: true)
            try file.content.write(toFile: file.path, atomically: true, encoding: .utf8)
        }
        if !units.isEmpty { Self.callSystemd([["daemon-reload"]]) }
    }

    /// Removes the files, and the folders that are then empty. Returns false if there are no files.
    func remove() throws -> Bool {
        for file in files {
            if let found = Self.content(of: file.path), found != file.content {
                throw Refusal(.badParameter, "\(file.path) was changed since; nothing was removed; delete it yourself")
            }
        }
        let left = files.filter { Self.content(of: $0.path) != nil }
        guard !left.isEmpty else { return false }
        if !units.isEmpty { Self.callSystemd([["--quiet", "stop"] + units]) }
        for file in left {
            try FileManager.default.removeItem(atPath: file.path)
            var folder = Self.folder(of: file.path)
            while !Self.isKept(folder), rmdir(folder) == 0 { folder = Self.folder(of: folder) }
        }
        if !units.isEmpty { Self.callSystemd([["daemon-reload"]]) }
        return true
    }

    /// Folders that are kept even if they are empty.
    private static let roots = [".config", "share", ".local"]

    private static func isKept(_ folder: String) -> Bool {
        roots.contains((folder as NSString).lastPathComponent) || folder == getenv("HOME").map { String(cString: $0) }
    }

    private static func folder(of path: String) -> String { (path as NSString).deletingLastPathComponent }

    private static func content(of path: String) -> String? { try? String(contentsOfFile: path, encoding: .utf8) }

    /// Runs systemctl for the user. Without a systemd user manager, the files take effect at the next login.
    private static func callSystemd(_ commands: [[String]]) {
        guard let runtime = getenv("XDG_RUNTIME_DIR").map({ String(cString: $0) }), access("\(runtime)/systemd/private", F_OK) == 0 else {
            return
        }
        for words in commands { _ = try? ChildCommand.run(["systemctl", "--user"] + words) }
    }
}

import CVaubanLinux
import Foundation
import Glibc
import VaubanLinuxHost
import VaubanRefusal

/// Files in the user's home by which a service is found and started. Either all are written or none, existing files are never changed, and
/// only unmodified files are removed.
struct UserServiceFiles {
    let files: [(path: String, content: String)]
    /// Links with their targets.
    var links: [(path: String, target: String)] = []
    let units: [String]
    /// The unit that systemd starts at each login; nil if the files are started in another way.
    var loginUnit: String?

    enum State {
        case missing
        case written
        case other
        /// The file exists, and is not a readable regular file.
        case unreadable
    }

    /// A file with its content, or a link with its target.
    private struct Entry {
        let path: String
        let content: String
        var isLink = false

        var state: State {
            isLink ? UserServiceFiles.state(ofLink: (path, content)) : UserServiceFiles.state(of: (path, content))
        }
    }

    private var entries: [Entry] {
        files.map { Entry(path: $0.path, content: $0.content) } + links.map { Entry(path: $0.path, content: $0.target, isLink: true) }
    }

    /// Returns a folder of the user: the value of its variable, or its default path in the home folder.
    static func folder(_ variable: String, _ usual: String) throws(Refusal) -> String {
        if let named = getenv(variable).map({ String(cString: $0) }), named.hasPrefix("/") { return named }
        guard let home = getenv("HOME").map({ String(cString: $0) }), home.hasPrefix("/") else {
            throw Refusal(.unavailable, "No home folder: set HOME, or \(variable), to a whole path")
        }
        return "\(home)/\(usual)"
    }

    /// Whether each of the files has its content.
    var areWritten: Bool { entries.allSatisfy { $0.state == .written } }

    /// Whether some of the files have their content, and none has another.
    var areInPlace: Bool {
        let states = entries.map(\.state)
        return states.contains(.written) && states.allSatisfy { $0 == .written || $0 == .missing }
    }

    /// The number of files that have their content.
    var writtenCount: Int { entries.count { $0.state == .written } }

    /// Throws if a file cannot be written because it exists with other content, or its folder is another user's.
    func check() throws(Refusal) {
        for file in entries { try Self.checkOwner(ofFolderOf: file.path) }
        for file in entries {
            let state = file.state
            guard state == .other || state == .unreadable else { continue }
            let fault = state == .other ? "already exists with other content" : "exists and cannot be read"
            throw Refusal(.duplicateItem, "\(file.path) \(fault); nothing was written; move it away and try again")
        }
    }

    /// Throws if a file would get into another user's home, as under `sudo -E`: it would belong to root and get in that user's way.
    static func checkOwner(ofFolderOf path: String) throws(Refusal) {
        var folder = Self.folder(of: path)
        var status = stat()
        while stat(folder, &status) != 0 {
            guard errno == ENOENT, !folder.isEmpty, folder != "/" else { return }
            folder = self.folder(of: folder)
        }
        // For users other than root, the system decides whether they may write there: on NFS, a user's own folder can appear to belong to
        // another user.
        guard geteuid() == 0, status.st_uid != 0 else { return }
        throw Refusal(
            .badParameter, "\(SafeText.visible(folder)) belongs to another user; run this command as that user, without sudo")
    }

    /// Writes the files that are missing. Undoes what it did if one cannot be written.
    func write() throws {
        try check()
        let states = entries.map { ($0, $0.state) }
        var folders: [String] = []
        var written: [String] = []
        do {
            for (file, state) in states where state == .missing {
                try Self.make(Self.folder(of: file.path), &folders)
                try Self.create(file, noting: &written)
            }
        } catch {
            for path in written { unlink(path) }
            for folder in folders.reversed() { rmdir(folder) }
            throw error
        }
        for folder in folders { try? BackupFiles.syncName(ofFolder: folder) }
        guard !units.isEmpty else { return }
        UserSystemd.call([["daemon-reload"]] + (loginUnit.map { [["--quiet", "enable", "--now", $0]] } ?? []))
    }

    /// Removes the files, and the folders that are then empty. Returns false if there are no files. Undoes what it did if one cannot be
    /// removed. With `stopsUnits` false, running units continue.
    func remove(stopsUnits: Bool = true) throws -> Bool {
        let states = entries.map { ($0, $0.state) }
        for (file, state) in states where state == .other || state == .unreadable {
            throw Refusal(.badParameter, "\(file.path) was changed since; nothing was removed; delete it yourself")
        }
        let left = states.filter { $0.1 == .written }.map(\.0)
        guard !left.isEmpty else { return false }
        if !units.isEmpty, stopsUnits { UserSystemd.call([["--quiet"] + (loginUnit == nil ? ["stop"] : ["disable", "--now"]) + units]) }
        for (index, file) in left.enumerated() {
            do { try SystemError.check(unlink(file.path), "remove \(file.path)") } catch {
                // The remaining files would be an incomplete service.
                var written: [String] = []
                for file in left[..<index] { try? Self.create(file, noting: &written) }
                throw error
            }
        }
        for file in left {
            var folder = Self.folder(of: file.path)
            while !Self.isKept(folder), rmdir(folder) == 0 { folder = Self.folder(of: folder) }
        }
        if !units.isEmpty { UserSystemd.call([["daemon-reload"]]) }
        return true
    }

    static func state(of file: (path: String, content: String)) -> State {
        var status = stat()
        guard lstat(file.path, &status) == 0 else { return errno == ENOENT || errno == ENOTDIR ? .missing : .unreadable }
        let expected = Array(file.content.utf8)
        // A longer file has other content. Opening a pipe or a device could block.
        guard stat(file.path, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_size <= expected.count else {
            return status.st_mode & S_IFMT == S_IFREG ? .other : .unreadable
        }
        guard let found = SmallFile.bytes(path: file.path, max: expected.count) else { return .unreadable }
        return found == expected ? .written : .other
    }

    static func state(ofLink link: (path: String, target: String)) -> State {
        var status = stat()
        guard lstat(link.path, &status) == 0 else { return errno == ENOENT || errno == ENOTDIR ? .missing : .unreadable }
        return (try? FileManager.default.destinationOfSymbolicLink(atPath: link.path)) == link.target ? .written : .other
    }

    /// Creates the folder of a file, and those above it. Whatever the umask, others cannot change what is in them.
    static func makeFolder(of path: String) throws(SystemError) {
        var made: [String] = []
        try make(folder(of: path), &made)
    }

    /// Creates a folder and those above it, and adds the ones that were missing to `made`, the outermost first.
    private static func make(_ folder: String, _ made: inout [String]) throws(SystemError) {
        if mkdir(folder, 0o755) == 0 { return made.append(folder) }
        if errno == ENOENT {
            try make(self.folder(of: folder), &made)
            try SystemError.check(mkdir(folder, 0o755), "make the folder \(folder)")
            return made.append(folder)
        }
        let fault = errno
        var status = stat()
        guard stat(folder, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
            throw SystemError("make the folder \(folder)", code: fault)
        }
    }

    /// Creates a file or a link, never replacing an existing one, and adds it to `made`. Whatever the umask, others cannot change what it
    /// starts. After a power cut a file is whole or missing: an incomplete one would count as another program's.
    private static func create(_ entry: Entry, noting made: inout [String]) throws(SystemError) {
        let path = entry.path
        guard !entry.isLink else {
            try SystemError.check(symlink(entry.content, path), "write \(path)")
            made.append(path)
            try? BackupFiles.syncFolder(of: path)
            return
        }
        let partial = "\(path).partial"
        // A command that was killed may have left one.
        unlink(partial)
        let opened = open(partial, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o644)
        let file = Descriptor(try SystemError.check(opened, "write \(path)"))
        defer { unlink(partial) }
        var bytes = Array(entry.content.utf8)[...]
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes { Glibc.write(file.number, $0.baseAddress, $0.count) }
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { throw SystemError("write \(path)", code: errno) }
            bytes = bytes.dropFirst(count)
        }
        try SystemError.check(fsync(file.number), "write \(path)")
        var problem = vauban_rename_new(partial, path)
        // NFS cannot rename in this way, but has hard links.
        if problem == -EINVAL || problem == -ENOSYS { problem = link(partial, path) == 0 ? 0 : -errno }
        // Some file systems can do neither, as for NewFile.
        if [-EPERM, -EOPNOTSUPP, -ENOSYS].contains(problem), access(path, F_OK) != 0 {
            problem = rename(partial, path) == 0 ? 0 : -errno
        }
        try SystemError.checkNegated(problem, "write \(path)")
        made.append(path)
        try? BackupFiles.syncFolder(of: path)
    }

    /// Folders that are kept even if they are empty.
    private static let roots = [".config", "share", ".local"]

    private static func isKept(_ folder: String) -> Bool {
        let own = ["HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"].compactMap { (name: String) in getenv(name).map { String(cString: $0) } }
        return roots.contains((folder as NSString).lastPathComponent) || own.contains(folder)
    }

    private static func folder(of path: String) -> String { (path as NSString).deletingLastPathComponent }
}

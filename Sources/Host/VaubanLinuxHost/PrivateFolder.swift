internal import CVaubanLinux
import Glibc
internal import VaubanPlainText

/// A folder that only its owner can enter. It is held open, so that a later change of its path has no effect.
package final class PrivateFolder: Sendable {
    package let path: String
    package let descriptor: Descriptor

    /// Why the folder was not opened. The disk is to blame, or the user who gave others access to the folder.
    package enum OpeningError: Error, CustomStringConvertible, Sendable {
        case system(SystemError)
        case notSafe(path: String, why: String)

        package var description: String {
            switch self {
            case .system(let fault): fault.sentence
            case .notSafe(let path, let why): "\(path) is not safe to use: \(why)"
            }
        }
    }

    /// Opens the folder. With `creating`, creates it (0700) and its missing parents. Throws if it is a link, belongs to another user or
    /// gives others access. `sharedEntry` allows others to search it, for a folder of sockets.
    package convenience init(path: String, creating: Bool, sharedEntry: Bool = false) throws(OpeningError) {
        if creating { try Self.make(path) }
        try self.init(path: path, opened: open(path, O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC | O_RDONLY), sharedEntry: sharedEntry)
    }

    private init(path: String, opened number: Int32, sharedEntry: Bool) throws(OpeningError) {
        guard number >= 0 else { throw .system(SystemError("open the folder \(path)", code: errno)) }
        let descriptor = Descriptor(number)
        var information = stat()
        guard fstat(number, &information) == 0 else { throw .system(SystemError("look at \(path)", code: errno)) }
        guard information.st_uid == geteuid() else { throw .notSafe(path: path, why: "it belongs to user \(information.st_uid)") }
        let forbidden: mode_t = sharedEntry ? 0o022 : 0o077
        guard information.st_mode & forbidden == 0 else {
            throw .notSafe(path: path, why: "others can enter it; run: chmod \(sharedEntry ? "755" : "700") '\(path)'")
        }
        self.path = path
        self.descriptor = descriptor
    }

    private static func make(_ path: String) throws(OpeningError) {
        if mkdir(path, 0o700) == 0 { return try keepName(of: path) }
        if errno == EEXIST { return }
        guard errno == ENOENT, let folder = PathBytes.parts(of: path)?.folder, !folder.isSameBytes(as: "/") else {
            throw .system(SystemError("make the folder \(path)", code: errno))
        }
        try make(folder)
        guard mkdir(path, 0o700) == 0 || errno == EEXIST else { throw .system(SystemError("make the folder \(path)", code: errno)) }
        try keepName(of: path)
    }

    /// Makes the folder's name durable, since it must survive a power cut just as its content does.
    private static func keepName(of path: String) throws(OpeningError) {
        let number = open("\(path)/..", O_DIRECTORY | O_CLOEXEC | O_RDONLY)
        // A parent folder that this user may write but not read cannot be synced.
        guard number >= 0 else { return }
        let parent = Descriptor(number)
        guard fsync(parent.number) == 0 else { throw .system(SystemError("sync the folder that holds \(path)", code: errno)) }
    }

    /// Opens a private folder inside this one.
    package func subfolder(_ name: String, creating: Bool) throws(OpeningError) -> PrivateFolder {
        if creating {
            guard mkdirat(descriptor.number, name, 0o700) == 0 || errno == EEXIST else {
                throw .system(SystemError("make the folder \(path)/\(name)", code: errno))
            }
        }
        let number = openat(descriptor.number, name, O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC | O_RDONLY)
        return try PrivateFolder(path: "\(path)/\(name)", opened: number, sharedEntry: false)
    }

    /// Locks the folder until this process ends; nil if another process holds the lock.
    package func lock(_ name: String = "lock") throws(SystemError) -> Descriptor? {
        let number = try SystemError.check(
            openat(descriptor.number, name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600), "open the lock file in \(path)")
        let file = Descriptor(number)
        if flock(number, LOCK_EX | LOCK_NB) == 0 { return file }
        if errno == EWOULDBLOCK { return nil }
        throw SystemError("lock \(path)", code: errno)
    }

    /// Returns whether a file exists. A file that cannot be examined counts as existing, since callers create what is absent.
    package func contains(_ name: String) -> Bool {
        faccessat(descriptor.number, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0 || errno != ENOENT
    }

    package func remove(_ name: String) { unlinkat(descriptor.number, name, 0) }

    /// Binds a listening socket in this folder.
    package func bindSocket(_ name: String, mode: UInt32) throws(SystemError) -> Descriptor {
        Descriptor(try SystemError.checkNegated(vauban_bind_in(descriptor.number, name, mode), "make the socket \(path)/\(name)"))
    }
}

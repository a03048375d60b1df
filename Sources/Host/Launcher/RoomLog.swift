import Glibc
internal import VaubanLinuxHost

/// `HOME/vauban.log`, where the launcher and its rooms log without a terminal.
enum RoomLog {
    static let name = "vauban.log"

    /// Redirects this process's standard error, which the rooms inherit, to the log.
    static func takeStandardError(in home: PrivateFolder) throws(SystemError) {
        // Non-blocking, since opening a pipe in the file's place would block until another process reads it. A file ignores the flag.
        let flags = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK
        let number = openat(home.descriptor.number, name, flags, 0o600)
        let file = Descriptor(try SystemError.check(number, "open \(home.path)/\(name)"))
        var information = stat()
        try SystemError.check(fstat(file.number, &information), "look at \(home.path)/\(name)")
        guard information.st_mode & S_IFMT == S_IFREG, information.st_uid == geteuid() else {
            throw SystemError("write \(home.path)/\(name), which is not a file of this user", code: EPERM)
        }
        if information.st_size > LauncherLimits.logBytesMax { try SystemError.check(ftruncate(file.number, 0), "begin \(name) anew") }
        try SystemError.check(dup2(file.number, 2), "write to \(home.path)/\(name)")
    }
}

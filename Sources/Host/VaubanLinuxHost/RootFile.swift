import Glibc

package enum RootFile {
    /// Returns whether a file or folder belongs to this user, usually root, is not a link, and is not writable by others.
    package static func isOnly(of owner: UInt32, _ path: String) -> Bool {
        var information = stat()
        guard lstat(path, &information) == 0 else { return false }
        let type = information.st_mode & S_IFMT
        return (type == S_IFREG || type == S_IFDIR) && information.st_uid == owner && information.st_mode & 0o022 == 0
    }
}

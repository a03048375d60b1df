import Glibc

/// How much room a file system has.
package enum DiskSpace {
    /// The bytes that this process may still write to the file system of a folder. A quota is not seen by this.
    package static func bytesFree(in folder: PrivateFolder) throws(SystemError) -> UInt64 {
        var system = statvfs()
        try SystemError.check(fstatvfs(folder.descriptor.number, &system), "measure the disk of \(folder.path)")
        return UInt64(system.f_bavail) * UInt64(system.f_frsize)
    }

    /// Whether there is no room for even the record of a launcher; false where that cannot be found out.
    static func isFull(_ path: String?) -> Bool {
        guard let path, let folder = try? PrivateFolder(path: path, creating: false), let free = try? bytesFree(in: folder) else {
            return false
        }
        return free < 4096
    }
}

extension SystemError {
    /// Whether the disk, or this user's share of it, is full.
    package var isFullDisk: Bool { code == ENOSPC || code == EDQUOT }
}

import Glibc

/// The free space of a file system.
package enum DiskSpace {
    /// Returns the bytes that this process may still write to a folder's file system. Does not see quotas.
    package static func bytesFree(in folder: PrivateFolder) throws(SystemError) -> UInt64 {
        var system = statvfs()
        try SystemError.check(fstatvfs(folder.descriptor.number, &system), "measure the disk of \(folder.path)")
        return UInt64(system.f_bavail) * UInt64(system.f_frsize)
    }

    /// Returns whether there is no space for even a launcher's record; false if that is unknown.
    static func isFull(_ path: String?) -> Bool {
        guard let path, let folder = try? PrivateFolder(path: path, creating: false), let free = try? bytesFree(in: folder) else {
            return false
        }
        return free < 4096
    }
}

extension SystemError {
    /// Whether the disk, or this user's quota, is full.
    package var isFullDisk: Bool { code == ENOSPC || code == EDQUOT }
}

import Glibc
import VaubanPlainText

/// The part of a path that a user other than its owner and root could change, by owners and modes from the file up to `/`.
package struct OwnedFolders {
    private var seen: [[UInt8]: String?] = [:]

    package init() {}

    /// Returns the first folder above a path that others can change; nil if there is none. Debian lets the group `staff` change
    /// `/usr/local`, which an installation accepts.
    package mutating func openPart(above path: String, owner: UInt32, allowsStaff: Bool = true) -> String? {
        guard let folder = PathBytes.parts(of: path)?.folder else { return nil }
        return openPart(from: folder, owner: owner, allowsStaff: allowsStaff)
    }

    /// Returns the same for a folder itself and everything above it.
    package mutating func openPart(from folder: String, owner: UInt32, allowsStaff: Bool = true) -> String? {
        let key = Array(folder.utf8)
        if let known = seen[key] { return known }
        var part = Self.isOpen(folder, owner: owner, allowsStaff: allowsStaff) ? folder : nil
        if part == nil, let above = PathBytes.parts(of: folder)?.folder {
            part = openPart(from: above, owner: owner, allowsStaff: allowsStaff)
        }
        seen[key] = .some(part)
        return part
    }

    private static func isOpen(_ path: String, owner: UInt32, allowsStaff: Bool) -> Bool {
        var facts = stat()
        guard stat(path, &facts) == 0, facts.st_uid == 0 || facts.st_uid == owner else { return true }
        // In a folder such as /tmp users can add files, but not replace those of others.
        if facts.st_mode & 0o022 == 0 || facts.st_mode & 0o1000 != 0 { return false }
        return !(allowsStaff && facts.st_mode & 0o002 == 0 && AccountNames.group(facts.st_gid) == "staff")
    }
}

/// Names of users and groups as the system lists them; the number for one without a name.
package enum AccountNames {
    package static func user(_ uid: UInt32) -> String {
        guard let entry = getpwuid(uid) else { return "\(uid)" }
        return String(cString: entry.pointee.pw_name)
    }

    package static func group(_ gid: UInt32) -> String {
        guard let entry = getgrgid(gid) else { return "\(gid)" }
        return String(cString: entry.pointee.gr_name)
    }

    package static func uid(ofUser name: String) -> UInt32? {
        guard let entry = getpwnam(name) else { return UInt32(name) }
        return entry.pointee.pw_uid
    }
}

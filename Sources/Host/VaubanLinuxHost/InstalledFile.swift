// Decides whether the path of an installed program can be trusted: each step of the path must be changeable by root only
// (Specs/caller-identity.md).

internal import CVaubanLinux
import Glibc
package import VaubanAccessPolicy
internal import VaubanPlainText

/// A file that root owns, as it does each folder above, none of which group or others can write. It is held as a location, so it stays the
/// same file even if its path is reused.
package struct InstalledFile: Sendable {
    package let place: Descriptor
    package let device: UInt64
    package let inode: UInt64

    /// Opens the file at a path without symbolic links; nil if a user other than root could change it.
    package init?(path: String) {
        var folders = RootOwnedFolders()
        guard let file = folders.file(at: path) else { return nil }
        self = file
    }

    fileprivate init(place: Descriptor, device: UInt64, inode: UInt64) {
        self.place = place
        self.device = device
        self.inode = inode
    }

    /// Returns the identifier that the witness gives to the program in a file, so that a caller can refer to it before it runs: by path if
    /// the file is root's, otherwise by content. `digest` returns the SHA-256 of the open file, 32 bytes.
    package static func applicationIdentifier(
        path: String, digest: (Descriptor) throws -> [UInt8]
    ) throws -> ApplicationIdentifier {
        let number = try SystemError.check(open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), "open \(path)")
        let file = Descriptor(number)
        var facts = stat()
        try SystemError.check(fstat(file.number, &facts), "look at \(path)")
        guard facts.st_mode & S_IFMT == S_IFREG else { throw SystemError("name \(path), which is not a file", code: EINVAL) }
        guard let resolved = file.path, let found = InstalledFile(path: resolved), found.device == facts.st_dev, found.inode == facts.st_ino
        else { return .build(digest: try digest(file)) }
        return PackagedPlace(resolved).map(\.application) ?? .installed(path: resolved)
    }
}

/// Folders that only root can change, each examined once. An instance serves one query, so that nothing in it becomes stale.
package struct RootOwnedFolders {
    private static let asPlace = O_CLOEXEC | O_NOFOLLOW | 0o10000000  // O_PATH
    /// Programs are not expected in deeper folders.
    private static let depthMax = 64
    /// The examined folders, by the bytes of their paths, since canonically equivalent spellings are different folders.
    private var seen: [[UInt8]: Descriptor?] = [:]

    package init() {}

    /// Returns the file at this path if everything on the way is root's. A symbolic link anywhere in the path is refused.
    package mutating func file(at path: String) -> InstalledFile? {
        guard let (folder, name) = Self.parts(of: path), let above = self.folder(folder, depth: 0) else { return nil }
        let number = openat(above.number, name, Self.asPlace)
        guard number >= 0 else { return nil }
        let place = Descriptor(number)
        var facts = stat()
        guard fstat(number, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG, Self.isRoots(facts), Self.isOnTrustedFileSystem(place) else {
            return nil
        }
        return InstalledFile(place: place, device: UInt64(facts.st_dev), inode: UInt64(facts.st_ino))
    }

    /// Returns whether only root can have removed or replaced a file at this path. In `/` and `/dev` the kernel shows memory that was never
    /// a file there.
    package mutating func areRoots(above path: String) -> Bool {
        guard let (folder, _) = Self.parts(of: path), !["/", "/dev"].containsBytes(of: folder), let place = self.folder(folder, depth: 0)
        else { return false }
        return Self.isOnTrustedFileSystem(place)
    }

    private mutating func folder(_ path: String, depth: Int) -> Descriptor? {
        let key = Array(path.utf8)
        if let known = seen[key] { return known }
        let found = openFolder(path, depth: depth)
        seen[key] = .some(found)
        return found
    }

    private mutating func openFolder(_ path: String, depth: Int) -> Descriptor? {
        let number: Int32
        if path.isSameBytes(as: "/") {
            number = open("/", Self.asPlace | O_DIRECTORY)
        } else {
            guard depth < Self.depthMax, let (above, name) = Self.parts(of: path), let folder = folder(above, depth: depth + 1) else {
                return nil
            }
            number = openat(folder.number, name, Self.asPlace | O_DIRECTORY)
        }
        guard number >= 0 else { return nil }
        let place = Descriptor(number)
        var facts = stat()
        return fstat(number, &facts) == 0 && Self.isRoots(facts) ? place : nil
    }

    /// The group's permission bits include what an access control list allows other users to write.
    private static func isRoots(_ facts: stat) -> Bool { facts.st_uid == 0 && facts.st_mode & (S_IWGRP | S_IWOTH) == 0 }

    /// Whether the owners that a file system reports can be trusted. Users can mount file systems (a stick, an image, FUSE) that claim
    /// root as the owner of files, but these are always mounted `nosuid`.
    private static func isOnTrustedFileSystem(_ place: Descriptor) -> Bool {
        FileSystem(of: place)?.isNosuid == false
    }

    private static func parts(of path: String) -> (folder: String, name: String)? {
        guard let parts = PathBytes.parts(of: path), !parts.name.isSameBytes(as: "."), !parts.name.isSameBytes(as: "..") else { return nil }
        return parts
    }
}

/// The place of an application whose name is stable while its folder changes with each version.
package enum PackagedPlace: Hashable, Sendable {
    case flatpak(name: String)
    case snap(name: String)

    /// Derives the place from the path of an installed file; nil for any other path.
    package init?(_ path: String) {
        let parts = PathBytes.names(in: path).dropFirst().map { $0 }
        func name(after folder: [String], levels: Int) -> String? {
            guard parts.count > folder.count + levels, zip(parts, folder).allSatisfy({ $0.isSameBytes(as: $1) }) else { return nil }
            let name = parts[folder.count]
            return ApplicationIdentifier.isPackageName(name) ? name : nil
        }
        // /snap/NAME/REVISION/…
        if let name = name(after: ["snap"], levels: 2) ?? name(after: ["var", "lib", "snapd", "snap"], levels: 2) {
            self = .snap(name: name)
        } else if let name = name(after: ["var", "lib", "flatpak", "app"], levels: 5), parts[8].isSameBytes(as: "files") {
            // /var/lib/flatpak/app/NAME/ARCHITECTURE/BRANCH/COMMIT/files/…
            self = .flatpak(name: name)
        } else {
            return nil
        }
    }

    package var application: ApplicationIdentifier {
        switch self {
        case .flatpak(let name): .flatpak(name)
        case .snap(let name): .snap(name)
        }
    }
}

/// The file system of an open file.
package struct FileSystem: Sendable {
    /// The number of its type in `statfs`.
    package let kind: UInt32
    package let isNosuid: Bool

    package init?(of file: Descriptor) {
        var kind: UInt32 = 0
        var isNosuid = false
        guard vauban_file_system(file.number, &kind, &isNosuid) == 0 else { return nil }
        self.kind = kind
        self.isNosuid = isNosuid
    }
}

extension Descriptor {
    /// The open file's path, from the kernel's link, followed by ` (deleted)` if the file has no name any more; nil if it is longer than
    /// 4,096 bytes or not UTF-8.
    package var path: String? {
        var buffer = [UInt8](repeating: 0, count: 4097)
        let count = readlink("/proc/self/fd/\(number)", &buffer, buffer.count)
        guard count > 0, count < buffer.count else { return nil }
        return String(validating: buffer[..<count], as: UTF8.self)
    }
}

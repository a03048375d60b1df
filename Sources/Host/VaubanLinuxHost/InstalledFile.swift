// Files that only root can change, found by walking to them: what a path of an installed program is worth (Specs/caller-identity.md).

internal import CVaubanLinux
import Glibc
package import VaubanAccessPolicy
internal import VaubanPlainText

/// A file that belongs to root, as does each folder above it, all of which neither group nor others can write. It is held as a
/// place, so that it is this file whatever has its path afterwards.
package struct InstalledFile: Sendable {
    package let place: Descriptor
    package let device: UInt64
    package let inode: UInt64

    /// The file at a path without symbolic links, nil where it is none that only root can change.
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

    /// The name that the witness gives the program of a file, so that a caller can speak of it before it runs: by its place where
    /// the file is root's, by its content elsewhere. `digest` answers the SHA-256 of the open file, 32 bytes.
    package static func applicationIdentifier(
        path: String, digest: (Descriptor) throws -> [UInt8]
    ) throws -> ApplicationIdentifier {
        let number = try SystemError.check(open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), "open \(path)")
        let file = Descriptor(number)
        var facts = stat()
        try SystemError.check(fstat(file.number, &facts), "look at \(path)")
        guard facts.st_mode & S_IFMT == S_IFREG else { throw SystemError("name \(path), which is no file", code: EINVAL) }
        guard let resolved = file.path, let found = InstalledFile(path: resolved), found.device == facts.st_dev, found.inode == facts.st_ino
        else { return .build(digest: try digest(file)) }
        return PackagedPlace(resolved).map(\.application) ?? .installed(path: resolved)
    }
}

/// Folders that only root can change, each looked at once. Made anew for each question, so that nothing in it grows old.
package struct RootOwnedFolders {
    private static let asPlace = O_CLOEXEC | O_NOFOLLOW | 0o10000000  // O_PATH
    /// A folder more is no folder of a program.
    private static let depthMax = 64
    /// By the bytes of the path, since two spellings of one letter are two folders.
    private var seen: [[UInt8]: Descriptor?] = [:]

    package init() {}

    /// The file at this path if everything on the way is root's. A symbolic link on the way, or as the last, is none.
    package mutating func file(at path: String) -> InstalledFile? {
        guard let (folder, name) = Self.parts(of: path), let above = self.folder(folder, depth: 0) else { return nil }
        let number = openat(above.number, name, Self.asPlace)
        guard number >= 0 else { return nil }
        let place = Descriptor(number)
        var facts = stat()
        guard fstat(number, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG, Self.isRoots(facts), Self.isBelieved(place) else { return nil }
        return InstalledFile(place: place, device: UInt64(facts.st_dev), inode: UInt64(facts.st_ino))
    }

    private mutating func folder(_ path: String, depth: Int) -> Descriptor? {
        let key = Array(path.utf8)
        if let known = seen[key] { return known }
        let found = look(path, depth: depth)
        seen[key] = .some(found)
        return found
    }

    private mutating func look(_ path: String, depth: Int) -> Descriptor? {
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

    /// An access list that lets somebody else write shows in the group's bits.
    private static func isRoots(_ facts: stat) -> Bool { facts.st_uid == 0 && facts.st_mode & (S_IWGRP | S_IWOTH) == 0 }

    /// What users may mount (a stick, an image, FUSE) names root as the owner of what they wrote themselves. It is always
    /// mounted `nosuid`, for that very reason.
    private static func isBelieved(_ place: Descriptor) -> Bool {
        FileSystem(of: place)?.isNosuid == false
    }

    private static func parts(of path: String) -> (folder: String, name: String)? {
        guard let parts = PathBytes.parts(of: path), !parts.name.isSameBytes(as: "."), !parts.name.isSameBytes(as: "..") else { return nil }
        return parts
    }
}

/// Places in which an application lies whose name stays while its folder changes with each version.
package enum PackagedPlace: Hashable, Sendable {
    case flatpak(name: String)
    case snap(name: String)

    /// By the path of an installed file; nil for any other.
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

/// The file system that an open file lies on.
package struct FileSystem: Sendable {
    /// The number by which `statfs` names its kind.
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
    /// Where the open file lies, by the kernel's own link, with ` (deleted)` behind it where it has no name any more; nil where
    /// that is longer than 4,096 bytes or not UTF-8.
    package var path: String? {
        var buffer = [UInt8](repeating: 0, count: 4097)
        let count = readlink("/proc/self/fd/\(number)", &buffer, buffer.count)
        guard count > 0, count < buffer.count else { return nil }
        return String(validating: buffer[..<count], as: UTF8.self)
    }
}

// The immutable flag of installed files: no user, root included, can write, rename or remove them until it is cleared.

import CVaubanLinux
import Glibc
import VaubanLinuxHost
import VaubanRefusal

struct FileFlags: OptionSet, Sendable {
    let rawValue: UInt32
    init(rawValue: UInt32) { self.rawValue = rawValue }
    /// FS_IMMUTABLE_FL of the kernel.
    static let immutable = FileFlags(rawValue: 0x10)
}

enum ImmutableFiles {
    /// Returns the installed files, and last the folders that contain nothing else. Links have no flags; their folder protects them only if
    /// it is listed.
    static func paths(of manifest: IntegrityManifest, folder: String) -> [String] {
        var files: [String] = []
        var folders: [String] = []
        for entry in manifest.entries {
            switch entry.kind {
            case .file: files.append(entry.path)
            case .folder: folders.append(entry.path)
            case .link: break
            }
        }
        return files + ["\(folder)/\(IntegrityManifest.name)"] + folders
    }

    static func flags(of path: String) -> Result<FileFlags, SystemError> {
        do throws(SystemError) {
            return .success(try flags(of: opened(path), path))
        } catch {
            return .failure(error)
        }
    }

    /// Sets or clears the flag, and returns how many files and folders changed. If one cannot be changed, those before it are restored.
    static func set(_ isImmutable: Bool, on paths: [String]) throws -> Int {
        var changed: [String] = []
        // Clear the folder's flag first, and set it last.
        for path in isImmutable ? paths : paths.reversed() {
            do {
                if try change(path, to: isImmutable) { changed.append(path) }
            } catch {
                for path in changed.reversed() { _ = try? change(path, to: !isImmutable) }
                throw error
            }
        }
        return changed.count
    }

    private static func change(_ path: String, to isImmutable: Bool) throws -> Bool {
        // A file that no longer exists has no flag to clear.
        if !isImmutable, access(path, F_OK) != 0, errno == ENOENT { return false }
        let file = try opened(path)
        do throws(SystemError) {
            var wanted = try flags(of: file, path)
            guard wanted.contains(.immutable) != isImmutable else { return false }
            if isImmutable { wanted.insert(.immutable) } else { wanted.remove(.immutable) }
            try SystemError.checkNegated(vauban_set_file_flags(file.number, wanted.rawValue), "change the flags of \(path)")
            return true
        } catch {
            throw refusal(error, path)
        }
    }

    private static func refusal(_ error: SystemError, _ path: String) -> any Error {
        switch error.code {
        case ENOTTY, EOPNOTSUPP, ENOSYS, EINVAL:
            Refusal(.unsupported, "The file system of \(path) has no immutable flag; nothing was changed")
        case EPERM, EACCES:
            Refusal(.unsupported, "The kernel does not let this process change the flag of \(path) (CAP_LINUX_IMMUTABLE)")
        default: error
        }
    }

    private static func opened(_ path: String) throws(SystemError) -> Descriptor {
        Descriptor(try SystemError.check(open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK), "open \(path)"))
    }

    private static func flags(of file: Descriptor, _ path: String) throws(SystemError) -> FileFlags {
        var flags: UInt32 = 0
        try SystemError.checkNegated(vauban_file_flags(file.number, &flags), "read the flags of \(path)")
        return FileFlags(rawValue: flags)
    }
}

import Glibc
internal import VaubanLinuxHost

/// Vauban's programs that do what their caller asks, and so have no identity of their own: files of these names in one folder, and copies
/// of them.
struct CommandLineProgram: Sendable {
    static let names = ["vauban", "vauban-ssh-agent", "vauban-secret-service", "vauban-browser-host", "vauban-desktop"]
    private let folder: Descriptor?

    /// Opens the folder, by default that of the witness's own program. The folder stays open; its files are looked up each time, since an
    /// upgrade replaces them.
    init(folder named: String? = nil) {
        guard let path = named ?? Self.ownFolder else { folder = nil; return }
        folder = try? Descriptor.place(path)
    }

    /// Returns whether a process executes such a program or a copy of one.
    func isExecuted(by snapshot: ProcessSnapshot, _ digests: DigestCache) -> Bool {
        guard let folder else { return false }
        return Self.names.contains { name in
            let number = openat(folder.number, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
            guard number >= 0 else { return false }
            let file = Descriptor(number)
            guard let key = FileKey(file), key.isRegular else { return false }
            if key.device == snapshot.key.device && key.inode == snapshot.key.inode { return true }
            guard let digest = snapshot.digest, key.size == snapshot.key.size else { return false }
            return digests.digest(of: file, key, isUnwritten: { false }) == digest
        }
    }

    private static var ownFolder: String? {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = readlink("/proc/self/exe", &buffer, buffer.count)
        guard count > 0, count < buffer.count, let slash = buffer[..<count].lastIndex(of: 0x2F) else { return nil }
        return String(validating: buffer[..<max(slash, 1)], as: UTF8.self)
    }
}

import Glibc
internal import VaubanLinuxHost

/// Vauban's own programs that do what whoever starts them says, and so have no identity: files of these names in one folder, and
/// their copies.
struct CommandLineProgram: Sendable {
    static let names = ["vauban", "vauban-ssh-agent", "vauban-secret-service"]
    private let folder: Descriptor?

    /// The folder of the witness's own program where none is named. It is held; what is in it is looked up at each question,
    /// since an upgrade replaces it.
    init(folder named: String? = nil) {
        guard let path = named ?? Self.ownFolder else { folder = nil; return }
        folder = try? Descriptor.place(path)
    }

    /// Whether a process executes such a program, or a copy of one.
    func isExecuted(by look: ProcessSnapshot, _ digests: DigestCache) -> Bool {
        guard let folder else { return false }
        return Self.names.contains { name in
            let number = openat(folder.number, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
            guard number >= 0 else { return false }
            let file = Descriptor(number)
            guard let key = FileKey(file), key.isRegular else { return false }
            if key.device == look.key.device && key.inode == look.key.inode { return true }
            guard let digest = look.digest, key.size == look.key.size else { return false }
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

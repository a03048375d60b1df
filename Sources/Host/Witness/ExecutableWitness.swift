internal import Crypto
package import EnclaveWire
import Glibc
package import VaubanLinuxHost

/// Who a process is, as far as the kernel tells: the file that it executes. Nothing that the process says about itself
/// counts, neither its name nor its arguments.
package enum ExecutableWitness {
    /// The executable of the process that both the number and the descriptor name; nil when they name different ones, when it
    /// has ended, or when its file cannot be opened, is too large or has no name that can be told.
    package static func identity(ofProcess pid: Int64, heldBy process: Descriptor) -> ExecutableIdentity? {
        guard let named = ProcessDescriptor.pid(of: process), Int64(named) == pid else { return nil }
        // A link of the kernel's, which opens the very file, wherever it was moved and whatever now has its path.
        let number = open("/proc/\(named)/exe", O_RDONLY | O_CLOEXEC)
        guard number >= 0 else { return nil }
        let file = Descriptor(number)
        var information = stat()
        guard fstat(file.number, &information) == 0, information.st_mode & S_IFMT == S_IFREG, let path = path(of: file),
            let digest = digest(of: file)
        else { return nil }
        // As long as the process lives, its number belongs to nobody else: so what was opened by the number was its file.
        guard isAlive(process) else { return nil }
        return ExecutableIdentity(
            path: path, device: Int64(bitPattern: UInt64(information.st_dev)), inode: Int64(bitPattern: UInt64(information.st_ino)),
            digest: digest)
    }

    /// The path of the open file, with ` (deleted)` behind it where that is so.
    private static func path(of file: Descriptor) -> String? {
        var buffer = [UInt8](repeating: 0, count: WitnessLimits.pathBytesMax + 1)
        let count = readlink("/proc/self/fd/\(file.number)", &buffer, buffer.count)
        guard count > 0, count <= WitnessLimits.pathBytesMax else { return nil }
        return String(validating: buffer[..<count], as: UTF8.self)
    }

    /// SHA-256 of the whole file, read through one small buffer.
    private static func digest(of file: Descriptor) -> [UInt8]? {
        var hash = SHA256()
        var chunk = [UInt8](repeating: 0, count: WitnessLimits.chunkBytes)
        var total: Int64 = 0
        while true {
            let got = read(file.number, &chunk, chunk.count)
            if got < 0 && errno == EINTR { continue }
            if got < 0 { return nil }
            if got == 0 { return Array(hash.finalize()) }
            total += Int64(got)
            guard total <= WitnessLimits.executableBytesMax else { return nil }
            chunk.withUnsafeBytes { hash.update(bufferPointer: UnsafeRawBufferPointer(rebasing: $0[..<got])) }
        }
    }

    /// A process descriptor becomes readable when its process ends.
    private static func isAlive(_ process: Descriptor) -> Bool {
        var poller = pollfd(fd: process.number, events: Int16(POLLIN), revents: 0)
        return poll(&poller, 1, 0) == 0
    }
}

import Glibc
internal import CVaubanLinux

/// A few public bytes in a memory file that can no longer be changed. The kernel reports the file's creator as its owner, so a recipient
/// can verify who wrote the bytes, whichever process passed the file on.
package enum SealedMemory {
    package static func make(_ bytes: [UInt8]) throws(SystemError) -> Descriptor {
        Descriptor(
            try SystemError.checkNegated(
                bytes.withUnsafeBytes { vauban_sealed_memory("vauban", $0.baseAddress, $0.count) }, "make a memory file"))
    }

    /// Returns the bytes if the file is sealed, small, and created by `uid`; otherwise nil.
    package static func bytes(of descriptor: Descriptor, madeBy uid: UInt32, max: Int) -> [UInt8]? {
        var information = stat()
        guard fstat(descriptor.number, &information) == 0, information.st_uid == uid, vauban_is_sealed_memory(descriptor.number) == 1,
            information.st_size <= max
        else { return nil }
        var bytes = [UInt8](repeating: 0, count: Int(information.st_size))
        guard pread(descriptor.number, &bytes, bytes.count, 0) == bytes.count else { return nil }
        return bytes
    }
}

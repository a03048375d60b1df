import Glibc

/// Files of the kernel, the system and the user that are read as a whole.
package enum SmallFile {
    /// The device number of `/dev/null`: major 1, minor 3.
    private static let nullDevice: dev_t = 0x103

    /// Returns the file's bytes; nil if it cannot be read, is larger than `max`, or cannot be read without waiting (`opened`).
    package static func bytes(path: String, max: Int) -> [UInt8]? { opened(path: path).flatMap { bytes(of: $0, max: max) } }

    package static func text(path: String, max: Int) -> String? {
        bytes(path: path, max: max).flatMap { String(validating: $0, as: UTF8.self) }
    }

    /// Opens a file for reading; nil if that fails, or if it is not one that can be read at once (`isReadAtOnce`). Never waits.
    package static func opened(path: String) -> Descriptor? {
        let number = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard number >= 0 else { return nil }
        let file = Descriptor(number)
        return isReadAtOnce(file) ? file : nil
    }

    /// Whether an open file is a regular one, or `/dev/null`, which stands for an empty file, as in systemd. Reading another device or a
    /// pipe could wait for another process. Opening a pipe waits, too, so a file that `opened` does not open must be opened with
    /// `O_NONBLOCK`.
    package static func isReadAtOnce(_ file: Descriptor) -> Bool {
        var facts = stat()
        guard fstat(file.number, &facts) == 0 else { return false }
        let type = facts.st_mode & S_IFMT
        return type == S_IFREG || (type == S_IFCHR && facts.st_rdev == nullDevice)
    }

    /// Returns the remaining bytes of an open file; nil if it cannot be read or they are more than `max`.
    package static func bytes(of file: Descriptor, max: Int) -> [UInt8]? {
        var content: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 4096)
        while true {
            let got = read(file.number, &chunk, chunk.count)
            if got < 0 && errno == EINTR { continue }
            if got < 0 { return nil }
            if got == 0 { return content }
            content.append(contentsOf: chunk[0..<got])
            if content.count > max { return nil }
        }
    }
}

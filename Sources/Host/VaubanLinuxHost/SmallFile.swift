import Glibc

/// Files of the kernel and the system that are read as a whole.
package enum SmallFile {
    /// Returns the file's bytes; nil if it cannot be read or is larger than `max`.
    package static func bytes(path: String, max: Int) -> [UInt8]? {
        let number = open(path, O_RDONLY | O_CLOEXEC)
        guard number >= 0 else { return nil }
        return bytes(of: Descriptor(number), max: max)
    }

    package static func text(path: String, max: Int) -> String? {
        bytes(path: path, max: max).flatMap { String(validating: $0, as: UTF8.self) }
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

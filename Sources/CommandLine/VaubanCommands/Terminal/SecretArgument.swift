import Foundation
import VaubanSecretBytes

/// A secret that was given as an argument. Other programs can read the arguments of a process, so this overwrites it there at once. It
/// cannot undo earlier reads, or erase the copies that parsing made in this short-lived process.
enum SecretArgument {
    /// Returns the argument as a secret, and overwrites it in the memory that the kernel shows as this process's arguments.
    static func take(_ argument: String) -> SecretBytes {
        let bytes = Array(argument.utf8)
        if let range = argumentRange(), let start = UnsafeMutableRawPointer(bitPattern: range.lowerBound) {
            overwrite(bytes, in: UnsafeMutableRawBufferPointer(start: start, count: range.count))
        }
        return SecretBytes(count: bytes.count) { $0.copyBytes(from: bytes) }
    }

    /// Returns the addresses of the arguments in this process, from proc(5): fields 48 and 49 of `stat`, the first after the name being 3.
    private static func argumentRange() -> Range<UInt>? {
        guard let text = try? String(contentsOfFile: "/proc/self/stat", encoding: .utf8), let end = text.lastIndex(of: ")") else {
            return nil
        }
        let fields = text[text.index(after: end)...].split(whereSeparator: \.isWhitespace)
        guard fields.count > 46, let start = UInt(fields[45]), let end = UInt(fields[46]), start > 0, start < end else { return nil }
        return start..<end
    }

    /// Overwrites the bytes where they are a whole argument, or the value of one in the form `--option=value`.
    private static func overwrite(_ bytes: [UInt8], in arguments: UnsafeMutableRawBufferPointer) {
        guard !bytes.isEmpty, bytes.count < arguments.count else { return }
        for start in 1..<arguments.count - bytes.count + 1 {
            let end = start + bytes.count
            guard [0, UInt8(ascii: "=")].contains(arguments[start - 1]), end == arguments.count || arguments[end] == 0,
                arguments[start..<end].elementsEqual(bytes)
            else { continue }
            for index in start..<end { arguments[index] = UInt8(ascii: "-") }
        }
    }
}

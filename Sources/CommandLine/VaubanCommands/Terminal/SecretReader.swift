// Reads secrets from a descriptor. The bytes go directly from the kernel into zeroing memory.

import Glibc
import VaubanLinuxHost
import VaubanRefusal
import VaubanSecretBytes

enum SecretReader {
    /// Reads everything to the end, at most `max` bytes. Unless `keepsNewline` is set, drops one newline at the very end, which `echo`
    /// adds; that of Windows only from text.
    static func everything(from descriptor: Int32, max: Int, keepsNewline: Bool) throws -> SecretBytes {
        var buffer = SecretBytes(count: 4096) { _ in }
        var count = 0
        while true {
            if count == buffer.count { buffer = grown(buffer, by: count) }
            let start = count
            let got = buffer.withUnsafeMutableBytes { read(descriptor, $0.baseAddress?.advanced(by: start), $0.count - start) }
            if got < 0 && errno == EINTR { continue }
            if got < 0 { throw Self.unreadable(descriptor, errno) }
            if got == 0 { break }
            count += got
            guard count <= max else { throw Refusal(.dataTooLarge) }
        }
        if !keepsNewline { count = buffer.withUnsafeBytes { withoutNewline($0.prefix(count)) } }
        return buffer.part(0..<count)
    }

    /// Returns the number of bytes before a newline at the end.
    private static func withoutNewline(_ bytes: Slice<UnsafeRawBufferPointer>) -> Int {
        guard bytes.last == 0x0A else { return bytes.count }
        let rest = bytes.dropLast()
        return rest.last == 0x0D && !rest.contains(0) && String(validating: rest, as: UTF8.self) != nil ? rest.count - 1 : rest.count
    }

    /// Reads one line byte by byte, so that the rest stays in the descriptor for the next reader.
    static func line(from descriptor: Int32, max: Int) throws -> SecretBytes {
        var buffer = SecretBytes(count: max) { _ in }
        var count = 0
        while true {
            var byte: UInt8 = 0
            let got = read(descriptor, &byte, 1)
            if got < 0 && errno == EINTR { continue }
            if got < 0 { throw Self.unreadable(descriptor, errno) }
            if got == 0 || byte == 0x0A { return buffer.part(0..<count) }
            guard count < max else { throw Refusal(.badParameter, "The line on descriptor \(descriptor) is longer than \(max) bytes") }
            let (position, value) = (count, byte)
            buffer.withUnsafeMutableBytes { $0[position] = value }
            count += 1
            byte = 0
        }
    }

    private static func unreadable(_ descriptor: Int32, _ code: Int32) -> Refusal {
        let source = descriptor == STDIN_FILENO ? "standard input" : "descriptor \(descriptor)"
        return Refusal(.badParameter, SystemError("read \(source)", code: code).sentence)
    }

    private static func grown(_ buffer: borrowing SecretBytes, by count: Int) -> SecretBytes {
        buffer.withUnsafeBytes { old in
            SecretBytes(count: old.count + count) { $0.copyMemory(from: old) }
        }
    }
}

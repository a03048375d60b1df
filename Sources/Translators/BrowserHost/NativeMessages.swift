import Glibc
package import VaubanSecretBytes

/// Why the stream of messages cannot be continued. The browser is to blame, except for `system`.
package enum NativeMessageError: Error, Hashable, CustomStringConvertible {
    /// The length of a message is out of bounds. It was neither read nor stored.
    case length(UInt32)
    /// The browser closed the stream within a message.
    case cutOff
    case system(Int32)

    package var description: String {
        switch self {
        case .length(0): "A message is empty"
        case .length(let count): "A message has \(count) bytes; at most \(BrowserLimits.messageBytesMax) are read"
        case .cutOff: "The last message is incomplete"
        case .system(let code): "The browser's messages cannot be read: \(String(cString: strerror(code)))"
        }
    }
}

/// The messages of a browser's native messaging: the length in four bytes, in the machine's byte order, followed by that many bytes of
/// JSON.
package enum NativeMessages {
    /// Reads the next message into zeroing memory; nil at the end of the stream. Memory grows with the bytes that arrive, so a length alone
    /// allocates none.
    package static func next(from descriptor: Int32) throws(NativeMessageError) -> SecretBytes? {
        var header: UInt32 = 0
        let got = try withUnsafeMutableBytes(of: &header) { bytes throws(NativeMessageError) in try fill(bytes, from: descriptor) }
        guard got > 0 else { return nil }
        guard got == 4 else { throw .cutOff }
        guard header > 0, header <= UInt32(BrowserLimits.messageBytesMax) else { throw .length(header) }
        let wanted = Int(header)
        var buffer = SecretBytes(count: min(wanted, BrowserLimits.firstBytes)) { _ in }
        var count = 0
        while true {
            let start = count
            count += try buffer.withUnsafeMutableBytes { bytes throws(NativeMessageError) in
                try fill(UnsafeMutableRawBufferPointer(rebasing: bytes[start...]), from: descriptor)
            }
            guard count == buffer.count else { throw .cutOff }
            guard count < wanted else { return buffer }
            let size = min(wanted, count * 2)
            buffer = buffer.withUnsafeBytes { old in
                SecretBytes(count: size) { UnsafeMutableRawBufferPointer(rebasing: $0[..<old.count]).copyMemory(from: old) }
            }
        }
    }

    /// Reads until the buffer is full or the stream ends; returns the number of bytes.
    private static func fill(_ buffer: UnsafeMutableRawBufferPointer, from descriptor: Int32) throws(NativeMessageError) -> Int {
        var count = 0
        while count < buffer.count {
            let got = read(descriptor, buffer.baseAddress?.advanced(by: count), buffer.count - count)
            if got < 0 && errno == EINTR { continue }
            guard got >= 0 else { throw .system(errno) }
            guard got > 0 else { break }
            count += got
        }
        return count
    }

    /// Returns a message with its length before it.
    package static func framed(_ message: borrowing SecretBytes) -> SecretBytes {
        let length = withUnsafeBytes(of: UInt32(message.count)) { Array($0) }
        return message.withUnsafeBytes { body in
            SecretBytes(count: 4 + body.count) { target in
                target.copyBytes(from: length)
                UnsafeMutableRawBufferPointer(rebasing: target[4...]).copyMemory(from: body)
            }
        }
    }

    /// Writes a message; returns false if the browser does not take it.
    static func write(_ message: borrowing SecretBytes, to descriptor: Int32) -> Bool {
        framed(message).withUnsafeBytes { bytes in
            var sent = 0
            while sent < bytes.count {
                let count = Glibc.write(descriptor, bytes.baseAddress?.advanced(by: sent), bytes.count - sent)
                if count < 0 && errno == EINTR { continue }
                guard count > 0 else { return false }
                sent += count
            }
            return true
        }
    }
}

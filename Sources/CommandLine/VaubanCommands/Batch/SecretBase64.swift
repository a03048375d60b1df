package import VaubanSecretBytes

/// Base64 (RFC 4648, section 4, with padding) from and into zeroing memory; a library would leave copies.
package enum SecretBase64 {
    private static let signs = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    package static func text(of secret: borrowing SecretBytes) -> SecretBytes {
        secret.withUnsafeBytes { bytes in
            SecretBytes(count: (bytes.count + 2) / 3 * 4) { target in
                for group in 0..<(bytes.count + 2) / 3 {
                    let start = group * 3
                    let left = min(bytes.count - start, 3)
                    var word: UInt32 = 0
                    for index in 0..<3 { word = word << 8 | (index < left ? UInt32(bytes[start + index]) : 0) }
                    for index in 0..<4 {
                        target[group * 4 + index] = index <= left ? signs[Int(word >> (18 - 6 * UInt32(index))) & 63] : UInt8(ascii: "=")
                    }
                }
            }
        }
    }

    /// Decodes text, or returns nil if it is not exactly this encoding.
    package static func bytes(of text: borrowing SecretBytes) -> SecretBytes? {
        let padding = text.withUnsafeBytes { bytes in bytes.suffix(2).count { $0 == UInt8(ascii: "=") } }
        let count = text.count
        let isGood = text.withUnsafeBytes { bytes in
            bytes.dropLast(padding).allSatisfy { value($0) != nil } && bytes.suffix(padding).allSatisfy { $0 == UInt8(ascii: "=") }
        }
        guard count % 4 == 0, isGood else { return nil }
        let wanted = count / 4 * 3 - padding
        return text.withUnsafeBytes { bytes in
            SecretBytes(count: wanted) { target in
                for group in 0..<count / 4 {
                    var word: UInt32 = 0
                    for index in 0..<4 { word = word << 6 | UInt32(value(bytes[group * 4 + index]) ?? 0) }
                    for index in 0..<3 where group * 3 + index < wanted {
                        target[group * 3 + index] = UInt8(truncatingIfNeeded: word >> (16 - 8 * UInt32(index)))
                    }
                }
            }
        }
    }

    private static func value(_ byte: UInt8) -> UInt8? {
        switch byte {
        case 0x41...0x5A: byte - 0x41
        case 0x61...0x7A: byte - 0x61 + 26
        case 0x30...0x39: byte - 0x30 + 52
        case 0x2B: 62
        case 0x2F: 63
        default: nil
        }
    }
}

package import VaubanSecretBytes

/// Base32 of RFC 4648, section 6, for secrets.
package enum Base32 {
    /// Decodes a text: letters in either case; spaces, hyphens and padding are ignored. Returns nil for any other character, for an
    /// impossible length, and if leftover bits are not zero.
    package static func decode(_ text: UnsafeRawBufferPointer) -> SecretBytes? {
        var digits = 0
        for sign in text where value(of: sign) != nil { digits += 1 }
        guard text.allSatisfy({ value(of: $0) != nil || isFiller($0) }), ![1, 3, 6].contains(digits % 8) else { return nil }
        var isCanonical = true
        let bytes = SecretBytes(count: digits * 5 / 8) { bytes in
            var bits: UInt32 = 0
            var bitCount = 0
            var position = 0
            for sign in text {
                guard let value = value(of: sign) else { continue }
                bits = bits << 5 | UInt32(value)
                bitCount += 5
                guard bitCount >= 8 else { continue }
                bitCount -= 8
                bytes[position] = UInt8(truncatingIfNeeded: bits >> UInt32(bitCount))
                position += 1
                bits &= (1 << UInt32(bitCount)) - 1
            }
            isCanonical = bits == 0
        }
        guard isCanonical else { return nil }
        return bytes
    }

    /// Encodes bytes in capitals, without padding.
    package static func encode(_ bytes: UnsafeRawBufferPointer) -> SecretBytes {
        SecretBytes(count: (bytes.count * 8 + 4) / 5) { text in
            var bits: UInt32 = 0
            var bitCount = 0
            var position = 0
            func append(_ value: UInt32) {
                text[position] = alphabet[Int(value & 31)]
                position += 1
            }
            for byte in bytes {
                bits = bits << 8 | UInt32(byte)
                bitCount += 8
                while bitCount >= 5 {
                    bitCount -= 5
                    append(bits >> UInt32(bitCount))
                }
                bits &= (1 << UInt32(bitCount)) - 1
            }
            if bitCount > 0 { append(bits << UInt32(5 - bitCount)) }
        }
    }

    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".utf8)

    private static func value(of sign: UInt8) -> UInt8? {
        switch sign {
        case 0x41...0x5A: sign - 0x41
        case 0x61...0x7A: sign - 0x61
        case 0x32...0x37: sign - 0x32 + 26
        default: nil
        }
    }

    private static func isFiller(_ sign: UInt8) -> Bool { [0x20, 0x2D, 0x3D].contains(sign) }
}

package import VaubanSecretBytes

/// A recovery key: 16 random bytes, written as eight groups of six digits. Each group is a 16-bit number times eleven, so that a typing
/// error is found in its group. BitLocker's recovery passwords have the same form: digits can be read aloud and typed on any keyboard.
package struct RecoveryKey: ~Copyable {
    package static let groups = 8
    package static let digitsPerGroup = 6
    package static let keyBytes = 16

    /// The 48 digits without separators, as they are sealed for transit.
    package let digits: SecretBytes

    /// Encodes 16 random bytes as digits.
    package init(random: borrowing SecretBytes) {
        digits = SecretBytes(count: Self.groups * Self.digitsPerGroup) { target in
            random.withUnsafeBytes { bytes in
                for group in 0..<Self.groups {
                    var number = (UInt32(bytes[group * 2]) << 8 | UInt32(bytes[group * 2 + 1])) * 11
                    for digit in (0..<Self.digitsPerGroup).reversed() {
                        target[group * Self.digitsPerGroup + digit] = UInt8(ascii: "0") + UInt8(number % 10)
                        number /= 10
                    }
                }
            }
        }
    }

    /// Decodes a user's input. Ignores spaces and hyphens between the digits.
    package init(typed: borrowing SecretBytes) throws(RecoveryKeyError) {
        let expected = Self.groups * Self.digitsPerGroup
        let counted = typed.withUnsafeBytes { bytes in bytes.count { !Self.isSeparator($0) } }
        guard counted == expected else { throw .wrongLength(digits: counted) }
        let read = try SecretBytes(count: expected) { (target) throws(RecoveryKeyError) in
            try typed.withUnsafeBytes { (bytes) throws(RecoveryKeyError) in
                var place = 0
                for byte in bytes where !Self.isSeparator(byte) {
                    guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { throw .notADigit }
                    target[place] = byte
                    place += 1
                }
            }
        }
        for group in 0..<Self.groups {
            guard Self.number(of: group, in: read) != nil else { throw .typo(group: group + 1) }
        }
        digits = read
    }

    /// Returns the 16 bytes that the digits encode.
    package borrowing func bytes() -> SecretBytes {
        SecretBytes(count: Self.keyBytes) { target in
            for group in 0..<Self.groups {
                let number = Self.number(of: group, in: digits) ?? 0
                target[group * 2] = UInt8(number >> 8)
                target[group * 2 + 1] = UInt8(number & 0xFF)
            }
        }
    }

    private static func isSeparator(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "-") }

    /// Returns the 16-bit number of a group; nil if the group is not a multiple of eleven or is too large.
    private static func number(of group: Int, in digits: borrowing SecretBytes) -> UInt32? {
        digits.withUnsafeBytes { bytes in
            var value: UInt32 = 0
            for digit in 0..<digitsPerGroup { value = value * 10 + UInt32(bytes[group * digitsPerGroup + digit] - UInt8(ascii: "0")) }
            return value % 11 == 0 && value / 11 <= 0xFFFF ? value / 11 : nil
        }
    }
}

/// An error in a typed recovery key.
package enum RecoveryKeyError: Error, Hashable, Sendable {
    case wrongLength(digits: Int)
    case notADigit
    /// The group, 1 to 8, with the typing error.
    case typo(group: Int)
}

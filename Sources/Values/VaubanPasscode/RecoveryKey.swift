package import VaubanSecretBytes

/// A recovery key: 16 random bytes, written as eight groups of six digits, each group a 16-bit number times eleven, so
/// that a slip in any group is noticed and said. It is the form of BitLocker's recovery passwords: digits can be read
/// out and typed on every keyboard.
package struct RecoveryKey: ~Copyable {
    package static let groups = 8
    package static let digitsPerGroup = 6
    package static let keyBytes = 16

    /// The 48 digits, without separators: the form in which it travels, sealed.
    package let digits: SecretBytes

    /// What is wrong with what was typed.
    package enum Fault: Error, Hashable, Sendable {
        case wrongLength(digits: Int)
        case notADigit
        /// The group, 1 … 8, that holds a slip.
        case slip(group: Int)
    }

    /// Writes 16 random bytes as digits.
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

    /// Reads what a user typed: spaces and hyphens between digits do not count.
    package init(typed: borrowing SecretBytes) throws(Fault) {
        let expected = Self.groups * Self.digitsPerGroup
        let counted = typed.withUnsafeBytes { bytes in bytes.count { !Self.isSeparator($0) } }
        guard counted == expected else { throw .wrongLength(digits: counted) }
        let read = try SecretBytes(count: expected) { (target) throws(Fault) in
            try typed.withUnsafeBytes { (bytes) throws(Fault) in
                var place = 0
                for byte in bytes where !Self.isSeparator(byte) {
                    guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { throw .notADigit }
                    target[place] = byte
                    place += 1
                }
            }
        }
        for group in 0..<Self.groups {
            guard Self.number(of: group, in: read) != nil else { throw .slip(group: group + 1) }
        }
        digits = read
    }

    /// The 16 bytes that the digits stand for.
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

    /// The 16-bit number of a group; nil when it is no multiple of eleven or too large.
    private static func number(of group: Int, in digits: borrowing SecretBytes) -> UInt32? {
        digits.withUnsafeBytes { bytes in
            var value: UInt32 = 0
            for digit in 0..<digitsPerGroup { value = value * 10 + UInt32(bytes[group * digitsPerGroup + digit] - UInt8(ascii: "0")) }
            return value % 11 == 0 && value / 11 <= 0xFFFF ? value / 11 : nil
        }
    }
}

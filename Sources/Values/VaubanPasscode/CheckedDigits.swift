package import VaubanSecretBytes

/// Random bytes as digits: a group of six for each two bytes, which is a 16-bit number times eleven, so that a typing error is found in its
/// group. BitLocker's recovery passwords have the same form: digits can be read aloud and typed on any keyboard.
package enum CheckedDigits {
    package static let digitsPerGroup = 6

    /// Returns the digits of bytes, whose number is even, without separators.
    package static func encoded(_ bytes: borrowing SecretBytes) -> SecretBytes {
        let groups = bytes.count / 2
        return SecretBytes(count: groups * digitsPerGroup) { target in
            bytes.withUnsafeBytes { bytes in
                for group in 0..<groups {
                    var number = (UInt32(bytes[group * 2]) << 8 | UInt32(bytes[group * 2 + 1])) * 11
                    for digit in (0..<digitsPerGroup).reversed() {
                        target[group * digitsPerGroup + digit] = UInt8(ascii: "0") + UInt8(number % 10)
                        number /= 10
                    }
                }
            }
        }
    }

    /// Returns the digits of a user's input. Ignores spaces and hyphens between them.
    package static func read(_ typed: borrowing SecretBytes, groups: Int) throws(RecoveryKeyError) -> SecretBytes {
        let expected = groups * digitsPerGroup
        let counted = typed.withUnsafeBytes { bytes in bytes.count { !isSeparator($0) } }
        guard counted == expected else { throw .wrongLength(digits: counted) }
        let read = try SecretBytes(count: expected) { (target) throws(RecoveryKeyError) in
            try typed.withUnsafeBytes { (bytes) throws(RecoveryKeyError) in
                var place = 0
                for byte in bytes where !isSeparator(byte) {
                    guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { throw .notADigit }
                    target[place] = byte
                    place += 1
                }
            }
        }
        for group in 0..<groups {
            guard number(of: group, in: read) != nil else { throw .typo(group: group + 1) }
        }
        return read
    }

    /// Returns the bytes that read digits encode.
    package static func bytes(of digits: borrowing SecretBytes) -> SecretBytes {
        let groups = digits.count / digitsPerGroup
        return SecretBytes(count: groups * 2) { target in
            for group in 0..<groups {
                let number = number(of: group, in: digits) ?? 0
                target[group * 2] = UInt8(number >> 8)
                target[group * 2 + 1] = UInt8(number & 0xFF)
            }
        }
    }

    /// Returns digits as printed on paper: groups separated by hyphens, with a line end after each line.
    package static func written(_ digits: borrowing SecretBytes, groupsPerLine: Int, indent: Int) -> SecretBytes {
        let groups = digits.count / digitsPerGroup
        let lines = (groups + groupsPerLine - 1) / groupsPerLine
        return SecretBytes(count: groups * (digitsPerGroup + 1) + lines * indent) { target in
            digits.withUnsafeBytes { digits in
                var place = 0
                for group in 0..<groups {
                    if group % groupsPerLine == 0 {
                        for _ in 0..<indent { target[place] = UInt8(ascii: " "); place += 1 }
                    }
                    for digit in 0..<digitsPerGroup { target[place + digit] = digits[group * digitsPerGroup + digit] }
                    let endsLine = (group + 1) % groupsPerLine == 0 || group + 1 == groups
                    target[place + digitsPerGroup] = endsLine ? 0x0A : UInt8(ascii: "-")
                    place += digitsPerGroup + 1
                }
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

/// An error in typed digits, for the user to correct.
package enum RecoveryKeyError: Error, Hashable, Sendable {
    case wrongLength(digits: Int)
    case notADigit
    /// The group, from 1, with the typing error.
    case typo(group: Int)
}

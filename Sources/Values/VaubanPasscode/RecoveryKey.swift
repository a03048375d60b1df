package import VaubanSecretBytes

/// A recovery key: 16 random bytes, written as eight groups of six digits.
package struct RecoveryKey: ~Copyable {
    package static let groups = 8
    package static let digitsPerGroup = CheckedDigits.digitsPerGroup
    package static let keyBytes = 16

    /// The 48 digits without separators, as they are sealed for transit.
    package let digits: SecretBytes

    /// Encodes 16 random bytes as digits.
    package init(random: borrowing SecretBytes) { digits = CheckedDigits.encoded(random) }

    /// Decodes a user's input. Ignores spaces and hyphens between the digits.
    package init(typed: borrowing SecretBytes) throws(RecoveryKeyError) { digits = try CheckedDigits.read(typed, groups: Self.groups) }

    /// Returns the 16 bytes that the digits encode.
    package borrowing func bytes() -> SecretBytes { CheckedDigits.bytes(of: digits) }

    /// Returns the digits as printed on paper.
    package borrowing func written(groupsPerLine: Int, indent: Int) -> SecretBytes {
        CheckedDigits.written(digits, groupsPerLine: groupsPerLine, indent: indent)
    }
}

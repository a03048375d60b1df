internal import Foundation
package import VaubanSecretBytes

/// The plaintext of a value: one byte that distinguishes an item without a value from one with an empty value, then the value, 0x80, and
/// zeros up to a multiple of `KeychainLimits.paddingBytes` (ISO/IEC 7816-4).
package struct PaddedValue: ~Copyable {
    package let bytes: SecretBytes

    package init(hasValue: Bool, _ value: borrowing SecretBytes) {
        let count = hasValue ? value.count : 0
        bytes = value.withUnsafeBytes { value in
            SecretBytes(count: Padding.paddedCount(1 + count)) { target in
                target[0] = hasValue ? 1 : 0
                if count > 0 { UnsafeMutableRawBufferPointer(rebasing: target[1..<1 + count]).copyMemory(from: value) }
                target[1 + count] = Padding.mark
            }
        }
    }

    /// Takes decrypted bytes; nil if they are not a padded value.
    package init?(decrypted: consuming SecretBytes) {
        guard decrypted.withUnsafeBytes({ Self.valueEnd($0) }) != nil else { return nil }
        bytes = decrypted
    }

    package var hasValue: Bool { bytes.withUnsafeBytes { $0.first == 1 } }

    /// Returns the value; empty if there is none.
    package borrowing func value() -> SecretBytes {
        bytes.part(1..<(bytes.withUnsafeBytes { Self.valueEnd($0) } ?? 1))
    }

    /// Returns the end of the value; nil if the bytes are not well formed.
    private static func valueEnd(_ bytes: UnsafeRawBufferPointer) -> Int? {
        guard let end = Padding.end(of: bytes), end >= 1, bytes[0] == 1 || (bytes[0] == 0 && end == 1) else { return nil }
        return end
    }
}

/// The padding alone, also used for attributes.
package enum Padding {
    static let mark: UInt8 = 0x80

    package static func paddedCount(_ count: Int) -> Int {
        (count / KeychainLimits.paddingBytes + 1) * KeychainLimits.paddingBytes
    }

    package static func pad(_ bytes: [UInt8]) -> [UInt8] {
        bytes + [mark] + [UInt8](repeating: 0, count: paddedCount(bytes.count) - bytes.count - 1)
    }

    /// Returns the number of bytes before the padding; nil if the padding is missing or longer than necessary.
    package static func end(of bytes: UnsafeRawBufferPointer) -> Int? {
        guard !bytes.isEmpty, bytes.count % KeychainLimits.paddingBytes == 0 else { return nil }
        guard let last = bytes.lastIndex(where: { $0 != 0 }), bytes[last] == mark, paddedCount(last) == bytes.count else { return nil }
        return last
    }
}

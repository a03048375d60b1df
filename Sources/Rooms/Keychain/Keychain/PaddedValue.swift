internal import Foundation
package import VaubanSecretBytes

/// A value as it is encrypted: one byte that tells an item without a value from one with an empty value, the value, 0x80,
/// and zeros up to a multiple of `KeychainLimits.paddingBytes` (ISO/IEC 7816-4).
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

    /// Takes decrypted bytes; nil when they are no padded value.
    package init?(decrypted: consuming SecretBytes) {
        guard decrypted.withUnsafeBytes({ Self.valueEnd($0) }) != nil else { return nil }
        bytes = decrypted
    }

    package var hasValue: Bool { bytes.withUnsafeBytes { $0.first == 1 } }

    /// The value; empty when there is none.
    package borrowing func value() -> SecretBytes {
        bytes.part(1..<(bytes.withUnsafeBytes { Self.valueEnd($0) } ?? 1))
    }

    /// Where the value ends, if the bytes are well formed.
    private static func valueEnd(_ bytes: UnsafeRawBufferPointer) -> Int? {
        guard let end = Padding.end(of: bytes), end >= 1, bytes[0] == 1 || (bytes[0] == 0 && end == 1) else { return nil }
        return end
    }
}

/// The padding alone, also for attributes.
package enum Padding {
    static let mark: UInt8 = 0x80

    package static func paddedCount(_ count: Int) -> Int {
        (count / KeychainLimits.paddingBytes + 1) * KeychainLimits.paddingBytes
    }

    package static func pad(_ bytes: [UInt8]) -> [UInt8] {
        bytes + [mark] + [UInt8](repeating: 0, count: paddedCount(bytes.count) - bytes.count - 1)
    }

    /// How many bytes stand before the padding; nil when it is not one, or longer than it needs to be.
    package static func end(of bytes: UnsafeRawBufferPointer) -> Int? {
        guard !bytes.isEmpty, bytes.count % KeychainLimits.paddingBytes == 0 else { return nil }
        guard let last = bytes.lastIndex(where: { $0 != 0 }), bytes[last] == mark, paddedCount(last) == bytes.count else { return nil }
        return last
    }
}

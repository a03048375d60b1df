package import VaubanSecretBytes

/// Decodes strings of a document by removing quotes and escapes.
package enum JSONText {
    package static func text(_ bytes: UnsafeRawBufferPointer, _ range: Range<Int>) -> String? {
        var content: [UInt8] = []
        return decode(bytes, in: range) { content.append($0) } ? String(validating: content, as: UTF8.self) : nil
    }

    /// Decodes a string directly into zeroing memory.
    package static func secret(_ bytes: UnsafeRawBufferPointer, _ range: Range<Int>) -> SecretBytes? {
        guard let count = count(bytes, range) else { return nil }
        return SecretBytes(count: count) { target in
            var position = 0
            _ = decode(bytes, in: range) {
                target[position] = $0; position += 1
            }
        }
    }

    /// Returns the number of bytes of the decoded string, or nil if it is not a valid string.
    package static func count(_ bytes: UnsafeRawBufferPointer, _ range: Range<Int>) -> Int? {
        var count = 0
        guard decode(bytes, in: range, into: { _ in count += 1 }) else { return nil }
        var decoder = UTF8()
        var iterator = bytes[range].makeIterator()
        while true {
            switch decoder.decode(&iterator) {
            case .emptyInput: return count
            case .error: return nil
            case .scalarValue: continue
            }
        }
    }

    private static let plain: [UInt8: UInt8] = [
        0x22: 0x22, 0x5C: 0x5C, 0x2F: 0x2F, 0x62: 0x08, 0x66: 0x0C, 0x6E: 0x0A, 0x72: 0x0D, 0x74: 0x09,
    ]

    private static func decode(_ bytes: UnsafeRawBufferPointer, in range: Range<Int>, into put: (UInt8) -> Void) -> Bool {
        var position = range.lowerBound
        while position < range.upperBound {
            guard bytes[position] == 0x5C else { put(bytes[position]); position += 1; continue }
            guard position + 1 < range.upperBound else { return false }
            if let byte = plain[bytes[position + 1]] { put(byte); position += 2; continue }
            guard bytes[position + 1] == UInt8(ascii: "u"), let unit = unit(bytes, at: position, end: range.upperBound) else {
                return false
            }
            position += 6
            var value = UInt32(unit)
            if (0xD800...0xDBFF).contains(unit) {
                guard let low = self.unit(bytes, at: position, end: range.upperBound), (0xDC00...0xDFFF).contains(low) else { return false }
                value = 0x10000 + (UInt32(unit) - 0xD800) << 10 + (UInt32(low) - 0xDC00)
                position += 6
            }
            guard let scalar = Unicode.Scalar(value) else { return false }
            for byte in UTF8.encode(scalar).map(Array.init) ?? [] { put(byte) }
        }
        return true
    }

    /// Returns the value of the four digits of `\uXXXX` at a position.
    private static func unit(_ bytes: UnsafeRawBufferPointer, at position: Int, end: Int) -> UInt16? {
        guard position + 6 <= end, bytes[position] == 0x5C, bytes[position + 1] == UInt8(ascii: "u") else { return nil }
        var unit: UInt16 = 0
        for byte in bytes[(position + 2)..<(position + 6)] {
            guard let digit = Character(Unicode.Scalar(byte)).hexDigitValue else { return nil }
            unit = unit << 4 | UInt16(digit)
        }
        return unit
    }
}

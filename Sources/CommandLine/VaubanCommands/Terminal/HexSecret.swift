package import VaubanRefusal
package import VaubanSecretBytes

/// Secrets as hexadecimal digits, for values that are not text.
package enum HexSecret {
    /// Returns two digits for each byte, without separators.
    package static func digits(of secret: borrowing SecretBytes) -> SecretBytes {
        secret.withUnsafeBytes { bytes in
            SecretBytes(count: bytes.count * 2) { target in
                for (index, byte) in bytes.enumerated() {
                    target[2 * index] = digit(byte >> 4)
                    target[2 * index + 1] = digit(byte & 15)
                }
            }
        }
    }

    /// Decodes digits, and skips spaces and line ends between them.
    package static func bytes(of digits: borrowing SecretBytes) throws(Refusal) -> SecretBytes {
        let count = digits.withUnsafeBytes { bytes in bytes.count { !isSpace($0) } }
        let isGood = digits.withUnsafeBytes { bytes in bytes.allSatisfy { isSpace($0) || value($0) != nil } }
        guard isGood, count % 2 == 0 else { throw Refusal(.badParameter, "The secret is not hexadecimal; use two digits for each byte") }
        return digits.withUnsafeBytes { bytes in
            SecretBytes(count: count / 2) { target in
                var index = 0
                for byte in bytes {
                    guard let half = value(byte) else { continue }
                    target[index / 2] = target[index / 2] << 4 | half
                    index += 1
                }
            }
        }
    }

    private static func digit(_ half: UInt8) -> UInt8 { half < 10 ? 0x30 + half : 0x57 + half }
    private static func isSpace(_ byte: UInt8) -> Bool { [0x20, 0x09, 0x0A, 0x0D].contains(byte) }

    private static func value(_ byte: UInt8) -> UInt8? {
        switch byte {
        case 0x30...0x39: byte - 0x30
        case 0x41...0x46: byte - 0x37
        case 0x61...0x66: byte - 0x57
        default: nil
        }
    }
}

extension SecretBytes {
    /// Whether a terminal displays these bytes as text without interpreting them: UTF-8 without control characters except tabs and line
    /// ends, also those of Windows.
    borrowing func isTextForTerminal() -> Bool {
        isUTF8 { scalar, next in
            scalar == "\n" || scalar == "\t" || (scalar == "\r" && next == 0x0A) || scalar.properties.generalCategory != .control
        }
    }

    /// Whether these bytes are UTF-8 of which each character is allowed. The check makes no copy.
    ///
    /// - Parameter isAllowed: Receives a character and the byte after it.
    borrowing func isUTF8(_ isAllowed: (Unicode.Scalar, _ next: UInt8?) -> Bool = { _, _ in true }) -> Bool {
        withUnsafeBytes { bytes in
            var decoder = UTF8()
            var iterator = bytes.makeIterator()
            var position = 0
            while true {
                switch decoder.decode(&iterator) {
                case .emptyInput: return true
                case .error: return false
                case .scalarValue(let scalar):
                    position += UTF8.width(scalar)
                    guard isAllowed(scalar, position < bytes.count ? bytes[position] : nil) else { return false }
                }
            }
        }
    }
}

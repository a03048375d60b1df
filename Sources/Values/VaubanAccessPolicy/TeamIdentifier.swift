// The name of a team of developers (Specs/code-signing.md).

/// A team identifier: the first 160 bits of SHA-256 of the team's public key, in base32 of RFC 4648. It cannot be chosen freely.
package struct TeamIdentifier: Hashable, Sendable, CustomStringConvertible {
    package static let length = 32
    /// 32 capital letters and digits.
    package let text: String

    /// Returns nil unless the text has the form of a team identifier.
    package init?(text: String) {
        guard text.utf8.count == Self.length,
            text.utf8.allSatisfy({ (0x41...0x5A).contains($0) || (0x32...0x37).contains($0) })
        else { return nil }
        self.text = text
    }

    /// Creates the identifier of a key from SHA-256 of its SubjectPublicKeyInfo, 32 bytes.
    package init(keyDigest: [UInt8]) {
        var (text, bits, bitCount): (String, UInt32, Int) = ("", 0, 0)
        for byte in keyDigest.prefix(Self.length * 5 / 8) {
            bits = (bits << 8 | UInt32(byte)) & 0xFFF
            bitCount += 8
            while bitCount >= 5 {
                bitCount -= 5
                let digit = UInt8(bits >> UInt32(bitCount) & 31)
                text.unicodeScalars.append(Unicode.Scalar(digit < 26 ? 0x41 + digit : 0x32 + digit - 26))
            }
        }
        self.text = text
    }

    package var description: String { text }

    /// The prefix of every access group of the team.
    package var prefix: String { "\(text)." }
}

/// The name of an application in an association file: a team's identifier, a dot and the bundle's (`9JA89QQLNQ.com.example.app`).
package enum ApplicationName {
    package static let bytesMax = 255

    /// Returns whether a text is such a name: ASCII letters, digits, hyphens and at least one dot, with something beside each dot.
    package static func isWellFormed(_ text: String) -> Bool {
        let bytes = text.utf8
        guard (3...bytesMax).contains(bytes.count) else { return false }
        let parts = bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        return parts.count >= 2 && parts.allSatisfy { part in !part.isEmpty && part.allSatisfy(isSign) }
    }

    private static func isSign(_ byte: UInt8) -> Bool {
        (0x61...0x7A).contains(byte) || (0x41...0x5A).contains(byte) || (0x30...0x39).contains(byte) || byte == UInt8(ascii: "-")
    }
}

/// The valid sections and names of a carrier, whatever they are used for (Specs/sync.md, "The carrier").
package enum CarrierGrammar {
    /// The most bytes in a file.
    package static let fileBytesMax = 9 << 20
    /// The most bytes in a section, and in a name.
    package static let sectionBytesMax = 100
    package static let nameBytesMax = 64
    /// The most bytes in a message: a file and the fields before it.
    package static let messageBytesMax = fileBytesMax + 1024

    /// Whether a text is a section: up to three parts of lowercase letters and digits, with slashes between them.
    package static func isSection(_ text: String) -> Bool {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        return (1...3).contains(parts.count) && text.utf8.count <= sectionBytesMax
            && parts.allSatisfy { !$0.isEmpty && $0.utf8.allSatisfy(isLetterOrDigit) }
    }

    /// Whether a text is a name: lowercase letters, digits, and dots that do not come first.
    package static func isName(_ text: some StringProtocol) -> Bool {
        (1...nameBytesMax).contains(text.utf8.count) && text.utf8.first != UInt8(ascii: ".")
            && text.utf8.allSatisfy { isLetterOrDigit($0) || $0 == UInt8(ascii: ".") }
    }

    private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }
}

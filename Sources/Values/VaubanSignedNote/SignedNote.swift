import FoundationEssentials
import VaubanLogHead

/// A text with signatures, as C2SP's signed-note defines it.
package struct SignedNote: Hashable, Sendable {
    package static let signaturesMax = 16

    /// A line `— NAME BASE64` below the text.
    package struct Signature: Hashable, Sendable {
        package let name: String
        /// The first bytes of a hash of the name and the key, by which the key is found.
        package let key: [UInt8]
        package let bytes: [UInt8]

        package init(name: String, key: [UInt8], bytes: [UInt8]) {
            self.name = name
            self.key = key
            self.bytes = bytes
        }

        fileprivate init?(line: Substring) {
            let words = line.split(separator: " ", omittingEmptySubsequences: false)
            guard words.count == 3, words[0] == "\u{2014}", NoteKey.isName(words[1]), let bytes = Data(base64Encoded: String(words[2])),
                bytes.count > NoteKey.identifierBytes, bytes.base64EncodedString() == words[2]
            else { return nil }
            self.init(
                name: String(words[1]), key: Array(bytes.prefix(NoteKey.identifierBytes)),
                bytes: Array(bytes.dropFirst(NoteKey.identifierBytes)))
        }

        fileprivate var line: String { "\u{2014} \(name) \(Data(key + bytes).base64EncodedString())\n" }
    }

    /// The signed text, including its final newline.
    package let text: String
    package var signatures: [Signature]

    package init(text: String, signatures: [Signature]) {
        self.text = text
        self.signatures = signatures
    }

    /// Reads a note. Returns nil if it has another form, no signature, or is too long.
    package init?(_ bytes: [UInt8]) {
        guard bytes.count <= LogHeadLimits.noteBytesMax, bytes.last == 0x0A, bytes.allSatisfy({ $0 >= 0x20 || $0 == 0x0A }),
            let all = String(validating: bytes, as: UTF8.self)
        else { return nil }
        let lines = all.dropLast().split(separator: "\n", omittingEmptySubsequences: false)
        guard let blank = lines.lastIndex(where: \.isEmpty), blank > 0 else { return nil }
        let below = lines[(blank + 1)...]
        let signatures = below.compactMap { Signature(line: $0) }
        guard (1...Self.signaturesMax).contains(below.count), signatures.count == below.count else { return nil }
        self.init(text: lines[..<blank].joined(separator: "\n") + "\n", signatures: signatures)
    }

    package var bytes: [UInt8] { Array((text + "\n" + signatures.map(\.line).joined()).utf8) }

    /// The text as a head; nil if it is not one.
    package var head: LogHead? { LogHead(text: text) }
}

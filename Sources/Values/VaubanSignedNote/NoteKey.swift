internal import Crypto
import FoundationEssentials

/// A public key that verifies signatures of notes, as C2SP's signed-note and tlog-cosignature define it.
package struct NoteKey: Hashable, Sendable {
    package enum Kind: UInt8, Hashable, Sendable {
        /// The text alone.
        case text = 1
        /// The text with the time at which it was seen.
        case cosignature = 4
    }

    static let identifierBytes = 4
    package static let publicKeyBytes = 32
    private static let signatureBytes = 64
    private static let timeBytes = 8

    package let name: String
    package let kind: Kind
    package let publicKey: [UInt8]

    package init(name: String, kind: Kind, publicKey: [UInt8]) {
        self.name = name
        self.kind = kind
        self.publicKey = publicKey
    }

    /// Parses a key in the form of `text`.
    package init?(text: String) {
        let parts = text.split(separator: "+", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, Self.isName(parts[0]), let bytes = Data(base64Encoded: String(parts[2])),
            bytes.count == 1 + Self.publicKeyBytes, let kind = bytes.first.flatMap({ Kind(rawValue: $0) })
        else { return nil }
        self.init(name: String(parts[0]), kind: kind, publicKey: Array(bytes.dropFirst()))
        guard self.text.utf8.elementsEqual(text.utf8) else { return nil }
    }

    /// `NAME+IDENTIFIER+BASE64`, the form that programs that verify notes accept.
    package var text: String {
        let digits = identifier.map { byte in String(byte >> 4, radix: 16) + String(byte & 15, radix: 16) }.joined()
        return "\(name)+\(digits)+\(Data([kind.rawValue] + publicKey).base64EncodedString())"
    }

    package var identifier: [UInt8] {
        Array(SHA256.hash(data: Array(name.utf8) + [0x0A, kind.rawValue] + publicKey).prefix(Self.identifierBytes))
    }

    static func isName(_ name: Substring) -> Bool {
        !name.isEmpty && name.unicodeScalars.allSatisfy { !$0.properties.isWhitespace && $0.value >= 0x20 && $0 != "+" }
    }

    // MARK: Signing

    /// Returns the bytes that a cosignature at this time, in seconds since 1970, covers.
    package static func cosigned(_ text: String, at time: Int64) -> [UInt8] { Array("cosignature/v1\ntime \(time)\n\(text)".utf8) }

    /// Returns the signature of this key's owner as a line.
    /// - Parameter time: When it was made, for a cosignature.
    package func signature(_ bytes: [UInt8], at time: Int64 = 0) -> SignedNote.Signature {
        let stamp = kind == .cosignature ? withUnsafeBytes(of: time.bigEndian) { Array($0) } : []
        return SignedNote.Signature(name: name, key: identifier, bytes: stamp + bytes)
    }

    // MARK: Verifying

    /// Returns whether the note has a valid signature by this key, and no other line in its name.
    package func verifies(_ note: SignedNote) -> Bool { kind == .text && verified(in: note) != nil }

    /// Returns the time of the cosignature by this key, in seconds since 1970; nil if there is none that is valid.
    package func cosignatureTime(in note: SignedNote) -> Int64? { kind == .cosignature ? verified(in: note) : nil }

    private func verified(in note: SignedNote) -> Int64? {
        let own = note.signatures.filter { $0.name == name && $0.key == identifier }
        guard own.count == 1, let bytes = own.first?.bytes,
            let key = try? Curve25519.Signing.PublicKey(rawRepresentation: publicKey)
        else { return nil }
        let stamp = kind == .cosignature ? Self.timeBytes : 0
        guard bytes.count == stamp + Self.signatureBytes, bytes.first.map({ stamp == 0 || $0 < 0x80 }) ?? false else { return nil }
        let time = bytes.prefix(stamp).reduce(Int64(0)) { $0 << 8 | Int64($1) }
        let signed = kind == .cosignature ? Self.cosigned(note.text, at: time) : Array(note.text.utf8)
        return key.isValidSignature(bytes.dropFirst(stamp), for: signed) ? time : nil
    }
}

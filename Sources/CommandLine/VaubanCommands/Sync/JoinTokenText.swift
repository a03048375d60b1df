import Crypto
package import VaubanRefusal
package import VaubanSecretBytes
package import VaubanSyncModel

/// A token of `vauban sync token` as text, one line (Specs/sync.md, "Joining by a token").
package struct JoinTokenText: ~Copyable {
    private static let family = "VAUBAN JOIN TOKEN "
    private static let heading = "VAUBAN JOIN TOKEN 1 "
    private static let bytesMax = 4096
    private static let space = UInt8(ascii: " ")
    /// The length of the seed in base64.
    private static let seedSigns = 44

    package let content: JoinToken
    package let encoded: [UInt8]
    package let seed: SecretBytes

    package init(_ encoded: [UInt8], seed: consuming SecretBytes) throws(Refusal) {
        let content = try JoinToken.decoded(encoded)
        let key = try? seed.withUnsafeBytes { try Curve25519.Signing.PrivateKey(rawRepresentation: $0) }
        guard let key, Array(key.publicKey.rawRepresentation) == content.verification else { throw JoinToken.damaged }
        self.content = content
        self.encoded = encoded
        self.seed = seed
    }

    /// Parses a line. A newline at its end is ignored.
    package init(parsing text: borrowing SecretBytes) throws(Refusal) {
        let count = text.withUnsafeBytes { $0.count - ($0.last == UInt8(ascii: "\n") ? 1 : 0) }
        guard text.withUnsafeBytes({ $0.starts(with: Array(Self.family.utf8)) }) else {
            throw Refusal(
                .badParameter, "This is not a join token; to make one, run on a member of the circle: vauban sync token NAME")
        }
        guard text.withUnsafeBytes({ $0.starts(with: Array(Self.heading.utf8)) }) else { throw JoinToken.newer }
        let (start, end) = (Self.heading.utf8.count, count - Self.seedSigns - 1)
        guard start < end, text.withUnsafeBytes({ $0[end] }) == Self.space,
            let seed = SecretBase64.bytes(of: text.part(end + 1..<count)), seed.count == JoinToken.seedBytes,
            let encoded = SecretBase64.bytes(of: text.part(start..<end))
        else { throw JoinToken.damaged }
        try self.init(encoded.withUnsafeBytes { Array($0) }, seed: seed)
    }

    /// Reads a token from a file, or from standard input (`-`).
    static func read(_ path: String) throws(Refusal) -> JoinTokenText {
        try JoinTokenText(parsing: try InputFile.read(path, max: bytesMax))
    }

    /// Returns the token as a line, including the newline.
    package func text() -> SecretBytes {
        let head = Array(Self.heading.utf8)
        let digits = SecretBase64.text(of: SecretBytes(copying: encoded))
        let secret = SecretBase64.text(of: seed)
        return digits.withUnsafeBytes { digits in
            secret.withUnsafeBytes { secret in
                SecretBytes(count: head.count + digits.count + secret.count + 2) { target in
                    var place = 0
                    func append(_ bytes: some Collection<UInt8>) {
                        UnsafeMutableRawBufferPointer(rebasing: target[place...]).copyBytes(from: bytes)
                        place += bytes.count
                    }
                    append(head)
                    append(digits)
                    append(CollectionOfOne(Self.space))
                    append(secret)
                    append(CollectionOfOne(UInt8(ascii: "\n")))
                }
            }
        }
    }
}

internal import Crypto
internal import FuzzFinding
internal import VaubanAccessPolicy
internal import VaubanCodeSigning
internal import VaubanDER

/// A fuzzer of the reader of signed executables. The input is the beginning of a signature area. Reading either reports damage or yields a
/// value that encodes to the same bytes, with the same result in whatever pieces the file is read.
package enum CodeFuzzing {
    private static let content = Array("\u{7F}ELF and what follows".utf8)
    private static let mark = Array("vauban signed 1\n".utf8)

    /// Returns the first inputs: a signature, and one with every field.
    package static func seeds() throws -> [[UInt8]] {
        let key = P256.Signing.PrivateKey()
        return try [nil, Array("<plist version=\"1.0\"><dict/></plist>".utf8)].map { list in
            try signed(
                try CodeDescription(
                    identifier: "com.acme.tool", size: Int64(content.count), digest: Array(SHA256.hash(data: content)), signed: 1,
                    expires: list == nil ? nil : 2, entitlements: list
                ).encoded(), by: key
            ).encoded()
        }
    }

    /// Returns whether the input is a signature that can be decoded.
    @discardableResult package static func run(_ input: [UInt8]) throws -> Bool {
        let end = SignatureArea.bytes - mark.count - 4
        let code = Array(input.prefix(end))
        let length = withUnsafeBytes(of: UInt32(code.count).bigEndian) { [UInt8]($0) }
        let area = code + [UInt8](repeating: 0, count: end - code.count) + length + mark
        let file = content + area
        let findings = read(file, by: file.count)
        try require(findings != nil && findings == read(file, by: Int(input.first ?? 0) * 64 + 1), "it depends on how the file comes")
        guard let findings else { return false }
        try require(findings.digest == Array(SHA256.hash(data: file)), "it has another digest")
        try require(findings.contentDigest == Array(SHA256.hash(data: content)), "its content has another digest")
        if case .valid(let description, _) = findings.signature {
            try require(description.digest == findings.contentDigest, "a signature of another content is valid")
        }
        guard let found = findings.code else {
            try require(findings.signature == .damaged(.malformed), "it has no signature, and no reason")
            // The same bytes as a description whose signature is valid: only its form can be wrong.
            if !code.isEmpty, code.count <= SignedCode.descriptionBytesMax { try checkDescription(code) }
            return false
        }
        try require(try SignatureArea.encode(found) == area, "it encodes to another area")
        try checkDescription(found.description)
        return true
    }

    private static func checkDescription(_ bytes: [UInt8]) throws {
        let description = try? CodeDescription(derBytes: bytes)
        if let description { try require(try description.encoded() == bytes, "a description encodes to other bytes") }
        let verified = try? signed(bytes, by: P256.Signing.PrivateKey()).verifiedDescription()
        try require(verified == description, "a valid signature has another description than is in it")
    }

    private static func signed(_ description: [UInt8], by key: P256.Signing.PrivateKey) throws -> SignedCode {
        let signature = try key.signature(for: SignedCode.message(for: description))
        return SignedCode(
            key: Array(key.publicKey.derRepresentation), description: description, signature: Array(signature.derRepresentation))
    }

    private static func read(_ file: [UInt8], by count: Int) -> CodeFindings? {
        var reader = CodeReader(size: Int64(file.count))
        for start in stride(from: 0, to: file.count, by: count) {
            file[start..<min(start + count, file.count)].withUnsafeBytes { reader.read($0) }
        }
        return reader.findings()
    }
}

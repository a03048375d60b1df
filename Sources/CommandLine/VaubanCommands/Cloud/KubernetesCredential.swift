import VaubanJSON
import VaubanRefusal
import VaubanSecretBytes
import VaubanSecretText

/// An item's value in the form that kubectl expects: a client certificate with its private key if the value is PEM that contains both,
/// otherwise a one-line bearer token.
enum KubernetesCredential {
    /// Writes an ExecCredential to standard output.
    static func write(_ secret: borrowing SecretBytes, version: String) throws {
        let answer = SecretJSON()
        answer.add("apiVersion", version)
        answer.add("kind", "ExecCredential")
        let blocks = try secret.withUnsafeBytes { try PEMBlock.all(in: $0) }
        try answer.add("status") { status in
            if blocks.isEmpty { return try status.add("token", secret: token(secret)) }
            let keys = blocks.filter(\.isPrivateKey)
            let certificates = blocks.filter { $0.label == "CERTIFICATE" }
            guard keys.count == 1, !certificates.isEmpty else {
                throw Refusal(.badParameter, "The item's PEM must contain one private key and its certificate")
            }
            try status.add("clientCertificateData", secret: part(certificates, of: secret))
            try status.add("clientKeyData", secret: part(keys, of: secret))
        }
        try answer.write()
    }

    /// Returns the token without a newline at its end. It becomes part of an HTTP header, so it must be printable ASCII.
    private static func token(_ secret: borrowing SecretBytes) throws(Refusal) -> SecretBytes {
        let count = secret.withUnsafeBytes { bytes in bytes.last == 0x0A ? bytes.count - 1 : bytes.count }
        let isToken = secret.withUnsafeBytes { bytes in count > 0 && bytes[..<count].allSatisfy { (0x21...0x7E).contains($0) } }
        guard isToken else {
            throw Refusal(.badParameter, "The item's secret is neither a token without spaces nor PEM with a certificate and its key")
        }
        return secret.part(0..<count)
    }

    private static func part(_ blocks: [PEMBlock], of secret: borrowing SecretBytes) -> SecretBytes {
        let text = SecretBuilder()
        for block in blocks {
            text.append(secret.part(block.range))
            text.append("\n")
        }
        return text.kept.secret.duplicate()
    }
}

/// The range of a PEM block (RFC 7468), from its first hyphen to its last.
private struct PEMBlock {
    let label: String
    let range: Range<Int>

    var isPrivateKey: Bool { label == "PRIVATE KEY" || label.hasSuffix(" PRIVATE KEY") }

    private static let labelBytesMax = 64
    private static let blocksMax = 32

    static func all(in bytes: UnsafeRawBufferPointer) throws(Refusal) -> [PEMBlock] {
        var blocks: [PEMBlock] = []
        var position = 0
        while let start = find("-----BEGIN ", in: bytes, from: position) {
            let labelStart = start + 11
            guard let labelEnd = find("-----", in: bytes, from: labelStart), labelEnd - labelStart <= labelBytesMax,
                let label = String(validating: bytes[labelStart..<labelEnd], as: UTF8.self),
                let end = find("-----END \(label)-----", in: bytes, from: labelEnd)
            else { throw Refusal(.badParameter, "The item's PEM is malformed; store it again with vauban set") }
            position = end + 14 + label.utf8.count
            blocks.append(PEMBlock(label: label, range: start..<position))
            guard blocks.count <= blocksMax else { throw Refusal(.dataTooLarge, "The item's PEM has more than \(blocksMax) blocks") }
        }
        return blocks
    }

    private static func find(_ text: String, in bytes: UnsafeRawBufferPointer, from start: Int) -> Int? {
        let wanted = Array(text.utf8)
        guard start + wanted.count <= bytes.count else { return nil }
        return (start...(bytes.count - wanted.count)).first { bytes[$0...].starts(with: wanted) }
    }
}

/// A certificate for a public key (OpenSSH's PROTOCOL.certkeys). Whether its authority is trusted is for servers to decide.
package struct SSHCertificate: Hashable, Sendable {
    package let blob: [UInt8]
    /// The key that is certified.
    package let publicKey: SSHPublicKey
    /// Whether it certifies a user, and not a server.
    package let isOfUser: Bool
    /// The name that the authority assigned.
    package let keyID: String
    /// The end of its validity in seconds since 1970; nil if it never expires.
    package let validBefore: UInt64?

    /// Decodes a whole certificate.
    package init(blob: [UInt8]) throws(SSHError) {
        self.blob = blob
        (publicKey, isOfUser, keyID, validBefore) = try SSHReader.read(blob) { reader throws(SSHError) in try Self.read(&reader) }
    }

    private static func read(_ reader: inout SSHReader) throws(SSHError) -> (SSHPublicKey, Bool, String, UInt64?) {
        let name = try reader.text()
        guard name.hasSuffix(SSHKeyType.certificateEnding),
            let type = SSHKeyType(rawValue: String(name.dropLast(SSHKeyType.certificateEnding.count)))
        else { throw SSHError("this is not a certificate of a supported type") }
        // The nonce.
        _ = try reader.string()
        let key = SSHPublicKey(type, try SSHPublicKey.body(type, &reader))
        // The serial number.
        _ = try long(&reader)
        let kind = try reader.number()
        guard (1...2).contains(kind) else { throw SSHError("the kind of a certificate is unknown") }
        let keyID = try reader.text()
        // The names for which it is valid, and the start of its validity.
        _ = try reader.string()
        _ = try long(&reader)
        let validBefore = try long(&reader)
        // Critical options, extensions, a reserved string, the authority's key and its signature.
        for _ in 0..<5 { _ = try reader.string() }
        try reader.end()
        return (key, kind == 1, keyID, validBefore == .max ? nil : validBefore)
    }

    private static func long(_ reader: inout SSHReader) throws(SSHError) -> UInt64 {
        UInt64(try reader.number()) << 32 | UInt64(try reader.number())
    }
}

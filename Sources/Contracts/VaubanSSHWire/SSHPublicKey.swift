// Public keys in SSH's encoding: RFC 4253 section 6.6, RFC 5656, RFC 8709; certificates: OpenSSH's PROTOCOL.certkeys.

/// The key types that the agent supports.
package enum SSHKeyType: String, CaseIterable, Sendable {
    case ed25519 = "ssh-ed25519"
    case p256 = "ecdsa-sha2-nistp256"
    case p384 = "ecdsa-sha2-nistp384"
    case p521 = "ecdsa-sha2-nistp521"
    case rsa = "ssh-rsa"

    static let certificateEnding = "-cert-v01@openssh.com"

    /// The curve's name within a key, and the length of a point.
    package var curve: (name: String, pointBytes: Int)? {
        switch self {
        case .p256: ("nistp256", 65)
        case .p384: ("nistp384", 97)
        case .p521: ("nistp521", 133)
        case .ed25519, .rsa: nil
        }
    }
}

/// A public key. Two keys are equal if their bytes are.
package struct SSHPublicKey: Hashable, Sendable {
    package enum Body: Hashable, Sendable {
        case ed25519([UInt8])
        /// X9.63, uncompressed.
        case point([UInt8])
        case rsa(exponent: [UInt8], modulus: [UInt8])
    }

    package let type: SSHKeyType
    package let body: Body
    /// The accepted sizes of an RSA modulus, in bytes.
    package static let modulusBytes = 256...2048

    package init(_ type: SSHKeyType, _ body: Body) {
        self.type = type
        self.body = body
    }

    /// The public half of an enclave key.
    package init(p256 point: [UInt8]) { self.init(.p256, .point(point)) }

    /// Decodes a key, or the key within a certificate.
    package init(blob: [UInt8]) throws(SSHError) {
        (type, body) = try SSHReader.read(blob) { reader throws(SSHError) in try Self.read(&reader) }
    }

    private static func read(_ reader: inout SSHReader) throws(SSHError) -> (SSHKeyType, Body) {
        let name = try reader.text()
        if let type = SSHKeyType(rawValue: name) {
            let body = try body(type, &reader)
            try reader.end()
            return (type, body)
        }
        guard name.hasSuffix(SSHKeyType.certificateEnding),
            let type = SSHKeyType(rawValue: String(name.dropLast(SSHKeyType.certificateEnding.count)))
        else { throw SSHError("the key type is unknown") }
        // A nonce precedes the key. The caller reads what follows.
        _ = try reader.string()
        return (type, try body(type, &reader))
    }

    static func body(_ type: SSHKeyType, _ reader: inout SSHReader) throws(SSHError) -> Body {
        switch type {
        case .ed25519:
            let key = try reader.octets()
            guard key.count == 32 else { throw SSHError("an Ed25519 key has the wrong length") }
            return .ed25519(key)
        case .p256, .p384, .p521:
            guard let curve = type.curve, try reader.text() == curve.name else { throw SSHError("the key's curve does not match its type") }
            let point = try reader.octets()
            guard point.count == curve.pointBytes, point.first == 4 else { throw SSHError("a point is not in uncompressed form") }
            return .point(point)
        case .rsa:
            let exponent = [UInt8](try reader.magnitude())
            let modulus = [UInt8](try reader.magnitude())
            guard modulusBytes.contains(modulus.count), (1...8).contains(exponent.count) else {
                throw SSHError("the size of an RSA key is not supported")
            }
            return .rsa(exponent: exponent, modulus: modulus)
        }
    }

    package var blob: [UInt8] {
        SSHWriter.of { writer in
            writer.text(type.rawValue)
            switch body {
            case .ed25519(let key): writer.string(key)
            case .point(let point):
                writer.text(type.curve?.name ?? "")
                writer.string(point)
            case .rsa(let exponent, let modulus):
                writer.magnitude(exponent)
                writer.magnitude(modulus)
            }
        }
    }

    /// Returns whether the bytes are a certificate of this key, also of a type that only another agent supports: after a nonce, a
    /// certificate has the key's own fields.
    package static func isCertificate(_ blob: [UInt8], of key: [UInt8]) -> Bool {
        func parts(_ blob: [UInt8], hasNonce: Bool) -> (type: String, fields: [UInt8])? {
            try? SSHReader.read(blob) { reader throws(SSHError) in
                let type = try reader.text()
                if hasNonce { _ = try reader.string() }
                return (type, [UInt8](reader.rest()))
            }
        }
        guard isCertificate(blob), let certificate = parts(blob, hasNonce: true), let key = parts(key, hasNonce: false) else {
            return false
        }
        let plain = key.type.split(separator: "@", maxSplits: 1).first ?? ""
        return certificate.type == plain + SSHKeyType.certificateEnding && certificate.fields.starts(with: key.fields)
    }

    /// Returns whether the bytes claim to be a certificate.
    package static func isCertificate(_ blob: [UInt8]) -> Bool {
        let name = try? SSHReader.read(blob) { reader throws(SSHError) in try reader.text() }
        return name?.hasSuffix(SSHKeyType.certificateEnding) ?? false
    }
}

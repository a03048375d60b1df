// A private key as `ssh-add` sends it: draft-ietf-sshm-ssh-agent section 3.2, OpenSSH's PROTOCOL.certkeys for certificates.

package import VaubanSecretBytes

/// A private key being added to the agent. The private fields are one secret: the message's own bytes from the key type to the end, which
/// are also the value of a key item (Specs/ssh-agent.md).
package final class SSHAddedKey: Sendable {
    package let publicKey: SSHPublicKey
    /// The certificate that was sent with it.
    package let certificate: [UInt8]?
    package let fields: SecretBytes
    package let comment: String
    package let constraints: SSHConstraints

    init(_ reader: inout SSHReader, hasConstraints: Bool) throws(SSHError) {
        let name = try reader.text()
        if let type = SSHKeyType(rawValue: name) {
            let key = try SSHPrivateFields(type, &reader)
            (publicKey, certificate) = (key.publicKey, nil)
            fields = key.encoded()
        } else {
            guard name.hasSuffix(SSHKeyType.certificateEnding) else { throw SSHError("the key type is unknown") }
            let blob = try reader.octets()
            publicKey = try SSHPublicKey(blob: blob)
            guard publicKey.type.rawValue + SSHKeyType.certificateEnding == name, SSHPublicKey.isCertificate(blob) else {
                throw SSHError("the certificate and its key have different types")
            }
            certificate = blob
            fields = try SSHPrivateFields(of: publicKey, besideCertificate: &reader).encoded()
        }
        comment = try reader.text()
        constraints = hasConstraints ? try SSHConstraints(&reader) : SSHConstraints()
    }
}

/// The private key within its fields. The parts point into the bytes being read.
package struct SSHPrivateFields {
    package enum Parts {
        /// The seed.
        case ed25519(UnsafeRawBufferPointer)
        /// The private number, without leading zeros.
        case elliptic(UnsafeRawBufferPointer)
        case rsa(exponent: UnsafeRawBufferPointer, inverse: UnsafeRawBufferPointer, p: UnsafeRawBufferPointer, q: UnsafeRawBufferPointer)
    }

    package let publicKey: SSHPublicKey
    package let parts: Parts

    /// Reads a whole key: an item's value.
    package init(_ bytes: UnsafeRawBufferPointer) throws(SSHError) {
        var reader = SSHReader(bytes)
        guard let type = SSHKeyType(rawValue: try reader.text()) else { throw SSHError("the key type is unknown") }
        try self.init(type, &reader)
        try reader.end()
    }

    init(_ type: SSHKeyType, _ reader: inout SSHReader) throws(SSHError) {
        switch type {
        case .ed25519:
            let point = try reader.octets()
            guard point.count == 32 else { throw SSHError("an Ed25519 key has the wrong length") }
            publicKey = SSHPublicKey(.ed25519, .ed25519(point))
            parts = .ed25519(try Self.seed(try reader.string(), of: point))
        case .p256, .p384, .p521:
            guard let curve = type.curve, try reader.text() == curve.name else { throw SSHError("the key's curve does not match its type") }
            let point = try reader.octets()
            guard point.count == curve.pointBytes, point.first == 4 else { throw SSHError("a point is not in uncompressed form") }
            publicKey = SSHPublicKey(type, .point(point))
            parts = .elliptic(try reader.magnitude())
        case .rsa:
            let modulus = [UInt8](try reader.magnitude())
            let exponent = [UInt8](try reader.magnitude())
            // Decode through the public form, which checks the sizes.
            publicKey = try SSHPublicKey(blob: SSHPublicKey(.rsa, .rsa(exponent: exponent, modulus: modulus)).blob)
            parts = .rsa(
                exponent: try reader.magnitude(), inverse: try reader.magnitude(), p: try reader.magnitude(), q: try reader.magnitude())
        }
    }

    /// Reads what follows a certificate, which already has the public half.
    init(of publicKey: SSHPublicKey, besideCertificate reader: inout SSHReader) throws(SSHError) {
        self.publicKey = publicKey
        switch publicKey.body {
        case .ed25519(let point):
            guard try reader.octets() == point else { throw SSHError("the certificate belongs to another key") }
            parts = .ed25519(try Self.seed(try reader.string(), of: point))
        case .point: parts = .elliptic(try reader.magnitude())
        case .rsa:
            parts = .rsa(
                exponent: try reader.magnitude(), inverse: try reader.magnitude(), p: try reader.magnitude(), q: try reader.magnitude())
        }
    }

    private static func seed(_ pair: UnsafeRawBufferPointer, of point: [UInt8]) throws(SSHError) -> UnsafeRawBufferPointer {
        guard pair.count == 64, pair[32...].elementsEqual(point) else { throw SSHError("an Ed25519 key has another public half") }
        return UnsafeRawBufferPointer(rebasing: pair[..<32])
    }

    /// Returns the key as an item stores it: its fields as in the add message, from the type on.
    func encoded() -> SecretBytes {
        var strings = SecretStrings()
        strings.add(Array(publicKey.type.rawValue.utf8))
        switch (publicKey.body, parts) {
        case (.ed25519(let point), .ed25519(let seed)):
            strings.add(point)
            strings.add(seed, point)
        case (.point(let point), .elliptic(let number)):
            strings.add(Array((publicKey.type.curve?.name ?? "").utf8))
            strings.add(point)
            strings.addMagnitude(number)
        case (.rsa(let exponent, let modulus), .rsa(let secret, let inverse, let p, let q)):
            modulus.withUnsafeBytes { strings.addMagnitude($0, isLent: false) }
            exponent.withUnsafeBytes { strings.addMagnitude($0, isLent: false) }
            for number in [secret, inverse, p, q] { strings.addMagnitude(number) }
        default: break
        }
        return strings.joined()
    }
}

/// A sequence of strings, some of them secret, written once into a secret.
private struct SecretStrings {
    private enum Piece {
        case known([UInt8])
        case lent(UnsafeRawBufferPointer)

        var count: Int {
            switch self {
            case .known(let bytes): bytes.count
            case .lent(let bytes): bytes.count
            }
        }
    }

    private var pieces: [Piece] = []

    private static func length(_ count: Int) -> Piece { .known(withUnsafeBytes(of: UInt32(count).bigEndian) { Array($0) }) }

    mutating func add(_ bytes: [UInt8]) { pieces += [Self.length(bytes.count), .known(bytes)] }

    mutating func add(_ secret: UnsafeRawBufferPointer, _ rest: [UInt8]) {
        pieces += [Self.length(secret.count + rest.count), .lent(secret), .known(rest)]
    }

    /// Adds a nonnegative number from its shortest bytes.
    mutating func addMagnitude(_ number: UnsafeRawBufferPointer, isLent: Bool = true) {
        let sign: [UInt8] = (number.first ?? 0) & 0x80 == 0 ? [] : [0]
        pieces += [Self.length(number.count + sign.count), .known(sign), isLent ? .lent(number) : .known([UInt8](number))]
    }

    func joined() -> SecretBytes {
        SecretBytes(count: pieces.reduce(0) { $0 + $1.count }) { target in
            var offset = 0
            for piece in pieces where piece.count > 0 {
                let place = UnsafeMutableRawBufferPointer(rebasing: target[offset..<offset + piece.count])
                switch piece {
                case .known(let bytes): place.copyBytes(from: bytes)
                case .lent(let bytes): place.copyMemory(from: bytes)
                }
                offset += piece.count
            }
        }
    }
}

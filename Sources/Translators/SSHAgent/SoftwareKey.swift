// Signs with an imported or added key. The key is parsed for each signature.

import FoundationEssentials
internal import Crypto
internal import CryptoExtras
internal import VaubanRefusal
internal import VaubanSSHWire
internal import VaubanSecretBytes

enum SoftwareKey {
    /// Returns whether the key's signature verifies with its public half. A failure reveals damage to either of them, or tampering.
    static func fits(_ fields: borrowing SecretBytes, _ publicKey: SSHPublicKey) -> Bool {
        let data = Array("vauban ssh-agent".utf8)
        guard let signature = try? signature(of: data, with: fields, of: publicKey, flags: 4) else { return false }
        return SignatureCheck.isValid(signature, of: data, by: publicKey)
    }

    /// Returns the signature with its algorithm (RFC 4253 section 6.6). `flags` selects the digest for an RSA key: 2 or 4. Refuses SHA-1,
    /// which is obsolete, and throws `keyDamaged` if the key does not match its public half.
    static func signature(
        of data: [UInt8], with fields: borrowing SecretBytes, of publicKey: SSHPublicKey, flags: UInt32
    ) throws -> [UInt8] {
        try fields.withUnsafeBytes { bytes throws(any Error) in
            let key = try SSHPrivateFields(bytes)
            guard key.publicKey == publicKey else { throw Refusal(.keyDamaged) }
            switch key.parts {
            case .ed25519(let seed):
                let signature = try Curve25519.Signing.PrivateKey(rawRepresentation: seed).signature(for: data)
                return labeled(key.publicKey.type.rawValue, [UInt8](signature))
            case .elliptic(let number): return try elliptic(key.publicKey, privateNumber: number, data: data)
            case .rsa(let exponent, _, let p, let q):
                return try rsa(key.publicKey, exponent: exponent, p: p, q: q, data: data, flags: flags)
            }
        }
    }

    private static func elliptic(_ publicKey: SSHPublicKey, privateNumber number: UnsafeRawBufferPointer, data: [UInt8]) throws -> [UInt8] {
        // The library expects numbers of the curve's size.
        let count = ((publicKey.type.curve?.pointBytes ?? 1) - 1) / 2
        guard number.count <= count else { throw SSHError("a private number is too long") }
        let whole = SecretBytes(count: count) { target in
            UnsafeMutableRawBufferPointer(rebasing: target[(count - number.count)...]).copyMemory(from: number)
        }
        let raw = try whole.withUnsafeBytes { bytes throws(any Error) in
            switch publicKey.type {
            case .p256: try P256.Signing.PrivateKey(rawRepresentation: bytes).signature(for: data).rawRepresentation
            case .p384: try P384.Signing.PrivateKey(rawRepresentation: bytes).signature(for: data).rawRepresentation
            default: try P521.Signing.PrivateKey(rawRepresentation: bytes).signature(for: data).rawRepresentation
            }
        }
        return elliptic(publicKey.type, [UInt8](raw))
    }

    /// Encodes an elliptic signature from r ‖ s.
    static func elliptic(_ type: SSHKeyType, _ raw: [UInt8]) -> [UInt8] {
        let numbers = SSHWriter.of { writer in
            writer.magnitude(raw[..<(raw.count / 2)])
            writer.magnitude(raw[(raw.count / 2)...])
        }
        return labeled(type.rawValue, numbers)
    }

    private static func rsa(
        _ publicKey: SSHPublicKey, exponent: UnsafeRawBufferPointer, p: UnsafeRawBufferPointer, q: UnsafeRawBufferPointer,
        data: [UInt8],
        flags: UInt32
    ) throws -> [UInt8] {
        guard case .rsa(let publicExponent, let modulus) = publicKey.body else { throw SSHError("a key is of another type") }
        let key = try _RSA.Signing.PrivateKey(n: modulus, e: publicExponent, d: exponent, p: p, q: q)
        switch flags & 6 {
        case 2:
            let signature = try key.signature(for: SHA256.hash(data: data), padding: .insecurePKCS1v1_5)
            return labeled("rsa-sha2-256", [UInt8](signature.rawRepresentation))
        case 4, 6:
            let signature = try key.signature(for: SHA512.hash(data: data), padding: .insecurePKCS1v1_5)
            return labeled("rsa-sha2-512", [UInt8](signature.rawRepresentation))
        default: throw SSHError("signatures with SHA-1 are not supported")
        }
    }

    private static func labeled(_ algorithm: String, _ signature: [UInt8]) -> [UInt8] {
        SSHWriter.of { writer in
            writer.text(algorithm)
            writer.string(signature)
        }
    }
}

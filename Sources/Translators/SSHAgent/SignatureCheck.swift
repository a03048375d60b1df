import FoundationEssentials
internal import Crypto
internal import CryptoExtras
internal import VaubanSSHWire

/// Verifies the signatures of servers (RFC 4253 section 6.6, RFC 5656, RFC 8332, RFC 8709).
enum SignatureCheck {
    static func isValid(_ signature: [UInt8], of data: [UInt8], by key: SSHPublicKey) -> Bool {
        (try? check(signature, of: Data(data), by: key)) ?? false
    }

    private static func check(_ signature: [UInt8], of data: Data, by key: SSHPublicKey) throws -> Bool {
        let (algorithm, value) = try SSHReader.read(signature) { reader throws(SSHError) in
            let parts = (try reader.text(), try reader.octets())
            try reader.end()
            return parts
        }
        switch key.body {
        case .ed25519(let point):
            return try algorithm == key.type.rawValue
                && Curve25519.Signing.PublicKey(rawRepresentation: point).isValidSignature(Data(value), for: data)
        case .point(let point):
            guard algorithm == key.type.rawValue else { return false }
            switch key.type {
            case .p256:
                let signature = try P256.Signing.ECDSASignature(rawRepresentation: raw(value, 32))
                return try P256.Signing.PublicKey(x963Representation: point).isValidSignature(signature, for: data)
            case .p384:
                let signature = try P384.Signing.ECDSASignature(rawRepresentation: raw(value, 48))
                return try P384.Signing.PublicKey(x963Representation: point).isValidSignature(signature, for: data)
            default:
                let signature = try P521.Signing.ECDSASignature(rawRepresentation: raw(value, 66))
                return try P521.Signing.PublicKey(x963Representation: point).isValidSignature(signature, for: data)
            }
        case .rsa(let exponent, let modulus):
            let key = try _RSA.Signing.PublicKey(n: modulus, e: exponent)
            let signature = _RSA.Signing.RSASignature(rawRepresentation: Data(value))
            switch algorithm {
            case "rsa-sha2-256": return key.isValidSignature(signature, for: SHA256.hash(data: data), padding: .insecurePKCS1v1_5)
            case "rsa-sha2-512": return key.isValidSignature(signature, for: SHA512.hash(data: data), padding: .insecurePKCS1v1_5)
            default: return false
            }
        }
    }

    /// Returns r and s in the library's format, each padded to the size of the curve's numbers.
    private static func raw(_ value: [UInt8], _ numberBytes: Int) throws(SSHError) -> Data {
        try SSHReader.read(value) { reader throws(SSHError) in
            var raw = Data()
            for _ in 0..<2 {
                let number = try reader.magnitude()
                guard number.count <= numberBytes else { throw SSHError("a signature is too long") }
                raw += Data(repeating: 0, count: numberBytes - number.count) + number
            }
            try reader.end()
            return raw
        }
    }
}

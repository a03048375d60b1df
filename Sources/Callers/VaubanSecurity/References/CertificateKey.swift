// The public key of a certificate (RFC 5280, 4.1.2.7; RFC 3279 and 5480 for its types).

internal import SwiftASN1

extension SecCertificate {
    private static let rsa: ASN1ObjectIdentifier = [1, 2, 840, 113549, 1, 1, 1]
    private static let elliptic: ASN1ObjectIdentifier = [1, 2, 840, 10045, 2, 1]
    private static let curves: [ASN1ObjectIdentifier: Int] = [
        [1, 2, 840, 10045, 3, 1, 7]: 256, [1, 3, 132, 0, 34]: 384, [1, 3, 132, 0, 35]: 521,
    ]

    /// The public key; nil if its type is unsupported.
    var key: SecKey? {
        switch fields.keyAlgorithm.first {
        case Self.rsa: (try? KeyMaterial(type: .rsa, isPrivate: false, external: Data(fields.publicKey))).map { SecKey($0) }
        case Self.elliptic:
            (try? KeyMaterial(type: .elliptic, isPrivate: false, external: Data(fields.publicKey))).flatMap { material in
                fields.keyAlgorithm.dropFirst().first.flatMap { Self.curves[$0] } == material.bits ? SecKey(material) : nil
            }
        default: nil
        }
    }

    /// Whether the key is RSA with fewer than 2048 bits.
    var hasShortKey: Bool {
        guard fields.keyAlgorithm.first == Self.rsa, let root = try? DER.parse(fields.publicKey),
            case .constructed(let numbers) = root.content,
            let modulus = numbers.first(where: { $0.identifier == .integer }), case .primitive(let bytes) = modulus.content
        else { return false }
        return bytes.drop { $0 == 0 }.count < 2048 / 8
    }
}

import Crypto
public import Foundation
import SwiftASN1

/// The properties of one certificate that the rules depend on, read from its bytes (RFC 5280, 4.1). Trust is not decided here.
public struct CertificateFacts: Sendable, Equatable {
    /// The type and the size of a public key.
    public enum Key: Sendable, Equatable {
        /// RSA, with the size of its modulus.
        case rsa(bits: Int)
        /// A NIST curve by its size; 0 bits for any other.
        case ellipticCurve(bits: Int)
        /// Ed25519, and any other type that the rules do not name.
        case other
    }

    /// The certificate's public key.
    public let key: Key
    /// Whether the signature's hash is SHA-256 or better.
    public let hasStrongHash: Bool
    /// Whether issuer and subject are equal, as in a root, on whose signature nothing depends.
    public let isSelfIssued: Bool
    /// The SHA-256 digest of the subject public key info, as `NSPinnedDomains` writes it.
    public let keyDigest: Data

    /// Reads a certificate in DER.
    /// - Throws: An error of swift-asn1 if the data is not a certificate.
    public init(certificate: Data) throws {
        let root = try DER.parse(Array(certificate))
        self = try DER.sequence(root, identifier: .sequence) { fields in
            let facts = try DER.sequence(try Self.node(&fields), identifier: .sequence) { try Self.read(&$0) }
            let algorithm = try Self.node(&fields)
            _ = try Self.node(&fields)
            return CertificateFacts(
                key: facts.key, hasStrongHash: try Self.hasStrongHash(algorithm), isSelfIssued: facts.isSelfIssued,
                keyDigest: facts.keyDigest)
        }
    }

    private init(key: Key, hasStrongHash: Bool, isSelfIssued: Bool, keyDigest: Data) {
        self.key = key
        self.hasStrongHash = hasStrongHash
        self.isSelfIssued = isSelfIssued
        self.keyDigest = keyDigest
    }

    /// Reads the fields of the signed part up to the key: version, serial number, algorithm, issuer, validity, subject, key.
    private static func read(_ fields: inout ASN1NodeCollection.Iterator) throws -> (key: Key, isSelfIssued: Bool, keyDigest: Data) {
        var serial = try node(&fields)
        if serial.identifier.tagClass == .contextSpecific { serial = try node(&fields) }
        _ = try node(&fields)
        let issuer = try node(&fields)
        _ = try node(&fields)
        let subject = try node(&fields)
        let info = try node(&fields)
        while fields.next() != nil {}
        return (
            try key(info), issuer.encodedBytes.elementsEqual(subject.encodedBytes), Data(SHA256.hash(data: Array(info.encodedBytes)))
        )
    }

    private static func node(_ fields: inout ASN1NodeCollection.Iterator) throws -> ASN1Node {
        guard let node = fields.next() else { throw ASN1Error.invalidASN1Object(reason: "the certificate ends early") }
        return node
    }

    private static func key(_ info: ASN1Node) throws -> Key {
        try DER.sequence(info, identifier: .sequence) { fields in
            let algorithm = try node(&fields)
            let bits = try ASN1BitString(derEncoded: &fields)
            return try DER.sequence(algorithm, identifier: .sequence) { parts in
                let name = try ASN1ObjectIdentifier(derEncoded: &parts)
                let parameters = parts.next()
                while parts.next() != nil {}
                if name == rsaKey || name == rsaPSS { return .rsa(bits: try modulusBits(bits.bytes)) }
                guard name == ellipticCurveKey, let parameters, parameters.identifier == .objectIdentifier else { return .other }
                // An unknown curve counts as a weak one.
                return .ellipticCurve(bits: curveBits[try ASN1ObjectIdentifier(derEncoded: parameters)] ?? 0)
            }
        }
    }

    private static func modulusBits(_ key: ArraySlice<UInt8>) throws -> Int {
        try DER.sequence(DER.parse(key), identifier: .sequence) { fields in
            let modulus = try ArraySlice<UInt8>(derEncoded: &fields).drop { $0 == 0 }
            _ = try ArraySlice<UInt8>(derEncoded: &fields)
            return modulus.count * 8 - (modulus.first?.leadingZeroBitCount ?? 0)
        }
    }

    private static func hasStrongHash(_ algorithm: ASN1Node) throws -> Bool {
        try DER.sequence(algorithm, identifier: .sequence) { fields in
            let name = try ASN1ObjectIdentifier(derEncoded: &fields)
            let parameters = fields.next()
            while fields.next() != nil {}
            guard name == rsaPSS else { return strongSignatures.contains(name) }
            // The hash of RSASSA-PSS is in its parameters and SHA-1 where they omit it (RFC 4055, 3.1).
            guard let parameters, case .constructed(let children) = parameters.content, let first = children.first(where: { _ in true }),
                first.identifier == ASN1Identifier(tagWithNumber: 0, tagClass: .contextSpecific),
                case .constructed(let inner) = first.content,
                let hash = inner.first(where: { _ in true }), case .constructed(let parts) = hash.content,
                let object = parts.first(where: { _ in true })
            else { return false }
            return strongHashes.contains(try ASN1ObjectIdentifier(derEncoded: object))
        }
    }

    private static let rsaKey: ASN1ObjectIdentifier = [1, 2, 840, 113549, 1, 1, 1]
    private static let rsaPSS: ASN1ObjectIdentifier = [1, 2, 840, 113549, 1, 1, 10]
    private static let ellipticCurveKey: ASN1ObjectIdentifier = [1, 2, 840, 10045, 2, 1]
    /// The NIST curves and their sizes (RFC 5480, 2.1.1.1).
    private static let curveBits: [ASN1ObjectIdentifier: Int] = [
        [1, 2, 840, 10045, 3, 1, 1]: 192, [1, 3, 132, 0, 33]: 224, [1, 2, 840, 10045, 3, 1, 7]: 256, [1, 3, 132, 0, 34]: 384,
        [1, 3, 132, 0, 35]: 521,
    ]
    /// RSA and ECDSA with SHA-256, SHA-384 and SHA-512; Ed25519 and Ed448, which include their hashes.
    private static let strongSignatures: Set<ASN1ObjectIdentifier> = [
        [1, 2, 840, 113549, 1, 1, 11], [1, 2, 840, 113549, 1, 1, 12], [1, 2, 840, 113549, 1, 1, 13], [1, 2, 840, 10045, 4, 3, 2],
        [1, 2, 840, 10045, 4, 3, 3], [1, 2, 840, 10045, 4, 3, 4], [1, 3, 101, 112], [1, 3, 101, 113],
    ]
    private static let strongHashes: Set<ASN1ObjectIdentifier> = [
        [2, 16, 840, 1, 101, 3, 4, 2, 1], [2, 16, 840, 1, 101, 3, 4, 2, 2], [2, 16, 840, 1, 101, 3, 4, 2, 3],
    ]
}

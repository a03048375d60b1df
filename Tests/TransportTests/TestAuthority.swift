import Crypto
import Foundation
import NIOSSL
import SwiftASN1
import VaubanTransport
import X509

/// An authority for one test, with certificates of every kind.
struct TestAuthority: Sendable {
    /// The certificates that a server presents, its own first, and the key of that.
    struct Identity: Sendable {
        let chain: [NIOSSLCertificate]
        let key: NIOSSLPrivateKey
    }

    /// When a certificate is valid.
    enum Validity: Sendable { case earlier, now, later }

    let certificate: Certificate
    private let key: P256.Signing.PrivateKey

    init(named name: String = "authority", issuedBy above: TestAuthority? = nil) throws {
        key = P256.Signing.PrivateKey()
        certificate = try Self.sign(
            key.publicKey, named: name, isAuthority: true, issuer: above?.certificate.subject, issuerKey: above?.key ?? key)
    }

    /// The system's authorities and this one.
    func trust() throws -> TransportTrust {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("authority-\(UUID().uuidString).pem")
        defer { try? FileManager.default.removeItem(at: file) }
        try Data(certificate.serializeAsPEM().pemString.utf8).write(to: file)
        return try .systemAndFile(atPath: file.path)
    }

    /// Returns an identity for names and addresses, with the certificates of the authorities `between` after its own.
    func identity(
        for names: [String], addresses: [[UInt8]] = [], validity: Validity = .now, purposes: [ExtendedKeyUsage.Usage] = [],
        between: [TestAuthority] = []
    ) throws -> Identity {
        let key = P256.Signing.PrivateKey()
        let leaf = try Self.sign(
            key.publicKey, named: names.first ?? "address", validity: validity,
            alternatives: names.map { .dnsName($0) } + addresses.map { .ipAddress(ASN1OctetString(contentBytes: $0[...])) },
            purposes: purposes,
            issuer: certificate.subject, issuerKey: self.key)
        return try Self.identity([leaf] + between.map(\.certificate), key)
    }

    /// Returns a self-signed identity.
    static func selfSigned(for name: String) throws -> Identity {
        let key = P256.Signing.PrivateKey()
        let leaf = try sign(key.publicKey, named: name, alternatives: [.dnsName(name)], issuer: nil, issuerKey: key)
        return try identity([leaf], key)
    }

    private static func identity(_ chain: [Certificate], _ key: P256.Signing.PrivateKey) throws -> Identity {
        Identity(
            chain: try chain.map { try NIOSSLCertificate(bytes: Array($0.serializeAsPEM().pemString.utf8), format: .pem) },
            key: try NIOSSLPrivateKey(bytes: Array(key.pemRepresentation.utf8), format: .pem))
    }

    private static func sign(
        _ key: P256.Signing.PublicKey, named name: String, isAuthority: Bool = false, validity: Validity = .now,
        alternatives: [GeneralName] = [], purposes: [ExtendedKeyUsage.Usage] = [], issuer: DistinguishedName?,
        issuerKey: P256.Signing.PrivateKey
    ) throws -> Certificate {
        let subject = try DistinguishedName { CommonName(name) }
        let begin = Date(timeIntervalSinceNow: validity == .later ? 3600 : -86_400)
        let end = Date(timeIntervalSinceNow: validity == .earlier ? -3600 : 86_400)
        let listed = try ExtendedKeyUsage(purposes)
        return try Certificate(
            version: .v3, serialNumber: Certificate.SerialNumber(), publicKey: Certificate.PublicKey(key),
            notValidBefore: begin, notValidAfter: end, issuer: issuer ?? subject, subject: subject,
            signatureAlgorithm: .ecdsaWithSHA256,
            extensions: try Certificate.Extensions {
                if isAuthority {
                    Critical(BasicConstraints.isCertificateAuthority(maxPathLength: nil))
                } else {
                    Critical(BasicConstraints.notCertificateAuthority)
                    SubjectAlternativeNames(alternatives)
                }
                if !purposes.isEmpty { listed }
            },
            issuerPrivateKey: Certificate.PrivateKey(issuerKey))
    }
}

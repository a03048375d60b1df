#if Transport
import NIOSSL
import SwiftASN1
import X509

/// The authorities that certificates must lead to: those of the system's store, and others that a program adds.
public struct TransportTrust: Sendable {
    let added: [NIOSSLCertificate]
    let roots: CertificateStore

    /// The authorities of the system's store.
    public static let system = TransportTrust(added: [], roots: .systemTrustRoots)

    /// Returns the system's authorities and those in a file in PEM form.
    /// - Throws: An error of NIOSSL or swift-certificates if the file cannot be read, or has no certificates in PEM form.
    public static func systemAndFile(atPath path: String) throws -> TransportTrust {
        let added = try NIOSSLCertificate.fromPEMFile(path)
        let certificates = try added.map { try Certificate(derEncoded: try $0.toDERBytes()) }
        return TransportTrust(added: added, roots: CertificateStore.systemTrustRoots.appending(contentsOf: certificates))
    }
}
#endif

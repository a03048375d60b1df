// The certificates that this system trusts.

internal import Synchronization
internal import SwiftASN1
internal import VaubanLinuxHost
@_implementationOnly import X509

/// The system's anchors, read again when their file changes. A certificate that the library rejects is skipped, so that it does not
/// invalidate the others.
struct TrustAnchors: Sendable {
    let certificates: [SecCertificate]
    let readable: [Certificate]

    /// The files of Debian and Arch, Fedora, and SUSE.
    private static let paths = ["/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem"]
    private static let bytesMax = 16 << 20
    private static let known = Mutex<(file: FileStamp, anchors: TrustAnchors)?>(nil)

    /// The properties that distinguish two versions of a file.
    private struct FileStamp: Equatable {
        let path: String
        let size: UInt64
        let date: Date

        init?(_ path: String) {
            guard
                let attributes = try? FileManager.default.attributesOfItem(
                    atPath: URL(fileURLWithPath: path).resolvingSymlinksInPath().path),
                let size = (attributes[.size] as? NSNumber)?.uint64Value, let date = attributes[.modificationDate] as? Date
            else { return nil }
            (self.path, self.size, self.date) = (path, size, date)
        }
    }

    /// The system's anchors; empty if the system has no such file.
    static var ofSystem: TrustAnchors {
        guard let file = paths.lazy.compactMap({ FileStamp($0) }).first else { return TrustAnchors([]) }
        if let known = known.withLock({ $0 }), known.file == file { return known.anchors }
        guard let text = SmallFile.text(path: file.path, max: bytesMax),
            let documents = try? PEMDocument.parseMultiple(pemString: text)
        else {
            return TrustAnchors([])
        }
        let anchors = TrustAnchors(documents.compactMap { SecCertificate(der: $0.derBytes) })
        known.withLock { $0 = (file, anchors) }
        return anchors
    }

    private init(_ certificates: [SecCertificate]) {
        self.certificates = certificates
        readable = certificates.compactMap(\.forVerifier)
    }
}

extension SecCertificate {
    /// The certificate as the library that builds chains parses it; nil if it does not support the key or the signature.
    var forVerifier: Certificate? { try? Certificate(derEncoded: der) }
}

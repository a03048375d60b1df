// Problems that a program has decided to ignore, and can pass to the next evaluation.

internal import Crypto
@_implementationOnly import X509

/// The ignored problems of each certificate of one chain, by its digest. The data is JSON, which is opaque to programs.
struct TrustExceptions: Codable, Hashable, Sendable {
    private struct Entry: Codable, Hashable {
        let certificate: Data
        let statuses: Set<OSStatus>
    }

    private let entries: [Entry]

    /// Collects every problem of a chain for which an exception is possible.
    init(_ outcome: TrustOutcome) {
        let found = outcome.findings + outcome.overlooked
        entries = outcome.chain.enumerated().map { place, certificate in
            Entry(
                certificate: Self.digest(certificate.der),
                statuses: Set(found.filter { $0.place == place && $0.isRecoverable }.map(\.status)))
        }
    }

    /// Returns nil for other data, and for exceptions of another leaf.
    init?(_ data: Data, leaf: SecCertificate) {
        guard data.count <= 65536, let read = try? JSONDecoder().decode(TrustExceptions.self, from: data),
            read.entries.first?.certificate == Self.digest(leaf.der)
        else { return nil }
        self = read
    }

    var data: Data? {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        return try? encoder.encode(self)
    }

    /// Returns whether a problem is ignored. The certificate must be at the same place of the chain.
    func overlooks(_ finding: TrustFinding, _ certificate: [UInt8]) -> Bool {
        guard finding.isRecoverable, entries.indices.contains(finding.place) else { return false }
        let entry = entries[finding.place]
        return entry.statuses.contains(finding.status) && entry.certificate == Self.digest(certificate)
    }

    func overlooks(_ finding: TrustFinding, of path: CheckedPath) -> Bool {
        path.chain[finding.place].derBytes.map { overlooks(finding, $0) } ?? false
    }

    private static func digest(_ bytes: [UInt8]) -> Data { Data(SHA256.hash(data: bytes)) }
}

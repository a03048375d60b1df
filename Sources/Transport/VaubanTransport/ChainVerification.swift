#if Transport
import Foundation
import NIOSSL
import SwiftASN1
import VaubanTransportPolicy
import X509

/// Verifies the certificates that a server presents: swift-certificates' verifier decides about trust, the requirements about everything
/// else.
struct ChainVerification: Sendable {
    let requirements: TransportRequirements
    let trust: TransportTrust
    /// Whether other connections, on which BoringSSL verifies the chain, follow before anything is sent. Those then verify chains with RSA
    /// keys below 2048 bits, which swift-certificates does not read, where an exception allows such keys.
    var precedesVerifiedConnections = false
    /// The most certificates that a server may present. swift-certificates tries all orders of certificates that can sign each other, and
    /// an attacker can make all of them so: the time grows with the factorial of their number.
    private static let certificatesMax = 6

    /// Returns if the chain meets the requirements.
    /// - Throws: `TransportError` with the first rule that the chain breaks.
    func verify(_ presented: [NIOSSLCertificate]) async throws {
        let bytes = try presented.map { try $0.toDERBytes() }
        guard !bytes.isEmpty else { throw TransportError(rule: .trust, host: requirements.host, detail: "it has none") }
        guard bytes.count <= Self.certificatesMax else {
            throw TransportError(rule: .trust, host: requirements.host, detail: "it has more than \(Self.certificatesMax)")
        }
        // Report the most specific error first: a weak certificate is refused as weak even if it is untrusted as well.
        let facts = try bytes.map { try readFacts($0) }
        let isLeftToConnection = precedesVerifiedConnections && requirements.pins == nil && facts.contains { !$0.hasStrongKey }
        try requirements.check(presented: facts, exemptsRoots: !isLeftToConnection)
        if isLeftToConnection { return }
        let chain = try await verifiedChain(bytes)
        try requirements.check(chain: chain)
    }

    private func readFacts(_ bytes: [UInt8]) throws -> CertificateFacts {
        do {
            return try CertificateFacts(certificate: Data(bytes))
        } catch {
            throw TransportError(rule: .trust, host: requirements.host, detail: "a certificate cannot be read")
        }
    }

    private func verifiedChain(_ bytes: [[UInt8]]) async throws -> [CertificateFacts] {
        let certificates: [Certificate]
        do {
            certificates = try bytes.map { try Certificate(derEncoded: $0) }
        } catch {
            throw TransportError(rule: .trust, host: requirements.host, detail: "a certificate cannot be read, or its key is too short")
        }
        let now = Date()
        let intermediates = CertificateStore(certificates.dropFirst())
        var withName = Verifier(rootCertificates: trust.roots) {
            RFC5280Policy()
            ServerPurposePolicy()
            ServerIdentityPolicy(
                serverHostname: requirements.isAddress ? nil : requirements.certificateHost,
                serverIP: requirements.isAddress ? requirements.host : nil)
        }
        switch await withName.validate(leaf: certificates[0], intermediates: intermediates) {
        case .validCertificate(let chain):
            return try chain.map { certificate in
                var serializer = DER.Serializer()
                try serializer.serialize(certificate)
                return try readFacts(serializer.serializedBytes)
            }
        case .couldNotValidate:
            // Determine the rule here, since the verifier reports it only as prose.
            if certificates.contains(where: { now < $0.notValidBefore || $0.notValidAfter < now }) {
                throw TransportError(rule: .expired, host: requirements.host)
            }
            var withoutName = Verifier(rootCertificates: trust.roots) {
                RFC5280Policy()
                ServerPurposePolicy()
            }
            if case .validCertificate = await withoutName.validate(leaf: certificates[0], intermediates: intermediates) {
                throw TransportError(rule: .host, host: requirements.host)
            }
            let detail = certificates.allSatisfy(ServerPurposePolicy.accepts) ? "" : "a certificate is not for servers"
            throw TransportError(rule: .trust, host: requirements.host, detail: detail)
        }
    }
}

/// Requires that each certificate that lists purposes, except the authority in the store, lists that of a server, as BoringSSL does.
/// swift-certificates has no such policy.
private struct ServerPurposePolicy: VerifierPolicy {
    let verifyingCriticalExtensions = [ASN1ObjectIdentifier.X509ExtensionID.extendedKeyUsage]

    func chainMeetsPolicyRequirements(chain: UnverifiedCertificateChain) -> PolicyEvaluationResult {
        let isForServers = Self.accepts(chain.leaf) && chain.dropLast().allSatisfy(Self.accepts)
        return isForServers ? .meetsPolicy : .failsToMeetPolicy(reason: "a certificate is not for servers")
    }

    static func accepts(_ certificate: Certificate) -> Bool {
        do {
            return try certificate.extensions.extendedKeyUsage?.contains(.serverAuth) ?? true
        } catch {
            return false
        }
    }
}
#endif

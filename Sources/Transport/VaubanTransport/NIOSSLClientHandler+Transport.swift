#if Transport
import NIOCore
public import NIOSSL
import Synchronization
public import VaubanTransportPolicy

extension NIOSSLClientHandler {
    /// Returns the handler for a connection that must meet the requirements, to be added to a channel's pipeline.
    ///
    /// The verifier of swift-certificates always verifies trust, validity and the host's name, whatever the exceptions, so that the
    /// certificates checked are those of the verified chain. RSA keys below 2048 bits are refused even where an exception allows them,
    /// since that verifier does not read them. A refusal is an error of NIOSSL, which does not name the rule;
    /// `ChannelPipeline.SynchronousOperations.addSecureHandlers` reports it as `TransportError`.
    /// - Throws: An error of NIOSSL if no context can be created for the requirements, or if the host is not a valid server name.
    public static func secure(_ requirements: TransportRequirements, trust: TransportTrust = .system) throws -> NIOSSLClientHandler {
        try secure(ChainVerification(requirements: requirements, trust: trust)) { _ in }
    }

    /// - Parameters:
    ///   - verification: Replaces BoringSSL's own verification, which would accept nothing that this refuses.
    ///   - record: Called with the reason if the chain is refused, since NIOSSL reports only a failed handshake.
    static func secure(
        _ verification: ChainVerification, record: @escaping @Sendable (any Error) -> Void
    ) throws -> NIOSSLClientHandler {
        let requirements = verification.requirements
        let context = try NIOSSLContext(configuration: .secure(requirements, trust: verification.trust))
        return try NIOSSLClientHandler(
            context: context, serverHostname: requirements.isAddress ? nil : requirements.certificateHost,
            customVerificationCallback: { certificates, promise in
                promise.completeWithTask {
                    do {
                        try await verification.verify(certificates)
                        return .certificateVerified
                    } catch {
                        record(error)
                        return .failed
                    }
                }
            })
    }
}
#endif

#if Transport
public import NIOCore
import NIOSSL
public import VaubanTransportPolicy

extension ChannelPipeline.SynchronousOperations {
    /// Adds the handlers of a connection that must meet the requirements to the end of a channel's pipeline.
    ///
    /// The first is `NIOSSLClientHandler.secure`. The second passes the reason of a refusal on as `TransportError`, where the first reports
    /// only a failed handshake. Handlers that are added later receive it in `errorCaught`. Writes that wait for the handshake fail with
    /// NIOSSL's error.
    /// - Throws: An error of NIOSSL if no context can be created for the requirements, or if the host is not a valid server name.
    public func addSecureHandlers(_ requirements: TransportRequirements, trust: TransportTrust = .system) throws {
        let refusal = RefusalBox()
        let verification = ChainVerification(requirements: requirements, trust: trust)
        let handler = try NIOSSLClientHandler.secure(verification) { refusal.set($0) }
        try addHandlers([handler, RefusalReporter(requirements, refusal)])
    }
}

/// Replaces NIOSSL's error for a refused connection by the rule that refused it.
private final class RefusalReporter: ChannelInboundHandler {
    typealias InboundIn = NIOAny
    private let requirements: TransportRequirements
    private let refusal: RefusalBox

    init(_ requirements: TransportRequirements, _ refusal: RefusalBox) { (self.requirements, self.refusal) = (requirements, refusal) }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.fireErrorCaught(refusal.error ?? requirements.handshakeError(error))
    }
}
#endif

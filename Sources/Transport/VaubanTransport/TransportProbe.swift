#if Transport
import NIOCore
import NIOPosix
import NIOSSL
import NIOTLS
import Synchronization
import VaubanTransportPolicy

/// A handshake with a server that tests whether it meets the requirements. No application data is sent.
///
/// AsyncHTTPClient gives no access to the certificates that a server sends besides its own. So each server is probed before the client
/// connects, and the client's connections must then present the same certificate.
struct TransportProbe: Sendable {
    let requirements: TransportRequirements
    let trust: TransportTrust
    /// The address to connect to instead of resolving the host's name.
    var address: String?

    /// Returns the server's own certificate.
    /// - Throws: `TransportError` if a rule refuses the server, and other errors if it cannot be reached before the deadline.
    func certificate(on group: any EventLoopGroup, before deadline: NIODeadline) async throws -> NIOSSLCertificate {
        let box = RefusalBox()
        do {
            return try await handshake(on: group, before: deadline, box)
        } catch {
            throw box.error ?? requirements.handshakeError(error)
        }
    }

    private func handshake(
        on group: any EventLoopGroup, before deadline: NIODeadline, _ box: RefusalBox
    ) async throws -> NIOSSLCertificate {
        let timeout = deadline - .now()
        guard timeout > .zero else { throw ChannelError.connectTimeout(.zero) }
        let loop = group.next()
        let finished = loop.makePromise(of: NIOSSLCertificate.self)
        // The client's connections verify the host by the name that they connect to, so they cannot verify an address with a zone.
        let verification = ChainVerification(
            requirements: requirements, trust: trust, precedesVerifiedConnections: requirements.zone == nil)
        let bootstrap = ClientBootstrap(group: loop).connectTimeout(timeout).channelInitializer { channel in
            channel.eventLoop.makeCompletedFuture {
                try channel.pipeline.syncOperations.addHandlers(
                    [NIOSSLClientHandler.secure(verification) { box.set($0) }, HandshakeObserver(finished)])
            }
        }
        let channel: any Channel
        do {
            let fixed = try address.map { try SocketAddress(ipAddress: $0, port: requirements.port) }
            let connection =
                fixed.map { bootstrap.connect(to: $0) }
                ?? bootstrap.connect(host: requirements.connectionHost, port: requirements.port)
            channel = try await connection.get()
        } catch {
            finished.fail(error)
            throw error
        }
        let end = loop.scheduleTask(deadline: deadline) { finished.fail(ChannelError.connectTimeout(timeout)) }
        defer {
            end.cancel()
            channel.close(promise: nil)
        }
        return try await withTaskCancellationHandler {
            try await finished.futureResult.get()
        } onCancel: {
            finished.fail(CancellationError())
        }
    }
}

/// The reason of a refusal, passed from the verification to the handler that reports it.
final class RefusalBox: Sendable {
    private let stored = Mutex<(any Error)?>(nil)
    var error: (any Error)? { stored.withLock { $0 } }
    func set(_ error: any Error) { stored.withLock { $0 = error } }
}

/// Completes a promise when the handshake ends.
private final class HandshakeObserver: ChannelInboundHandler {
    typealias InboundIn = NIOAny
    private let finished: EventLoopPromise<NIOSSLCertificate>

    init(_ finished: EventLoopPromise<NIOSSLCertificate>) { self.finished = finished }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if let event = event as? TLSUserEvent, case .handshakeCompleted = event {
            do {
                guard let certificate = try context.pipeline.syncOperations.nioSSL_peerCertificate() else {
                    throw NIOSSLError.noCertificateToValidate
                }
                finished.succeed(certificate)
            } catch {
                finished.fail(error)
            }
        }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        finished.fail(error)
        context.close(promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) { finished.fail(NIOSSLError.uncleanShutdown) }
}
#endif

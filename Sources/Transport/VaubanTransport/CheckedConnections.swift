#if Transport
import NIOCore
import NIOSSL
import Synchronization

/// The connections to one server, and its certificate, once a probe found that the chain meets the requirements. Each connection must
/// present this certificate.
final class CheckedConnections: Sendable {
    private let state = Mutex(State())

    private struct State {
        var certificate: NIOSSLCertificate?
        var open: [ObjectIdentifier: any Channel] = [:]
        var hasEnded = false
    }

    var certificate: NIOSSLCertificate? {
        get { state.withLock { $0.certificate } }
        set { state.withLock { $0.certificate = newValue } }
    }

    /// Fails for a connection whose server presents a certificate that was not checked, after closing the connection.
    ///
    /// The decision is synchronous, because AsyncHTTPClient crashes if a server uses or closes a connection while the decision is pending,
    /// or closes it between a negative decision and the next attempt.
    func check(_ channel: any Channel) -> EventLoopFuture<Void> {
        channel.nioSSL_peerCertificate().flatMap { shown in
            let isAccepted = self.state.withLock { state in
                guard !state.hasEnded, let shown, shown == state.certificate else { return false }
                state.open[ObjectIdentifier(channel)] = channel
                return true
            }
            guard isAccepted else {
                Self.close(channel)
                return channel.closeFuture.flatMapThrowing { throw UncheckedCertificate(shown: shown) }
            }
            channel.closeFuture.whenComplete { _ in
                _ = self.state.withLock { $0.open.removeValue(forKey: ObjectIdentifier(channel)) }
            }
            return channel.eventLoop.makeSucceededVoidFuture()
        }
    }

    /// Closes all connections, and from now on each new one. AsyncHTTPClient alone would wait forever for an HTTP/2 connection that the
    /// server announced to close and does not.
    func end() {
        let open = state.withLock { state in
            state.hasEnded = true
            return Array(state.open.values)
        }
        for channel in open { channel.eventLoop.execute { Self.close(channel) } }
    }

    /// Closes a channel at once. A regular close would wait for the server's acknowledgment.
    private static func close(_ channel: any Channel) {
        do {
            try channel.pipeline.syncOperations.context(handlerType: NIOSSLClientHandler.self).close(promise: nil)
        } catch {
            channel.close(promise: nil)
        }
    }
}

/// A connection presented another certificate than the checked one. Servers renew certificates while a client runs, so the client may check
/// the new one and connect again.
struct UncheckedCertificate: Error {
    let shown: NIOSSLCertificate?
}
#endif

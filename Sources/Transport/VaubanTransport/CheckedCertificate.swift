#if Transport
import NIOCore
import NIOSSL
import Synchronization
import VaubanTransportPolicy

/// The certificate of one server whose chain met the requirements. Each new connection must show it, or is probed once more.
final class CheckedCertificate: Sendable {
    private let probe: TransportProbe
    private let group: any EventLoopGroup
    private let certificate: Mutex<NIOSSLCertificate>

    init(_ probe: TransportProbe, certificate: NIOSSLCertificate, group: any EventLoopGroup) {
        self.probe = probe
        self.group = group
        self.certificate = Mutex(certificate)
    }

    /// Fails for a connection whose server shows a certificate that was not checked.
    func check(_ channel: any Channel) -> EventLoopFuture<Void> {
        channel.nioSSL_peerCertificate().flatMap { shown in
            if let shown, self.certificate.withLock({ $0 == shown }) { return channel.eventLoop.makeSucceededVoidFuture() }
            // Servers renew certificates while a client runs.
            return channel.eventLoop.makeFutureWithTask {
                let found = try await self.probe.certificate(on: self.group)
                guard let shown, found == shown else {
                    throw TransportError(rule: .trust, host: self.probe.requirements.host, detail: "it shows changing certificates")
                }
                self.certificate.withLock { $0 = found }
            }
        }
    }
}
#endif

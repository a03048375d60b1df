#if Transport
import AsyncHTTPClient
import Foundation
import NIOCore
import NIOSSL
import VaubanTransportPolicy

/// A scheme with a server and a port, and the decision's purpose: a load with another purpose may need a better connection.
struct Origin: Hashable, Sendable {
    let scheme: String
    let host: String
    let port: Int
    let basis: TransportRequirements.Basis
}

/// The client's state for one origin: an AsyncHTTPClient client, since requirements differ, and the certificate that its connections must
/// present.
struct SecureOrigin {
    let client: HTTPClient
    let checked = CheckedConnections()
    /// The probe under way, which all requests to the origin wait for.
    var probe: Probe?
    /// The number of requests and response bodies in progress.
    var uses = 0
    var lastUse = 0

    /// - Parameter address: The address to connect to instead of resolving the host's name.
    init(_ origin: Origin, requirements: TransportRequirements, trust: TransportTrust, address: String? = nil) {
        var configuration = HTTPClient.Configuration(redirectConfiguration: .disallow)
        // The certificate of a connection that failed must be checked before another is tried.
        configuration.connectionPool.retryConnectionEstablishment = false
        // The deadline of the request applies; AsyncHTTPClient would end an attempt to connect after ten seconds.
        configuration.timeout.connect = .minutes(2)
        if origin.scheme == "https" {
            var tls = TLSConfiguration.secure(requirements, trust: trust)
            // AsyncHTTPClient takes an address with a zone for a name, which no certificate contains. The probe has verified the address,
            // and each connection must present the same certificate.
            if requirements.zone != nil { tls.certificateVerification = .noHostnameVerification }
            configuration.tlsConfiguration = tls
            let checked = checked
            configuration.http1_1ConnectionDebugInitializer = { checked.check($0) }
            configuration.http2ConnectionDebugInitializer = { checked.check($0) }
        }
        if let address {
            configuration.dnsOverride[requirements.certificateHost] = address
        } else if requirements.certificateHost != requirements.host {
            // Connect to the name with its final dot; the server expects the one without.
            configuration.dnsOverride[requirements.certificateHost] = requirements.host
        }
        client = HTTPClient(eventLoopGroup: HTTPClient.defaultEventLoopGroup, configuration: configuration)
    }

    /// Closes all connections.
    func end() async throws {
        probe?.task.cancel()
        checked.end()
        try await client.shutdown()
    }

    /// Returns the URL in the form that AsyncHTTPClient needs: an address in its usual form, a name without its final dot.
    static func url(_ url: URLComponents, _ requirements: TransportRequirements) -> String {
        var url = url
        let host = requirements.zone.map { "\(requirements.host)%25\($0)" } ?? requirements.certificateHost
        url.encodedHost = host.contains(":") ? "[\(host)]" : host
        return url.string ?? ""
    }

    /// A handshake in progress whose result several requests await, each until its own deadline.
    struct Probe: Sendable {
        let task: Task<NIOSSLCertificate, any Error>
        let deadline: NIODeadline
        private let group = HTTPClient.defaultEventLoopGroup

        init(_ probe: TransportProbe, _ deadline: NIODeadline) {
            self.deadline = deadline
            task = Task { [group] in try await probe.certificate(on: group, before: deadline) }
        }

        /// Returns the result of the handshake; nil if it has not ended before the deadline.
        func outcome(before deadline: NIODeadline) async -> Result<NIOSSLCertificate, any Error>? {
            typealias Outcome = Result<NIOSSLCertificate, any Error>?
            let loop = group.next()
            let first = loop.makePromise(of: Outcome.self)
            let end = loop.scheduleTask(deadline: deadline) { first.succeed(nil) }
            defer { end.cancel() }
            Task { first.succeed(await task.result) }
            return await withTaskCancellationHandler {
                (try? await first.futureResult.get()) ?? nil
            } onCancel: {
                first.succeed(.failure(CancellationError()))
            }
        }
    }
}

/// One use of an origin. It ends when this object is released.
final class OriginUse: Sendable {
    private let end: @Sendable () async -> Void

    init(_ end: @escaping @Sendable () async -> Void) { self.end = end }

    deinit { Task { [end] in await end() } }
}

/// The body of a response, which counts as a use of its origin until it is released.
struct UsedBody: AsyncSequence, Sendable {
    let body: HTTPClientResponse.Body
    let use: OriginUse

    struct AsyncIterator: AsyncIteratorProtocol {
        var bytes: HTTPClientResponse.Body.AsyncIterator
        let use: OriginUse

        mutating func next() async throws -> ByteBuffer? { try await bytes.next() }
    }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(bytes: body.makeAsyncIterator(), use: use) }
}
#endif

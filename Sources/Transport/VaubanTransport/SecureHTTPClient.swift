#if Transport
public import AsyncHTTPClient
import Foundation
public import NIOCore
import NIOHTTP1
import NIOSSL
public import VaubanTransportPolicy

extension HTTPClient {
    /// Returns a client that makes only requests that transport security allows: by what this program declares, or by `configuration`.
    ///
    /// Call `shutdown()` when it is no longer needed.
    public static func secure(
        _ configuration: TransportConfiguration? = nil, trust: TransportTrust = .system, redirectsMax: Int = 5
    ) throws -> SecureHTTPClient {
        let declared = try configuration ?? TransportConfiguration.ofThisProgram()
        return SecureHTTPClient(configuration: declared, trust: trust, redirectsMax: redirectsMax)
    }
}

/// An HTTP client that decides about each request, and about each redirect anew.
public actor SecureHTTPClient {
    private let configuration: TransportConfiguration
    private let trust: TransportTrust
    private let redirectsMax: Int
    private var origins: [Origin: Task<HTTPClient, any Error>] = [:]
    private var isShutDown = false

    init(configuration: TransportConfiguration, trust: TransportTrust, redirectsMax: Int) {
        self.configuration = configuration
        self.trust = trust
        self.redirectsMax = redirectsMax
    }

    /// Sends a request and follows redirects. A redirect that keeps a body is not followed: it is the response.
    /// - Throws: `TransportError` if a rule refuses the request or one of its redirects; else AsyncHTTPClient's errors.
    public func execute(_ request: HTTPClientRequest, timeout: TimeAmount) async throws -> HTTPClientResponse {
        let deadline = NIODeadline.now() + timeout
        var request = request
        for _ in 0...redirectsMax {
            let response = try await executeOnce(request, deadline)
            guard let next = request.redirected(by: response) else { return response }
            request = next
        }
        throw HTTPClientError.redirectLimitReached
    }

    /// Closes all connections. Requests that follow fail.
    public func shutdown() async throws {
        isShutDown = true
        let tasks = origins.values
        origins = [:]
        for task in tasks {
            if let client = try? await task.value { try await client.shutdown() }
        }
    }

    private func executeOnce(_ request: HTTPClientRequest, _ deadline: NIODeadline) async throws -> HTTPClientResponse {
        guard !isShutDown else { throw HTTPClientError.alreadyShutdown }
        guard let url = URL(string: request.url), let scheme = url.scheme?.lowercased(), let host = url.host, !host.isEmpty else {
            throw HTTPClientError.invalidURL
        }
        guard scheme == "http" || scheme == "https" else { throw HTTPClientError.unsupportedScheme(scheme) }
        let requirements = TransportRequirements(
            host: host, port: url.port ?? (scheme == "https" ? 443 : 80), configuration: configuration)
        try requirements.check(scheme: scheme)
        let origin = Origin(scheme: scheme, host: requirements.host, port: requirements.port)
        let client = try await client(for: origin, requirements, deadline)
        // The requirements are those of the client; a configuration in the request would replace them.
        var request = request
        request.tlsConfiguration = nil
        do {
            return try await client.execute(request, deadline: deadline)
        } catch {
            throw requirements.handshakeError(error)
        }
    }

    private func client(for origin: Origin, _ requirements: TransportRequirements, _ deadline: NIODeadline) async throws -> HTTPClient {
        let task: Task<HTTPClient, any Error>
        if let known = origins[origin] {
            task = known
        } else {
            let probe = TransportProbe(requirements: requirements, trust: trust, timeout: deadline - .now())
            task = Task { try await Self.makeClient(origin, probe) }
            origins[origin] = task
        }
        do {
            return try await task.value
        } catch {
            // The next request tries again.
            if origins[origin] == task { origins[origin] = nil }
            throw error
        }
    }

    private static func makeClient(_ origin: Origin, _ probe: TransportProbe) async throws -> HTTPClient {
        var configuration = HTTPClient.Configuration(redirectConfiguration: .disallow)
        let group = HTTPClient.defaultEventLoopGroup
        if origin.scheme == "https" {
            configuration.tlsConfiguration = .secure(probe.requirements, trust: probe.trust)
            let checked = CheckedCertificate(probe, certificate: try await probe.certificate(on: group), group: group)
            configuration.http1_1ConnectionDebugInitializer = { checked.check($0) }
            configuration.http2ConnectionDebugInitializer = { checked.check($0) }
        }
        return HTTPClient(eventLoopGroup: group, configuration: configuration)
    }
}

struct Origin: Hashable, Sendable {
    let scheme: String
    let host: String
    let port: Int
}
#endif

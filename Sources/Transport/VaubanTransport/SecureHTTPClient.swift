#if Transport
public import AsyncHTTPClient
import Foundation
public import NIOCore
import NIOHTTP1
import NIOSSL
public import VaubanTransportPolicy

extension HTTPClient {
    /// Returns a client that makes only requests that transport security allows, according to this program's property list or to
    /// `configuration`.
    ///
    /// Call `shutdown()` when it is no longer needed.
    /// - Throws: `TransportConfigurationError` if `configuration` is nil and this program's property list cannot be read.
    public static func secure(
        _ configuration: TransportConfiguration? = nil, trust: TransportTrust = .system, redirectsMax: Int = 5
    ) throws -> SecureHTTPClient {
        let declared = try configuration ?? TransportConfiguration.ofThisProgram()
        return SecureHTTPClient(configuration: declared, trust: trust, redirectsMax: redirectsMax)
    }

    /// Returns a client that resolves no names: it connects to this address whatever host a request names, and requires that host's
    /// certificate there. A request to a host that is an address fails.
    package static func secure(
        _ configuration: TransportConfiguration, trust: TransportTrust = .system, redirectsMax: Int = 5, connectingTo address: String
    ) -> SecureHTTPClient {
        SecureHTTPClient(configuration: configuration, trust: trust, redirectsMax: redirectsMax, address: address)
    }
}

/// An HTTP client that applies the rules to each request, and again to each redirect.
public actor SecureHTTPClient {
    private let configuration: TransportConfiguration
    private let trust: TransportTrust
    private let redirectsMax: Int
    /// The address for all connections; nil if names are resolved.
    private let address: String?
    private var origins: [Origin: SecureOrigin] = [:]
    /// The number of requests so far, which orders the origins by their last use.
    private var requests = 0
    private var isShutDown = false
    /// The most origins whose idle connections are kept.
    static let originsMax = 32
    /// The most connections for one request: if a server has renewed its certificate, the new one is checked once.
    private static let connectionsMax = 2

    init(configuration: TransportConfiguration, trust: TransportTrust, redirectsMax: Int, address: String? = nil) {
        self.configuration = configuration
        self.trust = trust
        self.redirectsMax = redirectsMax
        self.address = address
    }

    /// Sends a request and follows redirects. A redirect that keeps a body is not followed: it is the response.
    ///
    /// - Parameter purpose: The purpose of the request and its redirects. Loads of media players and of web content have separate global
    ///   keys.
    /// - Throws: `TransportError` if a rule refuses the request or one of its redirects; else AsyncHTTPClient's errors.
    public func execute(
        _ request: HTTPClientRequest, timeout: TimeAmount, purpose: TransportPurpose = .general
    ) async throws -> HTTPClientResponse {
        let deadline = NIODeadline.now() + timeout
        var request = request
        for _ in 0...redirectsMax {
            let response = try await executeOnce(request, for: purpose, before: deadline)
            guard let next = request.redirected(by: response) else { return response }
            request = next
        }
        throw HTTPClientError.redirectLimitReached
    }

    /// Closes all connections. Later requests fail.
    /// - Throws: The first error, after closing everything that can be closed.
    public func shutdown() async throws {
        isShutDown = true
        let ended = origins.values
        origins = [:]
        var first: (any Error)?
        for origin in ended {
            do { try await origin.end() } catch { first = first ?? error }
        }
        if let first { throw first }
    }

    private func executeOnce(
        _ request: HTTPClientRequest, for purpose: TransportPurpose, before deadline: NIODeadline
    ) async throws -> HTTPClientResponse {
        guard !isShutDown else { throw HTTPClientError.alreadyShutdown }
        guard let url = URLComponents(string: request.url), let scheme = url.scheme?.lowercased(),
            let host = URL(string: request.url)?.host, !host.isEmpty
        else {
            throw HTTPClientError.invalidURL
        }
        guard scheme == "http" || scheme == "https" else { throw HTTPClientError.unsupportedScheme(scheme) }
        let port = url.port ?? (scheme == "https" ? 443 : 80)
        // AsyncHTTPClient crashes for a greater port, and a server can redirect there.
        guard (1...65_535).contains(port) else { throw HTTPClientError.invalidURL }
        let requirements = TransportRequirements(host: host, port: port, configuration: configuration, purpose: purpose)
        try requirements.check(scheme: scheme)
        guard address == nil || !requirements.isAddress else { throw HTTPClientError.invalidURL }
        let origin = Origin(scheme: scheme, host: requirements.connectionHost, port: requirements.port, basis: requirements.basis)
        let use = await startUse(of: origin, requirements)
        var request = request
        request.url = SecureOrigin.url(url, requirements)
        // The client's requirements apply; a configuration in the request would replace them.
        request.tlsConfiguration = nil
        for _ in 0..<Self.connectionsMax {
            if scheme == "https" { try await checkCertificate(of: origin, requirements, before: deadline) }
            guard let client = origins[origin]?.client else { throw HTTPClientError.alreadyShutdown }
            do {
                var response = try await client.execute(request, deadline: deadline)
                response.body = .stream(UsedBody(body: response.body, use: use))
                return response
            } catch let error as UncheckedCertificate {
                forget(error, of: origin)
            } catch {
                throw requirements.handshakeError(error)
            }
        }
        throw TransportError(rule: .trust, host: requirements.host, detail: "it shows changing certificates")
    }

    /// Probes a server, if that has not been done yet, and returns when its certificate is known.
    private func checkCertificate(
        of origin: Origin, _ requirements: TransportRequirements, before deadline: NIODeadline
    ) async throws {
        while let state = origins[origin], state.checked.certificate == nil {
            let probe = state.probe ?? startProbe(of: origin, requirements, before: deadline)
            let outcome = await probe.outcome(before: deadline)
            try Task.checkCancellation()
            guard let outcome else { throw HTTPClientError.deadlineExceeded }
            guard !isShutDown else { throw HTTPClientError.alreadyShutdown }
            endProbe(probe, of: origin, outcome)
            guard case .failure(let error) = outcome else { continue }
            // The request that started the probe may have timed out while this one has time left.
            guard probe.deadline < deadline, probe.deadline <= .now() else { throw error }
        }
    }

    private func startProbe(
        of origin: Origin, _ requirements: TransportRequirements, before deadline: NIODeadline
    ) -> SecureOrigin.Probe {
        let probe = SecureOrigin.Probe(TransportProbe(requirements: requirements, trust: trust, address: address), deadline)
        origins[origin]?.probe = probe
        // All waiting requests may end before the probe does.
        Task { endProbe(probe, of: origin, await probe.task.result) }
        return probe
    }

    /// Stores the result of a probe, if that has not been done yet. Called by a request that waits for it, or by the task of startProbe.
    private func endProbe(_ probe: SecureOrigin.Probe, of origin: Origin, _ outcome: Result<NIOSSLCertificate, any Error>) {
        guard let state = origins[origin], state.probe?.task == probe.task else { return }
        origins[origin]?.probe = nil
        if case .success(let certificate) = outcome { state.checked.certificate = certificate }
    }

    /// Discards the checked certificate, unless it has become the one that the connection presented.
    private func forget(_ error: UncheckedCertificate, of origin: Origin) {
        guard let checked = origins[origin]?.checked, error.shown == nil || checked.certificate != error.shown else { return }
        checked.certificate = nil
    }

    /// Counts a use of an origin, which ends with the returned object. If there are too many origins, closes the unused one that was used
    /// least recently.
    private func startUse(of origin: Origin, _ requirements: TransportRequirements) async -> OriginUse {
        requests += 1
        var state = origins[origin] ?? SecureOrigin(origin, requirements: requirements, trust: trust, address: address)
        state.uses += 1
        state.lastUse = requests
        origins[origin] = state
        if origins.count > Self.originsMax,
            let oldest = origins.filter({ $0.value.uses == 0 }).min(by: { $0.value.lastUse < $1.value.lastUse })
        {
            origins[oldest.key] = nil
            // The connections are idle, so an error could only report that they were closed.
            try? await oldest.value.end()
        }
        return OriginUse { [weak self] in await self?.endUse(of: origin) }
    }

    private func endUse(of origin: Origin) { origins[origin]?.uses -= 1 }
}
#endif

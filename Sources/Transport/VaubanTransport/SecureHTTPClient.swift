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
    /// - Throws: `TransportConfigurationError` if `configuration` is nil and this program's property list cannot be read.
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
    private var origins: [Origin: SecureOrigin] = [:]
    /// Counts requests, to know which origin was used last.
    private var requests = 0
    private var isShutDown = false
    /// The most origins whose connections are kept while nothing uses them.
    static let originsMax = 32
    /// How often one request connects: a server that renewed its certificate is checked anew, once.
    private static let connectionsMax = 2

    init(configuration: TransportConfiguration, trust: TransportTrust, redirectsMax: Int) {
        self.configuration = configuration
        self.trust = trust
        self.redirectsMax = redirectsMax
    }

    /// Sends a request and follows redirects. A redirect that keeps a body is not followed: it is the response.
    ///
    /// - Parameter purpose: What the request and its redirects are for: loads of media players and of web content have global keys of
    ///   their own.
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

    /// Closes all connections. Requests that follow fail.
    /// - Throws: The first error, after everything was closed that can be closed.
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
        // AsyncHTTPClient ends the program for a greater port, and a server can redirect there.
        guard (1...65_535).contains(port) else { throw HTTPClientError.invalidURL }
        let requirements = TransportRequirements(host: host, port: port, configuration: configuration, purpose: purpose)
        try requirements.check(scheme: scheme)
        let origin = Origin(scheme: scheme, host: requirements.connectionHost, port: requirements.port, basis: requirements.basis)
        let use = await startUse(of: origin, requirements)
        var request = request
        request.url = SecureOrigin.url(url, requirements)
        // The requirements are those of the client; a configuration in the request would replace them.
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

    /// Probes a server unless that was done, and returns when its certificate is known.
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
            // If the time of the request that started the probe has ended, this one may have more.
            guard probe.deadline < deadline, probe.deadline <= .now() else { throw error }
        }
    }

    private func startProbe(
        of origin: Origin, _ requirements: TransportRequirements, before deadline: NIODeadline
    ) -> SecureOrigin.Probe {
        let probe = SecureOrigin.Probe(TransportProbe(requirements: requirements, trust: trust), deadline)
        origins[origin]?.probe = probe
        // The requests that wait may all end before.
        Task { endProbe(probe, of: origin, await probe.task.result) }
        return probe
    }

    /// Keeps the outcome of a probe, unless that was done: a request that waits for it, or the task of startProbe.
    private func endProbe(_ probe: SecureOrigin.Probe, of origin: Origin, _ outcome: Result<NIOSSLCertificate, any Error>) {
        guard let state = origins[origin], state.probe?.task == probe.task else { return }
        origins[origin]?.probe = nil
        if case .success(let certificate) = outcome { state.checked.certificate = certificate }
    }

    /// Forgets the checked certificate unless it is by now the one that a connection showed.
    private func forget(_ error: UncheckedCertificate, of origin: Origin) {
        guard let checked = origins[origin]?.checked, error.shown == nil || checked.certificate != error.shown else { return }
        checked.certificate = nil
    }

    /// Counts a use of an origin, which ends with the returned object. Where there are too many origins, one without use ends.
    private func startUse(of origin: Origin, _ requirements: TransportRequirements) async -> OriginUse {
        requests += 1
        var state = origins[origin] ?? SecureOrigin(origin, requirements: requirements, trust: trust)
        state.uses += 1
        state.lastUse = requests
        origins[origin] = state
        if origins.count > Self.originsMax,
            let oldest = origins.filter({ $0.value.uses == 0 }).min(by: { $0.value.lastUse < $1.value.lastUse })
        {
            origins[oldest.key] = nil
            // Its connections are idle; an error could only say that they were closed.
            try? await oldest.value.end()
        }
        return OriginUse { [weak self] in await self?.endUse(of: origin) }
    }

    private func endUse(of origin: Origin) { origins[origin]?.uses -= 1 }
}
#endif

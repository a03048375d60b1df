import AsyncHTTPClient
import NIOCore
import Testing
import VaubanTransport
import VaubanTransportPolicy

extension SecureHTTPClient {
    /// Runs a body with a client that is shut down afterwards.
    static func with(
        trust: TransportTrust, configuration: TransportConfiguration = TransportConfiguration(), redirectsMax: Int = 5,
        body: (SecureHTTPClient) async throws -> Void
    ) async throws {
        let client = try HTTPClient.secure(configuration, trust: trust, redirectsMax: redirectsMax)
        do {
            try await body(client)
        } catch {
            try? await client.shutdown()
            throw error
        }
        try await client.shutdown()
    }

    nonisolated func get(_ server: TestServer, host: String = "localhost", timeout: TimeAmount = .hours(1)) async throws -> String {
        try await text(of: HTTPClientRequest(url: "https://\(host):\(server.port)/"), timeout: timeout)
    }

    /// The same for a client that may not have noticed yet that its connection has ended; the timeout is that of all attempts together.
    nonisolated func getAnew(_ server: TestServer, host: String = "localhost", timeout: TimeAmount = .hours(1)) async throws -> String {
        try await textAnew(of: HTTPClientRequest(url: "https://\(host):\(server.port)/"), timeout: timeout)
    }

    private nonisolated func text(
        of request: HTTPClientRequest, timeout: TimeAmount, purpose: TransportPurpose = .general
    ) async throws -> String {
        let response = try await execute(request, timeout: timeout, purpose: purpose)
        return String(buffer: try await response.body.collect(upTo: 1024))
    }

    /// Returns the text of the response. Sends the request again if an attempt ends without one: a connection may have ended unnoticed, and
    /// names are resolved on a Dispatch queue, whose threads other tests can keep for minutes.
    nonisolated func textAnew(
        of request: HTTPClientRequest, timeout: TimeAmount = .hours(1), purpose: TransportPurpose = .general
    ) async throws -> String {
        let deadline = NIODeadline.now() + timeout
        for _ in 0..<100 {
            do {
                return try await text(of: request, timeout: deadline - .now(), purpose: purpose)
            } catch let error as TransportError {
                throw error
            } catch {
                continue
            }
        }
        return try await text(of: request, timeout: deadline - .now(), purpose: purpose)
    }

    nonisolated func expectOK(_ server: TestServer, host: String = "localhost", timeout: TimeAmount = .hours(1)) async throws {
        let text = try await getAnew(server, host: host, timeout: timeout)
        #expect(text == "ok")
    }
}

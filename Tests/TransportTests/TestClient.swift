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
        let response = try await execute(HTTPClientRequest(url: "https://\(host):\(server.port)/"), timeout: timeout)
        return String(buffer: try await response.body.collect(upTo: 1024))
    }

    /// The same for a client that may not have noticed yet that its connection has ended; the timeout is that of all attempts together.
    nonisolated func getAnew(_ server: TestServer, host: String = "localhost", timeout: TimeAmount = .hours(1)) async throws -> String {
        let deadline = NIODeadline.now() + timeout
        for _ in 0..<100 {
            do {
                return try await get(server, host: host, timeout: deadline - .now())
            } catch let error as TransportError {
                throw error
            } catch {
                continue
            }
        }
        return try await get(server, host: host, timeout: deadline - .now())
    }

    nonisolated func expectOK(_ server: TestServer, host: String = "localhost", timeout: TimeAmount = .hours(1)) async throws {
        let text = try await getAnew(server, host: host, timeout: timeout)
        #expect(text == "ok")
    }
}

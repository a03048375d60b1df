import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import Testing
import VaubanTransport
import VaubanTransportPolicy

/// How long `HTTPClient.secure` waits for servers, and which connections it keeps.
@Suite struct SecureClientTimeTests {
    @Test("A request waits for the probe of another only until its own deadline, and is not ended by that of the other")
    func deadlines() async throws {
        let authority = try TestAuthority()
        let identity = try authority.identity(for: ["localhost"])
        let silent = try await TestServer.start(TestServer.Connection(nil))
        try await SecureHTTPClient.with(trust: try authority.trust()) { client in
            let patient = Task { try await client.get(silent, timeout: .hours(1)) }
            try await silent.accepted(1)
            await #expect(throws: HTTPClientError.deadlineExceeded) { try await client.get(silent, timeout: .milliseconds(200)) }
            patient.cancel()
            await #expect(throws: CancellationError.self) { try await patient.value }
            #expect(silent.acceptedConnections == 1)
        }
        let recovering = try await TestServer.start(TestServer.Connection(nil), TestServer.Connection(identity))
        try await SecureHTTPClient.with(trust: try authority.trust()) { client in
            // The server does not answer the first connection; a request whose time ends before it connects is repeated.
            var hasty: Task<String, any Error>
            repeat {
                hasty = Task { try await client.get(recovering, timeout: .seconds(10)) }
                try await recovering.accepted(1, orEndOf: hasty)
            } while recovering.acceptedConnections == 0
            try await client.expectOK(recovering, timeout: .hours(1))
            await #expect(throws: (any Error).self) { try await hasty.value }
        }
        try await silent.stop()
        try await recovering.stop()
    }

    @Test("Shutting down ends a probe that waits for a server") func shutdownWhileProbing() async throws {
        let silent = try await TestServer.start(TestServer.Connection(nil))
        let client = try HTTPClient.secure(TransportConfiguration())
        let request = Task { try await client.get(silent, timeout: .hours(1)) }
        try await silent.accepted(1)
        try await client.shutdown()
        await #expect(throws: HTTPClientError.alreadyShutdown) { try await request.value }
        await #expect(throws: HTTPClientError.alreadyShutdown) { try await client.get(silent) }
        try await silent.stop()
    }

    @Test("Redirects over many servers keep few connections open") func manyOrigins() async throws {
        let authority = try TestAuthority()
        let identity = try authority.identity(for: ["localhost"])
        var servers = [try await TestServer.start(TestServer.Connection(identity))]
        for _ in 0..<60 {
            let next = "https://localhost:\(servers[0].port)/"
            servers.insert(try await TestServer.start(TestServer.Connection(identity, redirect: next)), at: 0)
        }
        try await SecureHTTPClient.with(trust: try authority.trust(), redirectsMax: 60) { client in
            let began = NIODeadline.now()
            try await client.expectOK(servers[0], timeout: .seconds(1800))
            let open = servers.map(\.openConnections).filter { $0 > 0 }
            // A client closes connections that were idle for a minute.
            let isOld = NIODeadline.now() - began >= .seconds(60)
            #expect((isOld ? 0...40 : 1...40).contains(open.count), "\(open.count) of \(servers.count) servers have connections")
        }
        for server in servers { try await server.stop() }
    }

    @Test(
        "A redirect to an invalid address fails, or is returned as the response",
        arguments: [
            "http://127.0.0.1:70000/", "https://127.0.0.1:65536/", "http://[::1]:70000/", "http://127.0.0.1:0/", "http://localhost:-1/",
            "https:///", "http://a b/", "ftp://localhost/", "https://[::1", "http://[::1%25]/", "http://[::1%25nowhere]/", "http://%00/",
            "http://0x1ffffffff/", "//", "http://localhost:99999999999999999999999/", "http://.../", "unix:///", "http+unix://%2Ftmp/",
            "https+unix://%2Ftmp/x",
        ])
    func redirectsToInvalidAddresses(target: String) async throws {
        let authority = try TestAuthority()
        let connection = TestServer.Connection(try authority.identity(for: ["localhost"]), redirect: target)
        let server = try await TestServer.start(connection)
        try await SecureHTTPClient.with(trust: try authority.trust()) { client in
            let request = HTTPClientRequest(url: "https://localhost:\(server.port)/")
            let response = try? await client.execute(request, timeout: .seconds(5))
            #expect(response == nil || response?.status == .found)
        }
        try await server.stop()
    }

    @Test("A refused connection is reported at once") func refusedConnection() async throws {
        let server = try await TestServer.start(TestServer.Connection(nil))
        try await server.stop()
        try await SecureHTTPClient.with(trust: .system) { client in
            let error = await #expect(throws: (any Error).self) { try await client.get(server) }
            // Both errors mean that the time of the request was over.
            #expect((error as? HTTPClientError) != .deadlineExceeded)
            if case .connectTimeout? = error as? ChannelError { Issue.record("the request waited until its time was over") }
        }
    }
}

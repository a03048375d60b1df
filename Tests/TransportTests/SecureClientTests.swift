import AsyncHTTPClient
import NIOCore
import Testing
import VaubanTransport
import VaubanTransportPolicy

/// `HTTPClient.secure` against servers that change their certificates, and close.
@Suite struct SecureClientTests {
    @Test(
        "A server that presents another certificate after the probe and closes is refused, and the client continues",
        arguments: [false, true])
    func changingCertificate(speaksHTTP2: Bool) async throws {
        let authority = try TestAuthority()
        let identities = [try authority.identity(for: ["localhost"]), try authority.identity(for: ["localhost"])]
        var refusals = 0
        try await SecureHTTPClient.with(trust: try authority.trust()) { client in
            // Each request probes, connects, probes and connects.
            for round in 1...100 where round <= 8 || refusals == 0 {
                let connections = (0..<4).map { number in
                    var connection = TestServer.Connection(identities[number % 2], closesAfter: .milliseconds(50))
                    connection.speaksHTTP2 = speaksHTTP2
                    return connection
                }
                let server = try await TestServer.start(connections[0], connections[1], connections[2], connections[3])
                let error = await #expect(throws: (any Error).self) { try await client.get(server) }
                // Where this process was halted for long, the server closes before the client has seen its certificate.
                if let error = error as? TransportError {
                    #expect(error.rule == .trust && error.detail == "it shows changing certificates")
                    #expect(server.acceptedConnections == 4)
                    refusals += 1
                }
                try await server.stop()
            }
        }
        #expect(refusals > 0)
    }

    @Test("A client continues after a server ends a connection while its certificate is checked")
    func endsWhileDeciding() async throws {
        let authority = try TestAuthority()
        var first = TestServer.Connection(try authority.identity(for: ["localhost"]), closesAfter: .milliseconds(500))
        first.speaksHTTP2 = true
        var second = TestServer.Connection(try authority.identity(for: ["localhost"]))
        second.speaksHTTP2 = true
        second.goesAwayAtOnce = true
        let server = try await TestServer.start(first)
        try await SecureHTTPClient.with(trust: try authority.trust()) { client in
            try await client.expectOK(server)
            server.change(to: second)
            try await server.closed()
            for _ in 0..<5 { _ = try? await client.get(server, timeout: .seconds(2)) }
        }
        try await server.stop()
    }

    @Test("A server can renew its certificate while a client runs, but only by one that is trusted", arguments: [false, true])
    func renewedCertificate(speaksHTTP2: Bool) async throws {
        let authority = try TestAuthority()
        let connection = { (authority: TestAuthority) in
            // The client's connection ends soon after its response, so that the next request needs another.
            var connection = TestServer.Connection(try authority.identity(for: ["localhost"]), closesAfter: .milliseconds(500))
            connection.speaksHTTP2 = speaksHTTP2
            return connection
        }
        let server = try await TestServer.start(try connection(authority))
        try await SecureHTTPClient.with(trust: try authority.trust()) { client in
            try await client.expectOK(server)
            server.change(to: try connection(authority))
            try await server.closed()
            let before = server.acceptedConnections
            try await client.expectOK(server)
            // A connection with the new certificate, a probe of it, and another connection.
            #expect(server.acceptedConnections >= before + 3)
            server.change(to: try connection(try TestAuthority()))
            try await server.closed()
            let error = await #expect(throws: TransportError.self) { try await client.getAnew(server) }
            #expect(error?.rule == .trust)
        }
        try await server.stop()
    }

    @Test("A client with a fixed address looks up no name, requires the host's certificate there, and takes no other address")
    func fixedAddress() async throws {
        let authority = try TestAuthority()
        // A name that does not resolve.
        let server = try await TestServer.start(TestServer.Connection(try authority.identity(for: ["fixed.invalid"])))
        let client = HTTPClient.secure(TransportConfiguration(), trust: try authority.trust(), connectingTo: "127.0.0.1")
        try await client.expectOK(server, host: "fixed.invalid")
        let error = await #expect(throws: TransportError.self) { try await client.get(server, host: "other.invalid") }
        #expect(error?.rule == .host)
        let before = server.acceptedConnections
        for host in ["127.0.0.1", "[::1]"] {
            await #expect(throws: HTTPClientError.invalidURL) { try await client.get(server, host: host) }
        }
        #expect(server.acceptedConnections == before)
        try await client.shutdown()
        try await server.stop()
    }

    @Test("Of several addresses the first that can be reached is chosen, whatever comes before it") func reachableAddress() async throws {
        let server = try await TestServer.start(TestServer.Connection(nil))
        // Nothing listens at the port of IPv6's loopback address, which the server reserves.
        for addresses in [["127.0.0.1"], ["::1", "127.0.0.1"], ["127.0.0.1", "::1"]] {
            let end = NIODeadline.now() + .hours(1)
            #expect(try await ReachableAddress.first(of: addresses, host: "any", port: server.port, before: end) == "127.0.0.1")
        }
        await #expect(throws: (any Error).self) {
            try await ReachableAddress.first(of: ["::1"], host: "any", port: server.port, before: NIODeadline.now() + .hours(1))
        }
        try await server.stop()
    }

    @Test(
        "A client reaches a server over HTTP/2, with an intermediate certificate, and by address and zone",
        arguments: [
            ("localhost", "127.0.0.1"), ("127.0.0.1", "127.0.0.1"), ("0x7f.1", "127.0.0.1"), ("[::1]", "::1"),
            ("[::1%251]", "::1"), ("[0:0::1]", "::1"),
        ])
    func spellings(host: String, listensAt: String) async throws {
        let authority = try TestAuthority()
        let between = try TestAuthority(named: "between", issuedBy: authority)
        let loopback = [UInt8](repeating: 0, count: 15) + [1]
        let identity = try between.identity(for: ["localhost"], addresses: [[127, 0, 0, 1], loopback], between: [between])
        let stranger = try TestAuthority().identity(for: ["localhost"], addresses: [[127, 0, 0, 1], loopback])
        let other = try between.identity(for: ["other.example"], addresses: [[127, 0, 0, 9]], between: [between])
        var strict = TransportConfiguration()
        strict.allowsLocalNetworking = false
        for configuration in [TransportConfiguration(), strict] {
            for speaksHTTP2 in [false, true] {
                for (identity, isAccepted) in [(identity, true), (stranger, false), (other, false)] {
                    var connection = TestServer.Connection(identity)
                    connection.speaksHTTP2 = speaksHTTP2
                    let server = try await TestServer.start(connection, host: listensAt)
                    try await SecureHTTPClient.with(trust: try authority.trust(), configuration: configuration) { client in
                        if isAccepted {
                            try await client.expectOK(server, host: host)
                            // A probe and a connection. A busy machine may end an attempt after its probe, and take another.
                            #expect(server.acceptedConnections >= 2)
                        } else {
                            await #expect(throws: TransportError.self) { try await client.get(server, host: host) }
                        }
                    }
                    try await server.stop()
                }
            }
        }
    }
}

import AsyncHTTPClient
import NIOCore
import Testing
import VaubanTransport
import VaubanTransportPolicy

/// Loads of media players and of web content, which have global keys of their own.
@Suite struct PurposeTests {
    /// The rules of a program that lets media players alone load everything, and treats local hosts as all others.
    private static var configuration: TransportConfiguration {
        var configuration = TransportConfiguration()
        configuration.allowsLocalNetworking = false
        configuration.allowsArbitraryLoadsForMedia = true
        return configuration
    }

    private static let purposes: [(TransportPurpose, Bool)] = [(.media, true), (.general, false), (.webContent, false)]

    @Test("The purpose of a request decides whether plain HTTP, and a redirect to it, are allowed") func purposes() async throws {
        let authority = try TestAuthority()
        var plain = TestServer.Connection(nil)
        plain.speaksPlainHTTP = true
        let server = try await TestServer.start(plain)
        let target = "http://localhost:\(server.port)/"
        let first = try await TestServer.start(TestServer.Connection(try authority.identity(for: ["localhost"]), redirect: target))
        try await SecureHTTPClient.with(trust: try authority.trust(), configuration: Self.configuration) { client in
            // Twice, since a client keeps connections.
            for (purpose, isAllowed) in Self.purposes + Self.purposes {
                for url in [target, "https://localhost:\(first.port)/"] {
                    do {
                        let text = try await client.textAnew(of: HTTPClientRequest(url: url), purpose: purpose)
                        #expect(isAllowed && text == "ok", "\(purpose) \(url)")
                    } catch let error as TransportError {
                        #expect(!isAllowed && error.rule == .insecureHTTP, "\(purpose) \(url)")
                    }
                }
            }
            // A load without a purpose is not that of a media player.
            await #expect(throws: TransportError.self) { try await client.execute(HTTPClientRequest(url: target), timeout: .hours(1)) }
        }
        try await first.stop()
        try await server.stop()
    }

    @Test("A connection that was made for one purpose is not used for another") func connections() async throws {
        let authority = try TestAuthority()
        let server = try await TestServer.start(TestServer.Connection(try authority.identity(for: ["localhost"])))
        try await SecureHTTPClient.with(trust: try authority.trust(), configuration: Self.configuration) { client in
            var before = 0
            for purpose in [TransportPurpose.media, .general] {
                let request = HTTPClientRequest(url: "https://localhost:\(server.port)/")
                let text = try await client.textAnew(of: request, purpose: purpose)
                #expect(text == "ok")
                // A probe and a connection. A busy machine may end an attempt after its probe, and take another.
                #expect(server.acceptedConnections >= before + 2)
                before = server.acceptedConnections
            }
        }
        try await server.stop()
    }
}

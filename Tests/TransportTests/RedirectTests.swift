import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import Testing
import VaubanTransport
import VaubanTransportPolicy

/// How a redirect changes a request (RFC 9110, 15.4).
@Suite struct RedirectTests {
    private static func request(_ method: HTTPMethod, headers: HTTPHeaders = [:], body: String? = nil) -> HTTPClientRequest {
        var request = HTTPClientRequest(url: "https://a.example/from")
        request.method = method
        request.headers = headers
        request.body = body.map { .bytes(ByteBuffer(string: $0)) }
        return request
    }

    private static func response(_ status: HTTPResponseStatus, location: String = "/to") -> HTTPClientResponse {
        HTTPClientResponse(version: .http1_1, status: status, headers: ["Location": location], body: .init(), history: [])
    }

    private static let methods: [HTTPMethod] = [.GET, .HEAD, .POST, .PUT, .DELETE, .PATCH, .OPTIONS]

    @Test(
        "A redirect keeps the method, except with 303, and for POST with 301 and 302",
        arguments: [
            (.movedPermanently, [.GET, .HEAD, .GET, .PUT, .DELETE, .PATCH, .OPTIONS]),
            (.found, [.GET, .HEAD, .GET, .PUT, .DELETE, .PATCH, .OPTIONS]),
            (.seeOther, [.GET, .HEAD, .GET, .GET, .GET, .GET, .GET]),
            (.temporaryRedirect, [.GET, .HEAD, .POST, .PUT, .DELETE, .PATCH, .OPTIONS]),
            (.permanentRedirect, [.GET, .HEAD, .POST, .PUT, .DELETE, .PATCH, .OPTIONS]),
        ] as [(HTTPResponseStatus, [HTTPMethod])])
    func methods(status: HTTPResponseStatus, expected: [HTTPMethod]) throws {
        for (method, after) in zip(Self.methods, expected) {
            let next = try #require(Self.request(method).redirected(by: Self.response(status)))
            #expect(next.method == after && next.url == "https://a.example/to", "\(method)")
        }
        for (method, after) in zip(Self.methods, expected) {
            // A body is dropped with its method, or not sent anywhere else.
            let next = Self.request(method, body: "text").redirected(by: Self.response(status))
            #expect((next != nil) == (method == .POST && after == .GET || status == .seeOther && method != .HEAD), "\(method)")
            #expect(next?.body == nil)
        }
    }

    @Test("A redirect without the body drops the headers of the body, in any case, and keeps the others") func headersOfTheBody() throws {
        let headers: HTTPHeaders = [
            "Content-Type": "text/plain", "Content-Encoding": "gzip", "content-length": "4", "CONTENT-LANGUAGE": "en",
            "Content-Location": "/x", "Content-Digest": "x", "Content-Range": "bytes 0-3/4", "Digest": "x", "Repr-Digest": "x",
            "Last-Modified": "x", "Transfer-Encoding": "chunked", "Trailer": "Digest", "Expect": "100-continue",
            "Accept": "*/*", "Authorization": "x", "X-Content-Type": "x",
        ]
        for status in [HTTPResponseStatus.movedPermanently, .found, .seeOther] {
            let next = try #require(Self.request(.POST, headers: headers, body: "text").redirected(by: Self.response(status)))
            #expect(next.headers.map { $0.name }.sorted() == ["Accept", "Authorization", "X-Content-Type"])
        }
        let kept = try #require(Self.request(.PUT, headers: headers).redirected(by: Self.response(.found)))
        #expect(kept.headers.count == headers.count)
        let elsewhere = try #require(
            Self.request(.DELETE, headers: headers).redirected(by: Self.response(.found, location: "https://b.example/")))
        #expect(elsewhere.headers.first(name: "Authorization") == nil && elsewhere.headers.first(name: "Accept") != nil)
    }

    @Test("A redirected DELETE stays a DELETE") func redirectedDelete() async throws {
        let authority = try TestAuthority()
        let identity = try authority.identity(for: ["localhost"])
        var last = TestServer.Connection(identity)
        last.answersWithMethod = true
        let server = try await TestServer.start(last)
        let first = try await TestServer.start(TestServer.Connection(identity, redirect: "https://localhost:\(server.port)/"))
        try await SecureHTTPClient.with(trust: try authority.trust()) { client in
            var request = HTTPClientRequest(url: "https://localhost:\(first.port)/")
            request.method = .DELETE
            let text = try await client.textAnew(of: request)
            #expect(text == "DELETE")
        }
        try await first.stop()
        try await server.stop()
    }

    @Test(
        "A redirect to plain HTTP at an address of the Internet is refused before it is followed",
        arguments: ["203.0.113.7", "0xcb007107", "[2001:db8::7]", "[::ffff:203.0.113.7]"])
    func redirectToAddress(host: String) async throws {
        let authority = try TestAuthority()
        let connection = TestServer.Connection(try authority.identity(for: ["localhost"]), redirect: "http://\(host)/")
        let server = try await TestServer.start(connection)
        for allowed in [nil, true] as [Bool?] {
            var configuration = TransportConfiguration()
            configuration.allowsLocalNetworking = allowed
            try await SecureHTTPClient.with(trust: try authority.trust(), configuration: configuration) { client in
                let error = await #expect(throws: TransportError.self) { try await client.getAnew(server) }
                #expect(error?.rule == .insecureHTTP && error?.host != "localhost")
            }
        }
        try await server.stop()
    }
}

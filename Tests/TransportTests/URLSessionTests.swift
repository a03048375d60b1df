import Foundation
import FoundationNetworking
import Synchronization
import Testing
import VaubanTransportPolicy

/// Foundation's own client, whose delegate judges redirects with `TransportConfiguration.check`.
@Suite struct URLSessionTests {
    /// What a task ended with: a status, and the rules by which redirects were refused.
    private struct Outcome: Equatable {
        let status: Int?
        let refusals: [TransportError.Rule]
    }

    /// Loads a URL, and returns when the task has ended.
    private static func load(_ url: URL, _ configuration: TransportConfiguration) async throws -> Outcome {
        try configuration.check(url)
        let redirects = JudgedRedirects(configuration)
        let ephemeral = URLSessionConfiguration.ephemeral
        ephemeral.timeoutIntervalForRequest = 600
        let session = URLSession(configuration: ephemeral, delegate: redirects, delegateQueue: nil)
        let status = await withCheckedContinuation { continuation in
            session.dataTask(with: url) { _, response, _ in
                continuation.resume(returning: (response as? HTTPURLResponse)?.statusCode)
            }.resume()
        }
        session.finishTasksAndInvalidate()
        return Outcome(status: status, refusals: redirects.refusals)
    }

    private static func plain(redirect: String? = nil) async throws -> (server: TestServer, url: URL) {
        var connection = TestServer.Connection(nil, redirect: redirect)
        connection.speaksPlainHTTP = true
        let server = try await TestServer.start(connection)
        return (server, try #require(URL(string: "http://127.0.0.1:\(server.port)/")))
    }

    @Test("A redirect that the rules allow is followed") func allowed() async throws {
        let last = try await Self.plain()
        let first = try await Self.plain(redirect: last.url.absoluteString)
        #expect(try await Self.load(first.url, TransportConfiguration()) == Outcome(status: 200, refusals: []))
        #expect(last.server.acceptedConnections >= 1)
        try await first.server.stop()
        try await last.server.stop()
    }

    @Test(
        "A redirect to plain HTTP outside this machine is refused, and the redirect is the response",
        arguments: ["http://203.0.113.7/", "http://0xcb007107/", "http://www.example.com/", "HTTP://[2001:db8::7]/"])
    func refused(target: String) async throws {
        let first = try await Self.plain(redirect: target)
        #expect(try await Self.load(first.url, TransportConfiguration()) == Outcome(status: 302, refusals: [.insecureHTTP]))
        try await first.server.stop()
    }

    @Test("A redirect is judged by the exceptions of the program") func exceptions() async throws {
        let last = try await Self.plain()
        let target = "http://127.0.0.1:\(last.server.port)/"
        let first = try await Self.plain(redirect: target)
        var configuration = TransportConfiguration()
        configuration.allowsLocalNetworking = false
        let error = #expect(throws: TransportError.self) { try configuration.check(first.url) }
        #expect(error?.rule == .insecureHTTP && error?.host == "127.0.0.1")
        var exception = DomainException()
        exception.allowsInsecureHTTPLoads = true
        configuration.exceptions["127.0.0.1"] = exception
        #expect(try await Self.load(first.url, configuration) == Outcome(status: 200, refusals: []))
        try await first.server.stop()
        try await last.server.stop()
    }
}

/// Follows only redirects that the rules allow.
private final class JudgedRedirects: NSObject, URLSessionTaskDelegate, Sendable {
    private let configuration: TransportConfiguration
    private let refused = Mutex<[TransportError.Rule]>([])

    init(_ configuration: TransportConfiguration) { self.configuration = configuration }

    var refusals: [TransportError.Rule] { refused.withLock { $0 } }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse, newRequest request: URLRequest,
        completionHandler: @escaping (URLRequest?) -> Void
    ) {
        guard let url = request.url else { return completionHandler(nil) }
        do throws(TransportError) {
            try configuration.check(url)
            completionHandler(request)
        } catch {
            refused.withLock { $0.append(error.rule) }
            completionHandler(nil)
        }
    }
}

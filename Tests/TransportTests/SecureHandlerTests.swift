import NIOCore
import NIOPosix
import NIOSSL
import NIOTLS
import Testing
import VaubanTransport
import VaubanTransportPolicy

/// What `NIOSSLClientHandler.secure` accepts, by its public name alone.
@Suite struct SecureHandlerTests {
    /// Every kind of requirements: none of them may accept a certificate that is not trusted.
    enum Declaration: String, CaseIterable, Sendable {
        case nothing, noForwardSecrecy, everythingForTheHost, arbitraryLoads, olderSDK, localNetworkingRefused, media

        func requirements(for host: String, port: Int) throws -> TransportRequirements {
            var configuration = TransportConfiguration()
            var exception = DomainException()
            exception.requiresForwardSecrecy = false
            switch self {
            case .nothing: break
            case .noForwardSecrecy: configuration.exceptions[host] = exception
            case .everythingForTheHost:
                exception.allowsInsecureHTTPLoads = true
                exception.minimumVersion = .tls10
                configuration.exceptions[host] = exception
            case .arbitraryLoads: configuration.allowsArbitraryLoads = true
            case .olderSDK: configuration.sdk = try #require(TransportSDK(name: "macosx10.10"))
            case .localNetworkingRefused: configuration.allowsLocalNetworking = false
            case .media: configuration.allowsArbitraryLoadsForMedia = true
            }
            return TransportRequirements(
                host: host, port: port, configuration: configuration, purpose: self == .media ? .media : .general)
        }
    }

    enum Flaw: String, CaseIterable, Sendable { case selfSigned, expired, otherHost, unknownAuthority }

    /// A name, one without a dot, one under `.local`, and addresses.
    static let hosts = ["www.example.com", "printer", "printer.local", "printer.local.", "127.0.0.1", "[::1]", "0x7f000001"]

    private static func address(of host: String) -> [UInt8]? {
        switch host {
        case "127.0.0.1", "0x7f000001": [127, 0, 0, 1]
        case "[::1]": [UInt8](repeating: 0, count: 15) + [1]
        default: nil
        }
    }

    /// Returns the error that ends the handshake, or nil if it completes.
    private static func handshake(with server: TestServer, requirements: TransportRequirements, trust: TransportTrust) async throws
        -> (any Error)?
    {
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let ended = loop.makePromise(of: Void.self)
        let channel = try await ClientBootstrap(group: loop).channelInitializer { channel in
            channel.eventLoop.makeCompletedFuture {
                try channel.pipeline.syncOperations.addHandlers(
                    [try NIOSSLClientHandler.secure(requirements, trust: trust), HandshakeEnd(ended)])
            }
        }.connect(host: server.host, port: server.port).get()
        defer { channel.close(promise: nil) }
        do {
            try await ended.futureResult.get()
            return nil
        } catch {
            return error
        }
    }

    private static func identity(_ authority: TestAuthority, for host: String, isExpired: Bool = false) throws -> TestAuthority.Identity {
        if let address = address(of: host) { return try authority.identity(for: [], addresses: [address], isExpired: isExpired) }
        let name = host.hasSuffix(".") ? String(host.dropLast()) : host
        return try authority.identity(for: [name], isExpired: isExpired)
    }

    @Test("An untrusted certificate is refused under every exception", arguments: Declaration.allCases, hosts)
    func refusesUntrusted(declaration: Declaration, host: String) async throws {
        let authority = try TestAuthority(), stranger = try TestAuthority()
        let trust = try authority.trust()
        for flaw in Flaw.allCases {
            let identity =
                switch flaw {
                case .selfSigned: try TestAuthority.selfSigned(for: host)
                case .expired: try Self.identity(authority, for: host, isExpired: true)
                case .otherHost: try authority.identity(for: ["other.example"], addresses: [[127, 0, 0, 9]])
                case .unknownAuthority: try Self.identity(stranger, for: host)
                }
            let server = try await TestServer.start(TestServer.Connection(identity))
            let requirements = try declaration.requirements(for: host, port: server.port)
            #expect(try await Self.handshake(with: server, requirements: requirements, trust: trust) != nil, "\(flaw) was accepted")
            try await server.stop()
        }
    }

    @Test("A certificate of a trusted authority for the host is accepted", arguments: Declaration.allCases, hosts)
    func acceptsTrusted(declaration: Declaration, host: String) async throws {
        let authority = try TestAuthority()
        let server = try await TestServer.start(
            TestServer.Connection(try Self.identity(authority, for: host)), host: Self.address(of: host)?.count == 16 ? "::1" : "127.0.0.1")
        let requirements = try declaration.requirements(for: host, port: server.port)
        #expect(try await Self.handshake(with: server, requirements: requirements, trust: try authority.trust()) == nil)
        try await server.stop()
    }

    @Test("A chain with an intermediate certificate is accepted, and not without it") func intermediate() async throws {
        let authority = try TestAuthority()
        let between = try TestAuthority(named: "between", issuedBy: authority)
        for (chain, isAccepted) in [([between], true), ([], false)] {
            let identity = try between.identity(for: ["www.example.com"], between: chain)
            let server = try await TestServer.start(TestServer.Connection(identity))
            let requirements = TransportRequirements(host: "www.example.com", port: server.port)
            let error = try await Self.handshake(with: server, requirements: requirements, trust: try authority.trust())
            #expect((error == nil) == isAccepted)
            try await server.stop()
        }
    }

    @Test("A host that is not a valid name is refused") func unusableHost() async throws {
        let authority = try TestAuthority()
        let server = try await TestServer.start(TestServer.Connection(try authority.identity(for: ["evil.com"])))
        let requirements = TransportRequirements(host: "evil.com\0.local", port: server.port)
        #expect(requirements.basis == .standard)
        await #expect(throws: (any Error).self) {
            if let error = try await Self.handshake(with: server, requirements: requirements, trust: try authority.trust()) { throw error }
        }
        try await server.stop()
    }
}

/// Completes a promise when a handshake completes or the connection ends.
private final class HandshakeEnd: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    private let ended: EventLoopPromise<Void>

    init(_ ended: EventLoopPromise<Void>) { self.ended = ended }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case .handshakeCompleted? = event as? TLSUserEvent { ended.succeed() }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { ended.fail(error) }

    func channelInactive(context: ChannelHandlerContext) { ended.fail(ChannelError.eof) }
}

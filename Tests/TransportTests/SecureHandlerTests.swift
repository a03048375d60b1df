import NIOCore
import NIOPosix
import NIOSSL
import NIOTLS
import Testing
import VaubanTransport
import VaubanTransportPolicy
import X509

/// What `addSecureHandlers` accepts, by its public name alone, and the rule by which it refuses everything else.
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

    enum Flaw: String, CaseIterable, Sendable {
        case selfSigned, expired, notYetValid, otherHost, otherPurpose, unknownAuthority

        var rule: TransportError.Rule {
            switch self {
            case .expired, .notYetValid: .expired
            case .otherHost: .host
            case .selfSigned, .otherPurpose, .unknownAuthority: .trust
            }
        }
    }

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
    private static func handshake(
        with server: TestServer, requirements: TransportRequirements, trust: TransportTrust, byHandlerAlone: Bool = false
    ) async throws -> (any Error)? {
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let ended = loop.makePromise(of: Void.self)
        // A host's name would be resolved on a Dispatch queue, which waits while other tests keep its threads.
        let address = try SocketAddress(ipAddress: server.host, port: server.port)
        let channel = try await ClientBootstrap(group: loop).connectTimeout(.hours(1)).channelInitializer { channel in
            channel.eventLoop.makeCompletedFuture {
                let pipeline = channel.pipeline.syncOperations
                if byHandlerAlone {
                    try pipeline.addHandler(NIOSSLClientHandler.secure(requirements, trust: trust))
                } else {
                    try pipeline.addSecureHandlers(requirements, trust: trust)
                }
                try pipeline.addHandler(HandshakeEnd(ended))
            }
        }.connect(to: address).get()
        defer { channel.close(promise: nil) }
        do {
            try await ended.futureResult.get()
            return nil
        } catch {
            return error
        }
    }

    private static func identity(
        _ authority: TestAuthority, for host: String, validity: TestAuthority.Validity = .now, purposes: [ExtendedKeyUsage.Usage] = []
    ) throws -> TestAuthority.Identity {
        let address = Self.address(of: host)
        let name = host.hasSuffix(".") ? String(host.dropLast()) : host
        return try authority.identity(
            for: address == nil ? [name] : [], addresses: address.map { [$0] } ?? [], validity: validity, purposes: purposes)
    }

    @Test("An untrusted certificate is refused under every exception, and the error names the rule", arguments: Declaration.allCases, hosts)
    func refusesUntrusted(declaration: Declaration, host: String) async throws {
        let authority = try TestAuthority(), stranger = try TestAuthority()
        let trust = try authority.trust()
        for flaw in Flaw.allCases {
            let identity =
                switch flaw {
                case .selfSigned: try TestAuthority.selfSigned(for: host)
                case .expired: try Self.identity(authority, for: host, validity: .earlier)
                case .notYetValid: try Self.identity(authority, for: host, validity: .later)
                case .otherPurpose: try Self.identity(authority, for: host, purposes: [.clientAuth])
                case .otherHost: try authority.identity(for: ["other.example"], addresses: [[127, 0, 0, 9]])
                case .unknownAuthority: try Self.identity(stranger, for: host)
                }
            let server = try await TestServer.start(TestServer.Connection(identity))
            let requirements = try declaration.requirements(for: host, port: server.port)
            let error = try await Self.handshake(with: server, requirements: requirements, trust: trust)
            #expect((error as? TransportError)?.rule == flaw.rule, "\(flaw): \(String(describing: error))")
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

    @Test("A certificate that lists the purpose of a server is accepted") func listedPurpose() async throws {
        let authority = try TestAuthority()
        let identity = try Self.identity(authority, for: "www.example.com", purposes: [.clientAuth, .serverAuth])
        let server = try await TestServer.start(TestServer.Connection(identity))
        let requirements = TransportRequirements(host: "www.example.com", port: server.port)
        #expect(try await Self.handshake(with: server, requirements: requirements, trust: try authority.trust()) == nil)
        try await server.stop()
    }

    @Test("A server without an allowed version is refused by the rule for versions") func version() async throws {
        let authority = try TestAuthority()
        var connection = TestServer.Connection(try authority.identity(for: ["www.example.com"]))
        connection.maximumVersion = .tlsv12
        let server = try await TestServer.start(connection)
        var configuration = TransportConfiguration()
        var exception = DomainException()
        for (minimum, rule) in [(.tls12, nil), (.tls13, .minimumVersion)] as [(TransportVersion, TransportError.Rule?)] {
            exception.minimumVersion = minimum
            configuration.exceptions["www.example.com"] = exception
            let requirements = TransportRequirements(host: "www.example.com", port: server.port, configuration: configuration)
            let error = try await Self.handshake(with: server, requirements: requirements, trust: try authority.trust())
            #expect((error as? TransportError)?.rule == rule && (error == nil) == (rule == nil), "\(String(describing: error))")
        }
        try await server.stop()
    }

    @Test("The handler alone decides alike, and reports a refusal as NIOSSL does") func handlerAlone() async throws {
        let authority = try TestAuthority(), stranger = try TestAuthority()
        for (issuer, isAccepted) in [(authority, true), (stranger, false)] {
            let server = try await TestServer.start(TestServer.Connection(try issuer.identity(for: ["www.example.com"])))
            let requirements = TransportRequirements(host: "www.example.com", port: server.port)
            let error = try await Self.handshake(
                with: server, requirements: requirements, trust: try authority.trust(), byHandlerAlone: true)
            #expect(isAccepted ? error == nil : error is NIOSSLError)
            try await server.stop()
        }
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
        let error = await #expect(throws: TransportError.self) {
            if let error = try await Self.handshake(with: server, requirements: requirements, trust: try authority.trust()) { throw error }
        }
        #expect(error?.rule == .invalidHost)
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

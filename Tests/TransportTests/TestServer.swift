import Glibc
import NIOCore
import NIOPosix
import NIOSSL
import Synchronization
import Testing

/// A server in this process, on a free port of the loopback interface.
final class TestServer: Sendable {
    /// The behavior of a client's connection.
    struct Connection: Sendable {
        var identity: TestAuthority.Identity?
        /// The location of a redirect, else the response is 200.
        var redirect: String?
        /// Closes the connection so long after the handshake.
        var closesAfter: TimeAmount?
        var speaksHTTP2 = false
        /// Answers without TLS.
        var speaksPlainHTTP = false
        /// Answers with the method of the request in place of `ok`, in HTTP/1.1.
        var answersWithMethod = false
        /// The newest version of TLS; nil for no limit.
        var maximumVersion: TLSVersion?
        /// Ends the connection in HTTP/2 as soon as it begins, in order.
        var goesAwayAtOnce = false

        init(_ identity: TestAuthority.Identity?, redirect: String? = nil, closesAfter: TimeAmount? = nil) {
            (self.identity, self.redirect, self.closesAfter) = (identity, redirect, closesAfter)
        }
    }

    let host: String
    let port: Int
    private let channel: any Channel
    /// The socket that reserves the port's number at IPv6's loopback address; -1 for none.
    private let reservation: Int32
    private let state: Mutex<State>

    struct State {
        /// For each connection in turn; the last one for all that follow. Without an identity, connections are accepted and get no answer.
        var connections: [Connection]
        var accepted = 0
        var open = 0
        var waiting: [(count: Int, promise: EventLoopPromise<Void>)] = []
        var waitingForClose: [EventLoopPromise<Void>] = []
    }

    static func start(_ connections: Connection..., host: String = "127.0.0.1") async throws -> TestServer {
        let accept = Mutex<(@Sendable (any Channel) throws -> Void)?>(nil)
        if host == "::1",
            (try? await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton).bind(host: host, port: 0).get().close()) == nil
        {
            try Test.cancel("this machine has no IPv6")
        }
        let bootstrap = ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { child in
                child.eventLoop.makeCompletedFuture { try accept.withLock { $0 }?(child) }
            }
        while true {
            let channel = try await bootstrap.bind(host: host, port: 0).get()
            guard let reservation = try host == "::1" ? -1 : reserve(channel.localAddress?.port ?? 0) else {
                try await channel.close()
                continue
            }
            let server = TestServer(channel, connections, host: host, reservation: reservation)
            accept.withLock { $0 = { [unowned server] in try server.accept($0) } }
            return server
        }
    }

    private init(_ channel: any Channel, _ connections: [Connection], host: String, reservation: Int32) {
        self.channel = channel
        self.host = host
        self.reservation = reservation
        port = channel.localAddress?.port ?? 0
        state = Mutex(State(connections: connections))
    }

    deinit { close(reservation) }

    /// Binds IPv6's loopback address to the port without listening, since a client of localhost may try it first and reach another server
    /// there. Returns the socket, which is bound to nothing where there is no IPv6, or nil if the port is taken.
    private static func reserve(_ port: Int) throws -> Int32? {
        let number = socket(AF_INET6, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        let address = try SocketAddress(ipAddress: "::1", port: port)
        guard address.withSockAddr({ bind(number, $0, socklen_t($1)) }) != 0, errno == EADDRINUSE else { return number }
        close(number)
        return nil
    }

    var openConnections: Int { state.withLock { $0.open } }
    var acceptedConnections: Int { state.withLock { $0.accepted } }

    /// Makes all connections from now on like this.
    func change(to connection: Connection) { state.withLock { $0.connections = [connection] } }

    /// Returns when so many connections were accepted, or when the request has ended without them.
    func accepted(_ count: Int, orEndOf request: Task<String, any Error>? = nil) async throws {
        let promise = channel.eventLoop.makePromise(of: Void.self)
        state.withLock { if $0.accepted >= count { promise.succeed() } else { $0.waiting.append((count, promise)) } }
        if let request {
            Task {
                _ = await request.result
                promise.succeed()
            }
        }
        try await promise.futureResult.get()
    }

    /// Returns when no connection is open.
    func closed() async throws {
        let promise = channel.eventLoop.makePromise(of: Void.self)
        state.withLock { if $0.open == 0 { promise.succeed() } else { $0.waitingForClose.append(promise) } }
        try await promise.futureResult.get()
    }

    func stop() async throws { try await channel.close() }

    private func accept(_ child: any Channel) throws {
        let connection = state.withLock { state in
            let connection = state.connections[min(state.accepted, state.connections.count - 1)]
            state.accepted += 1
            state.open += 1
            for waiting in state.waiting where waiting.count <= state.accepted { waiting.promise.succeed() }
            state.waiting.removeAll { $0.count <= state.accepted }
            return connection
        }
        child.closeFuture.whenComplete { [weak self] _ in
            self?.state.withLock { state in
                state.open -= 1
                guard state.open == 0 else { return }
                for promise in state.waitingForClose { promise.succeed() }
                state.waitingForClose = []
            }
        }
        if connection.speaksPlainHTTP { return try child.pipeline.syncOperations.addHandler(TestResponder(connection)) }
        guard let identity = connection.identity else { return }
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: identity.chain.map { .certificate($0) }, privateKey: .privateKey(identity.key))
        configuration.applicationProtocols = connection.speaksHTTP2 ? ["h2"] : ["http/1.1"]
        configuration.maximumTLSVersion = connection.maximumVersion
        let context = try NIOSSLContext(configuration: configuration)
        try child.pipeline.syncOperations.addHandlers([NIOSSLServerHandler(context: context), TestResponder(connection)])
    }
}

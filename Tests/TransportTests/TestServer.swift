import NIOCore
import NIOPosix
import NIOSSL
import Synchronization
import Testing

/// A server in this process, on a free port of the loopback interface.
final class TestServer: Sendable {
    /// What a connection of a client gets.
    struct Connection: Sendable {
        var identity: TestAuthority.Identity?
        /// The location of a redirect, else the response is 200.
        var redirect: String?
        /// Closes the connection so long after the handshake.
        var closesAfter: TimeAmount?
        var speaksHTTP2 = false
        /// Ends the connection in HTTP/2 as soon as it begins, in order.
        var goesAwayAtOnce = false

        init(_ identity: TestAuthority.Identity?, redirect: String? = nil, closesAfter: TimeAmount? = nil) {
            (self.identity, self.redirect, self.closesAfter) = (identity, redirect, closesAfter)
        }
    }

    let host: String
    let port: Int
    private let channel: any Channel
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
        let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { child in
                child.eventLoop.makeCompletedFuture { try accept.withLock { $0 }?(child) }
            }
            .bind(host: host, port: 0).get()
        let server = TestServer(channel, connections, host: host)
        accept.withLock { $0 = { [unowned server] in try server.accept($0) } }
        return server
    }

    private init(_ channel: any Channel, _ connections: [Connection], host: String) {
        self.channel = channel
        self.host = host
        port = channel.localAddress?.port ?? 0
        state = Mutex(State(connections: connections))
    }

    var openConnections: Int { state.withLock { $0.open } }
    var acceptedConnections: Int { state.withLock { $0.accepted } }

    /// Makes all connections from now on like this.
    func change(to connection: Connection) { state.withLock { $0.connections = [connection] } }

    /// Returns when so many connections were accepted.
    func accepted(_ count: Int) async throws {
        let promise = channel.eventLoop.makePromise(of: Void.self)
        state.withLock { if $0.accepted >= count { promise.succeed() } else { $0.waiting.append((count, promise)) } }
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
        guard let identity = connection.identity else { return }
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: identity.chain.map { .certificate($0) }, privateKey: .privateKey(identity.key))
        configuration.applicationProtocols = connection.speaksHTTP2 ? ["h2"] : ["http/1.1"]
        let context = try NIOSSLContext(configuration: configuration)
        try child.pipeline.syncOperations.addHandlers([NIOSSLServerHandler(context: context), TestResponder(connection)])
    }
}

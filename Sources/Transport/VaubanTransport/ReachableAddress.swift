#if Transport
package import NIOCore
import NIOPosix

/// Which of a host's addresses is reached first.
package enum ReachableAddress {
    /// Returns the address that a connection was made to first, as RFC 8305 tries them: IPv6 before IPv4, the next one soon after. The
    /// connection is closed again. No name is looked up: that of the host is for messages alone.
    /// - Throws: An error of NIO if no address can be reached before the deadline.
    package static func first(
        of addresses: [String], host: String, port: Int, before deadline: NIODeadline
    ) async throws -> String {
        let known = try addresses.map { try SocketAddress(ipAddress: $0, port: port) }
        let timeout = deadline - .now()
        guard timeout > .zero else { throw ChannelError.connectTimeout(.zero) }
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let channel = try await ClientBootstrap(group: loop).resolver(KnownAddresses(known, loop)).connectTimeout(timeout)
            .connect(host: host, port: port).get()
        defer { channel.close(promise: nil) }
        guard let reached = channel.remoteAddress?.ipAddress else { throw ChannelError.unknownLocalAddress }
        return reached
    }
}

/// Answers with addresses that are known before.
private final class KnownAddresses: Resolver, Sendable {
    private let addresses: [SocketAddress]
    private let loop: any EventLoop

    init(_ addresses: [SocketAddress], _ loop: any EventLoop) { (self.addresses, self.loop) = (addresses, loop) }

    func initiateAQuery(host: String, port: Int) -> EventLoopFuture<[SocketAddress]> {
        loop.makeSucceededFuture(addresses.filter { $0.protocol == .inet })
    }

    func initiateAAAAQuery(host: String, port: Int) -> EventLoopFuture<[SocketAddress]> {
        loop.makeSucceededFuture(addresses.filter { $0.protocol == .inet6 })
    }

    func cancelQueries() {}
}
#endif

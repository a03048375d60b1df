#if Transport
package import NIOCore
import NIOPosix

/// Finds which of a host's addresses is reached first.
package enum ReachableAddress {
    /// Returns the address to which a connection was established first, trying them as in RFC 8305: IPv6 before IPv4, each soon after the
    /// one before. Closes the connection again. Looks up no name: the host's name is only for messages.
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

/// A resolver that returns addresses that are already known.
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

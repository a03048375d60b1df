import Glibc
package import VaubanSecretBytes

/// A client's connections to one socket: a small pool, so that a call that waits for the user does not block another thread's call. A
/// connection belongs to the process that established it; a forked child establishes its own.
package final class ServiceConnection: Sendable {
    private let service: Service
    private let address: ServerAddress
    private let role: Int64
    private let startsService: Bool
    private let idle = ProcessPool<Channel>()

    /// Creates a pool without connections. With `startsService` false, a stopped service is not started.
    package init(service: Service, address: ServerAddress, role: Int64 = 0, startsService: Bool = true) {
        self.service = service
        self.address = address
        self.role = role
        self.startsService = startsService
    }

    /// Sends a request and returns the connection on which its replies arrive. If an idle connection was closed meanwhile without accepting
    /// any of the request, sends the request again on a fresh one. `watch` gets the connection before anything is sent.
    package func send(
        _ header: [UInt8], _ secret: borrowing SecretBytes?, watch: (Channel) -> Void = { _ in }
    ) throws(HandshakeError) -> Channel {
        let (channel, isFresh) = try take()
        watch(channel)
        do throws(ChannelError) {
            try Self.send(header, secret, on: channel)
            return channel
        } catch {
            guard case .closed = error, !isFresh else { throw .channel(error) }
        }
        let another = try fresh()
        watch(another)
        do throws(ChannelError) { try Self.send(header, secret, on: another) } catch { throw .channel(error) }
        return another
    }

    /// Sends several requests in one write and returns the connection on which their replies arrive, in the same order. Sends all of them
    /// again on a fresh connection in the same case as for one request.
    package func send(each headers: [[UInt8]], watch: (Channel) -> Void = { _ in }) throws(HandshakeError) -> Channel {
        let (channel, isFresh) = try take()
        watch(channel)
        do throws(ChannelError) {
            try channel.send(headers: headers)
            return channel
        } catch {
            guard case .closed = error, !isFresh else { throw .channel(error) }
        }
        let another = try fresh()
        watch(another)
        do throws(ChannelError) { try another.send(headers: headers) } catch { throw .channel(error) }
        return another
    }

    private static func send(_ header: [UInt8], _ secret: borrowing SecretBytes?, on channel: Channel) throws(ChannelError) {
        switch secret {
        case .some(let secret): try channel.send(header: header, secret: secret)
        case .none: try channel.send(header: header)
        }
    }

    /// Returns a connection for one call, and whether it is a fresh one.
    private func take() throws(HandshakeError) -> (channel: Channel, isFresh: Bool) {
        if let kept = idle.take() { return (kept, false) }
        return (try fresh(), true)
    }

    /// Establishes a new connection. If a user-mode service is set up but not running, starts it once.
    package func fresh() throws(HandshakeError) -> Channel {
        do throws(HandshakeError) {
            return try address.connect(role: role, within: ConnectionLimits.replyTime)
        } catch {
            guard case .system = error, startsService, service.home != nil else { throw error }
            let started: Bool
            do throws(SystemError) { started = try ServiceStarter.start(service) } catch { throw .system(error) }
            guard started else { throw whyNotStarted(error) }
            return try address.connect(role: role, within: ConnectionLimits.replyTime)
        }
    }

    private func whyNotStarted(_ error: HandshakeError) -> HandshakeError {
        if DiskSpace.isFull(service.home) { return .system(SystemError("start Vauban", code: ENOSPC)) }
        if case .named(let home) = service.mode, ServiceFile.launcher(home: home) == nil { return .noKeychain(home: home) }
        return error
    }

    /// Keeps a connection whose last call ended normally and can no longer be cancelled.
    package func give(back channel: Channel, _ cancellation: CallCancellation? = nil) {
        idle.give(back: channel, cancellation)
    }
}

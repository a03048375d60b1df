// Serves each connection of a socket on a separate thread: the thread that reads a request answers it, and waiting for the user blocks only
// that connection.

internal import CVaubanLinux
import Glibc

/// A connection whose handshake is complete.
package struct AcceptedConnection: Sendable {
    package let channel: Channel
    package let peer: Peer
    package let role: Int64
    private let slot: ConnectionSlot

    fileprivate init(channel: Channel, peer: Peer, role: Int64, slot: ConnectionSlot) {
        self.channel = channel
        self.peer = peer
        self.role = role
        self.slot = slot
    }

    /// Exempts the connection from being closed while idle to make room, for a connection that serves more than requests.
    package func keepOpenWhileIdle() { slot.stays.withLock { $0 = true } }
}

package final class ConnectionServer: Sendable {
    private let listener: Descriptor
    private let admits: @Sendable (_ uid: UInt32) -> Bool
    private let owner: @Sendable (_ uid: UInt32) -> UInt32
    private let usesPeerDescriptor: Bool
    private let connections: ConnectionTable

    /// Creates a server. `admits` decides, before anything is sent, whether a uid may use this socket. `connections` limits their number
    /// and shares them among owners, which `accounts` determines.
    package init(
        listener: Descriptor, usesPeerDescriptor: Bool = true,
        connections: ConnectionTable = ConnectionTable(max: ConnectionLimits.connectionsMax),
        accounts: Accounts = .ofThisMachine, admits: @escaping @Sendable (UInt32) -> Bool
    ) {
        self.listener = listener
        self.admits = admits
        self.connections = connections
        self.usesPeerDescriptor = usesPeerDescriptor
        owner = { accounts.owner(of: $0) }
    }

    /// Accepts connections until accepting fails. `serve` has exclusive use of a connection, which is closed when it returns. `refused`
    /// gets the reason why a connection ended before that, for the log.
    package func run(
        refused: @escaping @Sendable (HandshakeError, _ uid: UInt32) -> Void, serve: @escaping @Sendable (AcceptedConnection) -> Void
    ) throws(SystemError) -> Never {
        try run(snapshot: { _, _ in }, refused: refused, serve: { connection, _ in serve(connection) })
    }

    /// Does the same, and takes a snapshot of the caller before anything is sent to it, on the thread that serves it afterwards.
    package func run<CallerSnapshot>(
        snapshot: @escaping @Sendable (Descriptor, Peer) throws -> CallerSnapshot,
        refused: @escaping @Sendable (HandshakeError, _ uid: UInt32) -> Void,
        serve: @escaping @Sendable (AcceptedConnection, CallerSnapshot) -> Void
    ) throws(SystemError) -> Never {
        while true {
            let number = vauban_accept(listener.number)
            if number < 0 {
                if [EINTR, ECONNABORTED].contains(-number) { continue }
                if [EMFILE, ENFILE, ENOMEM, ENOBUFS].contains(-number) {
                    // Closes an idle connection at once if there is one; meanwhile callers wait in the listen queue.
                    _ = connections.endOneIdle()
                    poll(nil, 0, ConnectionLimits.shortagePause)
                    continue
                }
                throw SystemError("accept a connection", code: -number)
            }
            let socket = Descriptor(number)
            var pid: Int32 = 0
            var uid: UInt32 = 0
            guard vauban_peer_credentials(number, &pid, &uid) == 0, admits(uid), let place = connections.enter(owner(uid)) else { continue }
            let user = uid
            let serveConnection: @Sendable () -> Void = { [self] in
                defer { connections.leave(place) }
                do throws(HandshakeError) {
                    let (channel, peer, role, callerSnapshot) = try Handshake.accept(socket, usesPeerDescriptor: usesPeerDescriptor) {
                        peer in
                        let callerSnapshot = try snapshot(socket, peer)
                        connections.move(place, to: owner(user))
                        return callerSnapshot
                    }
                    let slot = ConnectionSlot(channel)
                    connections.set(slot, in: place)
                    serve(AcceptedConnection(channel: channel, peer: peer, role: role, slot: slot), callerSnapshot)
                } catch {
                    refused(error, user)
                }
            }
            do throws(SystemError) {
                try HostThread.start(serveConnection)
            } catch {
                // The caller is refused, and the shortage of threads is handled like one of descriptors.
                connections.leave(place)
                _ = connections.endOneIdle()
                poll(nil, 0, ConnectionLimits.shortagePause)
            }
        }
    }
}

/// The state of a connection that the table of connections uses.
private final class ConnectionSlot: ConnectionEntry {
    let stays = ThreadMutex(false)
    private let channel: Channel

    init(_ channel: Channel) { self.channel = channel }

    var idleSince: UInt64? { stays.withLock { $0 } ? nil : channel.idleSince }
    func endWhenIdle() { channel.endWhenIdle() }
}

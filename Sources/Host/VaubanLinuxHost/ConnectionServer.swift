// A door serves each connection on a thread of its own: a request is answered by the thread that read it, and a wait
// for the user parks that connection and nothing else.

internal import CVaubanLinux
import Foundation
import Glibc

/// A connection whose handshake is done.
package struct AcceptedConnection: Sendable {
    package let channel: Channel
    package let peer: Peer
    package let role: Int64
    private let seat: ConnectionSlot

    fileprivate init(channel: Channel, peer: Peer, role: Int64, seat: ConnectionSlot) {
        self.channel = channel
        self.peer = peer
        self.role = role
        self.seat = seat
    }

    /// Exempts the connection from being closed while it is idle, because more hangs on it than its next request.
    package func stay() { seat.stays.withLock { $0 = true } }
}

package final class ConnectionServer: Sendable {
    private let listener: Descriptor
    private let admits: @Sendable (_ uid: UInt32) -> Bool
    private let owner: @Sendable (_ uid: UInt32) -> UInt32
    private let usesPeerDescriptor: Bool
    private let connections: ConnectionTable

    /// `admits` says, before a word is said, whether a uid may speak at this door at all. `connections` bounds how many there
    /// are, and shares them among owners; whose a uid is says `accounts`.
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

    /// Accepts for ever. `serve` owns the connection until it returns; then the connection is closed. `refused` hears
    /// why a connection ended before that, for the log.
    package func run(
        refused: @escaping @Sendable (HandshakeError, _ uid: UInt32) -> Void, serve: @escaping @Sendable (AcceptedConnection) -> Void
    ) throws(SystemError) -> Never {
        try run(look: { _, _ in }, refused: refused, serve: { visitor, _ in serve(visitor) })
    }

    /// The same with a look at the caller before the first word to it, on the thread that then serves it.
    package func run<CallerSnapshot>(
        look: @escaping @Sendable (Descriptor, Peer) throws -> CallerSnapshot,
        refused: @escaping @Sendable (HandshakeError, _ uid: UInt32) -> Void,
        serve: @escaping @Sendable (AcceptedConnection, CallerSnapshot) -> Void
    ) throws(SystemError) -> Never {
        while true {
            let number = vauban_accept(listener.number)
            if number < 0 {
                if [EINTR, ECONNABORTED].contains(-number) { continue }
                if [EMFILE, ENFILE, ENOMEM, ENOBUFS].contains(-number) {
                    // Room is made at once where somebody is idle; the listening queue keeps the callers for that moment.
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
            let thread = Thread { [self] in
                defer { connections.leave(place) }
                do throws(HandshakeError) {
                    let (channel, peer, role, found) = try Handshake.accept(socket, usesPeerDescriptor: usesPeerDescriptor) { peer in
                        let found = try look(socket, peer)
                        connections.move(place, to: owner(user))
                        return found
                    }
                    let seat = ConnectionSlot(channel)
                    connections.set(seat, in: place)
                    serve(AcceptedConnection(channel: channel, peer: peer, role: role, seat: seat), found)
                } catch {
                    refused(error, user)
                }
            }
            thread.stackSize = 1 << 19
            thread.start()
        }
    }
}

/// What the table knows of a connection.
private final class ConnectionSlot: ConnectionEntry {
    let stays = ThreadMutex(false)
    private let channel: Channel

    init(_ channel: Channel) { self.channel = channel }

    var idleSince: UInt64? { stays.withLock { $0 } ? nil : channel.idleSince }
    func endWhenIdle() { channel.endWhenIdle() }
}

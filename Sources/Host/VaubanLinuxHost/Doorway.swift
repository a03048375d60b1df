// A door serves each connection on a thread of its own: a request is answered by the thread that read it, and a wait
// for the person parks that connection and nothing else.

import Foundation
import Glibc
internal import CVaubanLinux
internal import Synchronization

/// A connection whose handshake is done.
package struct Visitor: Sendable {
    package let channel: Channel
    package let peer: Peer
    package let role: Int64
}

package final class Doorway: Sendable {
    private let listener: Descriptor
    private let admits: @Sendable (_ uid: UInt32) -> Bool
    private let usesPeerDescriptor: Bool
    private let limit: (total: Int, perUser: Int)
    private let connections = Mutex<[UInt32: Int]>([:])

    /// `admits` says, before a word is said, whether a uid may speak at this door at all. `limit` bounds the connections,
    /// and those of one uid, which is a person except at the door to which only rooms come.
    package init(
        listener: Descriptor, usesPeerDescriptor: Bool = true,
        limit: (total: Int, perUser: Int) = (DoorLimits.connectionsMax, DoorLimits.connectionsPerPersonMax),
        admits: @escaping @Sendable (UInt32) -> Bool
    ) {
        self.listener = listener
        self.admits = admits
        self.limit = limit
        self.usesPeerDescriptor = usesPeerDescriptor
    }

    /// Accepts for ever. `serve` owns the connection until it returns; then the connection is closed. `refused` hears
    /// why a connection ended before that, for the log.
    package func run(
        refused: @escaping @Sendable (HandshakeFault, _ uid: UInt32) -> Void, serve: @escaping @Sendable (Visitor) -> Void
    ) throws(SystemFault) -> Never {
        try run(look: { _, _ in }, refused: refused, serve: { visitor, _ in serve(visitor) })
    }

    /// The same with a look at the caller before the first word to it, on the thread that then serves it.
    package func run<Look>(
        look: @escaping @Sendable (Descriptor, Peer) throws -> Look, refused: @escaping @Sendable (HandshakeFault, _ uid: UInt32) -> Void,
        serve: @escaping @Sendable (Visitor, Look) -> Void
    ) throws(SystemFault) -> Never {
        while true {
            let number = vauban_accept(listener.number)
            if number < 0 {
                // Descriptors may have run out for a moment; the listening queue keeps the callers.
                if [EINTR, ECONNABORTED].contains(-number) { continue }
                if [EMFILE, ENFILE, ENOMEM, ENOBUFS].contains(-number) { poll(nil, 0, DoorLimits.shortagePause); continue }
                throw SystemFault("accept a connection", code: -number)
            }
            let socket = Descriptor(number)
            var pid: Int32 = 0
            var uid: UInt32 = 0
            guard vauban_peer_credentials(number, &pid, &uid) == 0, admits(uid), enter(uid) else { continue }
            let person = uid
            let thread = Thread { [self] in
                defer { leave(person) }
                do throws(HandshakeFault) {
                    let (channel, peer, role, found) = try Handshake.accept(socket, usesPeerDescriptor: usesPeerDescriptor) { try look(socket, $0) }
                    serve(Visitor(channel: channel, peer: peer, role: role), found)
                } catch {
                    refused(error, person)
                }
            }
            thread.stackSize = 1 << 19
            thread.start()
        }
    }

    private func enter(_ uid: UInt32) -> Bool {
        connections.withLock { counts in
            let total = counts.values.reduce(0, +)
            guard total < limit.total, counts[uid, default: 0] < limit.perUser else { return false }
            counts[uid, default: 0] += 1
            return true
        }
    }

    private func leave(_ uid: UInt32) {
        connections.withLock { counts in
            counts[uid, default: 1] -= 1
            if counts[uid] == 0 { counts[uid] = nil }
        }
    }
}

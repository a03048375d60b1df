import Enclave
import VaubanLinuxHost
import VaubanRefusal

/// The connections that use private keys, so that a lock reaches their open keys. Owners share them as they share a socket's connections
/// (Specs/owners.md).
final class KeyConnections: Sendable {
    private let connections = ThreadMutex<[ConnectionTable.Place: KeyConnection]>([:])
    private let table: ConnectionTable
    private let accounts: Accounts

    init(accounts: Accounts = .ofThisMachine) {
        table = ConnectionTable(
            max: DescriptorLimit.connections(ConnectionLimits.connectionsMax), perOwnerMax: EnclaveLimits.keyConnectionsPerUserMax)
        self.accounts = accounts
    }

    /// Serves a connection on a separate thread until it ends. If there are too many, ends the one that has been idle longest; its
    /// application reconnects when it needs to.
    func begin(_ connection: KeyConnection) throws(Refusal) {
        try endIdleConnection(ofProcessOf: connection)
        guard let place = table.enter(accounts.owner(of: connection.caller.uid)) else { throw Self.tooMany }
        table.set(connection, in: place)
        connections.withLock { $0[place] = connection }
        do throws(SystemError) {
            try HostThread.start { [self] in
                connection.serve()
                leave(place)
            }
        } catch {
            leave(place)
            throw Self.tooMany
        }
    }

    private func leave(_ place: ConnectionTable.Place) {
        connections.withLock { $0[place] = nil }
        table.leave(place)
    }

    /// Ends an idle connection if the process has reached its maximum, so that no program uses up its user's share.
    private func endIdleConnection(ofProcessOf connection: KeyConnection) throws(Refusal) {
        let own = connections.withLock {
            $0.filter { $0.value.caller.uid == connection.caller.uid && $0.value.caller.pid == connection.caller.pid && !$0.value.isEnding }
        }
        guard own.count >= EnclaveLimits.keyConnectionsPerProcessMax else { return }
        let idle = own.compactMap { place, connection in connection.idleSince.map { (place: place, since: $0) } }
        guard let longest = idle.min(by: { $0.since < $1.since }) else { throw Self.tooMany }
        table.end(longest.place)
    }

    private static let tooMany = Refusal(.unavailable, "Too many connections use private keys at once; try again")

    func erase(_ user: UInt32, everything: Bool) {
        for connection in connections.withLock({ Array($0.values) }) where connection.caller.uid == user {
            connection.erase(everything: everything)
        }
    }
}

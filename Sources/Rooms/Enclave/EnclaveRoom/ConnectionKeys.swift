// The keys of backups and circles that are open on connections, so that a lock erases them, whatever the connections' callers do.

import Enclave
import VaubanLinuxHost
import VaubanRefusal

/// What one connection has open, until it ends or opens another, or until a lock.
struct ConnectionKeys: Sendable {
    var backup: OpenBackup?
    var circle: OpenCircle?
    /// The circle that the connection joins by its recovery key.
    var recovering: CircleRecovery?
    /// The recovery key of a circle that was made on the connection, until the next request about a circle but its confirmation.
    var recoveryKey: CircleRecoveryKey?

    fileprivate var isEmpty: Bool { backup == nil && circle == nil && recovering == nil && recoveryKey == nil }
}

/// The opened keys of all connections.
final class ConnectionKeysTable: Sendable {
    private struct Entry {
        let user: UInt32
        /// The epoch of the vault in which the keys were opened.
        let epoch: Int64
        var keys = ConnectionKeys()
        /// Whether a lock, or a change of the user's keys, erased what was open.
        var isErased = false
    }

    private let entries = ThreadMutex<[ObjectIdentifier: Entry]>([:])

    /// Returns what a connection has open.
    func keys(on connection: RequestConnection) -> ConnectionKeys {
        let place = ObjectIdentifier(connection)
        return entries.withLock { $0[place]?.keys } ?? ConnectionKeys()
    }

    /// Changes what a connection has open, and erases what it opened in an earlier epoch. `epoch` is the vault's epoch from before the keys
    /// were opened: if a lock came meanwhile, it found nothing to erase, so they are erased here.
    func change(on connection: RequestConnection, in vault: Vault, since epoch: Int64, _ change: (inout ConnectionKeys) -> Void) {
        let place = ObjectIdentifier(connection)
        entries.withLock { entries in
            var entry = entries[place] ?? Entry(user: vault.user, epoch: epoch)
            if entry.epoch != epoch {
                entry = Entry(user: vault.user, epoch: epoch, isErased: entry.isErased || !entry.keys.isEmpty)
            }
            change(&entry.keys)
            if !entry.keys.isEmpty { entry.isErased = false }
            entries[place] = entry
        }
        if vault.epoch != epoch { end(of: vault.user, through: epoch) }
    }

    /// Returns why a connection that needs it has nothing open: `nothing`, or that it was erased.
    func refusal(on connection: RequestConnection, _ nothing: String) -> Refusal {
        let place = ObjectIdentifier(connection)
        let isErased = entries.withLock { $0[place]?.isErased } ?? false
        return Refusal(.unavailable, isErased ? "The keychain was locked or its keys changed meanwhile; run the command again" : nothing)
    }

    /// Erases what a user's connections opened up to an epoch that has ended.
    func end(of user: UInt32, through epoch: Int64) {
        entries.withLock { entries in
            for (place, entry) in entries where entry.user == user && entry.epoch <= epoch && !entry.keys.isEmpty {
                entries[place] = Entry(user: user, epoch: entry.epoch, isErased: true)
            }
        }
    }

    /// Erases what a connection has open, at its end or because its caller changes.
    func end(on connection: RequestConnection) {
        let place = ObjectIdentifier(connection)
        entries.withLock { $0[place] = nil }
    }
}

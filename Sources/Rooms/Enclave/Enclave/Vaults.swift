internal import VaubanLinuxHost

/// The vaults that were looked at since the start. A vault is read from its user's files by whoever asks for it first, under a lock of
/// that user's alone: a disk that does not answer for one holds up nobody else.
package final class Vaults: Sendable {
    private final class Place: Sendable {
        let vault = ThreadMutex<Vault?>(nil)
    }

    private let host: EnclaveHost
    private let places = ThreadMutex<[UInt32: Place]>([:])
    /// Those that have been read; the list is never locked for longer than it takes to look.
    private let read = ThreadMutex<[UInt32: Vault]>([:])

    package init(host: EnclaveHost) { self.host = host }

    /// All that have been read; one that is being read has no open key yet.
    package var all: [Vault] { read.withLock { Array($0.values) } }

    package func vault(of user: UInt32) -> Vault {
        if let vault = read.withLock({ $0[user] }) { return vault }
        let place = places.withLock { places in
            if let place = places[user] { return place }
            let place = Place()
            places[user] = place
            return place
        }
        return place.vault.withLock { known in
            if let known { return known }
            let vault = Vault(user: user, host: host)
            known = vault
            read.withLock { $0[user] = vault }
            return vault
        }
    }

    /// The one that has been read, if it has.
    package func known(_ user: UInt32) -> Vault? { read.withLock { $0[user] } }

    /// Takes a vault out of the list, whose next user reads it anew; nil where it was not read.
    package func forget(_ user: UInt32) -> Vault? {
        places.withLock { $0[user] = nil }
        return read.withLock { $0.removeValue(forKey: user) }
    }
}

internal import VaubanLinuxHost

/// The vaults loaded since the start. The first thread that needs a vault loads it from its user's files, under a lock per user, so that a
/// disk that hangs for one user does not delay others.
package final class Vaults: Sendable {
    private final class Place: Sendable {
        let vault = ThreadMutex<Vault?>(nil)
    }

    private let host: EnclaveHost
    private let places = ThreadMutex<[UInt32: Place]>([:])
    /// The loaded vaults. The list is never locked for longer than a look-up.
    private let read = ThreadMutex<[UInt32: Vault]>([:])

    package init(host: EnclaveHost) { self.host = host }

    /// All loaded vaults. A vault that is being loaded has no key in memory yet.
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

    /// Returns the vault if it is loaded.
    package func known(_ user: UInt32) -> Vault? { read.withLock { $0[user] } }

    /// Removes a vault from the list, so that its next use loads it again. Returns the vault, or nil if it was not loaded.
    package func forget(_ user: UInt32) -> Vault? {
        places.withLock { $0[user] = nil }
        return read.withLock { $0.removeValue(forKey: user) }
    }
}

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
    /// The first epochs of the next vaults of users whose vaults were forgotten.
    private let firstEpochs = ThreadMutex<[UInt32: Int64]>([:])
    /// More epochs than a vault ever has. keychaind refuses leases of epochs that were recalled, so a user's next vault begins above all of
    /// the one before, which a thread may still be using.
    private static let epochsMax: Int64 = 1 << 32

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
            let vault = Vault(user: user, host: host, firstEpoch: firstEpochs.withLock { $0[user] ?? 0 })
            known = vault
            read.withLock { $0[user] = vault }
            return vault
        }
    }

    /// Returns the vault if it is loaded.
    package func known(_ user: UInt32) -> Vault? { read.withLock { $0[user] } }

    /// Removes a vault from the list, so that its next use loads it again, in later epochs. Returns the vault, or nil if it was not loaded.
    package func forget(_ user: UInt32) -> Vault? {
        guard let vault = read.withLock({ $0.removeValue(forKey: user) }) else { return nil }
        // Before its place is free for the next one.
        firstEpochs.withLock { $0[user, default: 0] += Self.epochsMax }
        places.withLock { $0[user] = nil }
        return vault
    }
}

internal import VaubanLinuxHost

/// The canaries that were seen while they were open, by their identities, under which a locked row can be known.
final class KnownCanaries: Sendable {
    private let items = ThreadMutex<[UInt32: Set<[UInt8]>]>([:])

    func remember(_ item: [UInt8], of user: UInt32) {
        items.withLock { items in
            guard items[user].map({ $0.count < KeychainLimits.canariesKnownMax }) ?? (items.count < KeychainLimits.logsMax) else { return }
            items[user, default: []].insert(item)
        }
    }

    func forget(_ item: [UInt8], of user: UInt32) { items.withLock { _ = $0[user]?.remove(item) } }

    func contains(_ item: [UInt8], of user: UInt32) -> Bool { items.withLock { $0[user]?.contains(item) ?? false } }
}

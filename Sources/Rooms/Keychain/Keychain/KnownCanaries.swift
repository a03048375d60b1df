internal import VaubanLinuxHost

/// The canaries that were seen while they were unlocked, by their identities, by which a locked row is recognized.
final class KnownCanaries: Sendable {
    private let items = ThreadMutex(ValuesOfUsers<Set<[UInt8]>>())

    func remember(_ item: [UInt8], of user: UInt32) {
        items.withLock { items in
            items.change(user, from: []) { known in
                guard known.count < KeychainLimits.canariesKnownMax else { return }
                known.insert(item)
            }
        }
    }

    func forget(_ item: [UInt8], of user: UInt32) { items.withLock { items in items.change(user) { known in known.remove(item) } } }

    func contains(_ item: [UInt8], of user: UInt32) -> Bool { items.withLock { $0.value(of: user)?.contains(item) ?? false } }
}

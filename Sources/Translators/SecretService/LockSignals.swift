internal import VaubanLinuxHost
internal import VaubanRefusal

/// The signals of locks and unlocks, including those that are not requested over the bus.
extension SecretServiceObjects {
    /// Notifies a client of locks and unlocks from now on. To be called before it reads a property that they change.
    func sendLockChanges(to client: BusClient) {
        let isNew = lockReaders.add(client) { [weak self] isReachable in
            guard isReachable, let self else { return false }
            return signalLock()
        }
        if isNew { signalLock() }
    }

    /// Sends the lock state if clients know another one; after a change by a call, even if it is unknown what they know. Returns whether it
    /// could be read.
    @discardableResult
    func signalLock(isChanged: Bool = false) -> Bool {
        let (wasRead, wasNotified) = lockReaders.update(isChanged: isChanged) {
            keychainLock.isLockedNow
        } notify: {
            signalCollections(isLocked: $0)
        }
        if wasNotified { signalItems() }
        return wasRead
    }

    private func signalCollections(isLocked: Bool) {
        // Before the first unlock the keychain does not list its collections, but clients may have read them before.
        let known = (try? collections(repeats: false)) ?? [KeychainItems.login]
        let all = Set(known).union(listeners.all.flatMap(\.listedCollections)).subtracting([MemoryItems.collection])
        for identifier in all.sorted() {
            let path = ObjectPath.collection(path: identifier)
            propertiesChanged(path, interface: "Collection", properties: [("Locked", .boolean(isLocked))])
            signal(ObjectPath.root, interface: "Service", member: "CollectionChanged", values: [.path(path)])
        }
    }

    /// Sends the state of each item to the clients that have read its properties; for an open item, also sends its other properties, which
    /// a locked item hides.
    private func signalItems() {
        // Held from the search to the signal, so that what is sent last is the last state.
        lockListing.withLock { _ in
            guard let isLocked = lockReaders.reportedState else { return }
            var readers: [String: [BusClient]] = [:]
            for client in listeners.all { for path in client.readItems { readers[path, default: []].append(client) } }
            let places: [ItemPlace] = readers.keys.sorted().compactMap { path in
                guard case .item(let collection, let identifier)? = ObjectPath(path) else { return nil }
                return ItemPlace(collection: collection, identifier: identifier, isLocked: false)
            }
            for start in stride(from: 0, to: places.count, by: SecretServiceLimits.secretsAtOnce) {
                let batch = Array(places[start...].prefix(SecretServiceLimits.secretsAtOnce))
                guard let items = try? keychainItems.items(at: batch, isLocked: isLocked) else { return }
                // After the items: a permission that ended before an item was read must not count for it.
                var permitted: [String: Set<String>] = [:]
                if batch.contains(where: { (readers[$0.path] ?? []).contains(where: access.isLimited) }) {
                    permitted = (try? access.permissions(in: KeychainItems.login)) ?? [:]
                }
                for (place, outcome) in zip(batch, items) {
                    signalItem(outcome, at: place, to: readers[place.path] ?? [], permitted: permitted[place.identifier] ?? [])
                }
            }
        }
    }

    private func signalItem(
        _ outcome: Result<StoredItem, Refusal>, at place: ItemPlace, to clients: [BusClient], permitted: Set<String>
    ) {
        let found: StoredItem?
        // Any other refusal says nothing about the item, whose readers are notified of the next change.
        do { found = try unlessGone { try outcome.get() } } catch { return }
        guard let item = found else {
            for client in clients { client.forgets(item: place.path) }
            return
        }
        let audience = ItemAudience {
            ItemAudience.Item(isLocked: item.isLocked, owner: item.owner)
        } permitted: {
            permitted
        }
        let users = item.isLocked ? [] : heard(audience, of: place.identifier, among: clients)
        let names = Set(users.map(\.name))
        let others = clients.filter { !names.contains($0.name) }
        propertiesChanged(place.path, interface: "Item", properties: properties(of: item), to: users)
        propertiesChanged(place.path, interface: "Item", properties: [("Locked", .boolean(true))], to: others)
    }
}

internal import VaubanLinuxHost

/// The signals of the service.
extension SecretServiceObjects {
    /// Returns the clients that are notified about an item: all programs outside of sandboxes, and the applications that may use it.
    func listeners(ofItem identifier: String, in collection: String) -> [BusClient] {
        listeners(ofItem: identifier) { [self] in try? store(of: collection).item(identifier, in: collection) }
    }

    /// Does the same for the item that `found` returns; nil if it cannot be found.
    func listeners(ofItem identifier: String, found: @escaping () -> StoredItem?) -> [BusClient] {
        let audience = ItemAudience {
            guard let item = found() else { return nil }
            return ItemAudience.Item(isLocked: item.isLocked, owner: item.owner)
        } permitted: { [access] in
            (try? access.applications(permitted: identifier)) ?? []
        }
        return heard(audience, of: identifier, among: listeners.all)
    }

    func heard(_ audience: ItemAudience, of identifier: String, among clients: [BusClient]) -> [BusClient] {
        audience.listeners(among: clients) { client in
            access.isLimited(client) ? client.application : .user
        } isPermitted: {
            $0.isPermitted(identifier)
        }
    }

    /// Sends a signal to the given clients, or to all if `clients` is nil.
    func signal(_ path: String, interface: String, member: String, values: [BusValue], to clients: [BusClient]? = nil) {
        let interface = "org.freedesktop.Secret.\(interface)"
        guard let clients else { return send(.signal(path: path, interface: interface, member: member, values)) }
        for client in clients { send(.signal(path: path, interface: interface, member: member, values, destination: client.name)) }
    }

    /// Sends the signal that properties of an object have new values. It always includes the values: libsecret crashes on a signal about an
    /// item or a collection after it was told that its list is invalid.
    func propertiesChanged(
        _ path: String, interface: String, properties: [(name: String, value: BusValue)], to clients: [BusClient]? = nil
    ) {
        let values: [BusValue] = [.string("org.freedesktop.Secret.\(interface)"), .properties(properties), .array("s", [])]
        let (interface, member) = ("org.freedesktop.DBus.Properties", "PropertiesChanged")
        guard let clients else { return send(.signal(path: path, interface: interface, member: member, values)) }
        for client in clients { send(.signal(path: path, interface: interface, member: member, values, destination: client.name)) }
    }

    // MARK: Lists

    /// Notifies clients that a collection has one item more or less. A client that has listed the items first gets the new list, so that
    /// libsecret finds nothing new in the signal that follows.
    func itemListChanged(_ member: String, _ identifier: String, in collection: String, to clients: [BusClient]) {
        let parent = ObjectPath.collection(path: collection)
        // Held from the search to the signal, so that lists are sent in the order in which they were found.
        listing.withLock { _ in
            for (client, paths) in lists(of: collection, for: clients.filter { $0.hasListed(collection) }) {
                propertiesChanged(parent, interface: "Collection", properties: [("Items", .paths(paths))], to: [client])
            }
        }
        let path = ObjectPath.item(path: identifier, in: collection)
        signal(parent, interface: "Collection", member: member, values: [.path(path)], to: clients)
    }

    /// Returns the items of a collection as each client sees them, for no client if they are unknown now or too many for a signal. Takes
    /// two searches, whatever the number of clients, and retries neither, since other threads wait for the lock.
    private func lists(of collection: String, for clients: [BusClient]) -> [(client: BusClient, paths: [String])] {
        guard !clients.isEmpty,
            let items = try? store(of: collection).listed(in: collection, max: SecretServiceLimits.itemsOfSignalMax)
        else { return [] }
        var permitted: [String: Set<String>] = [:]
        if clients.contains(where: access.isLimited) {
            guard let found = try? access.permissions(in: collection, repeats: false) else { return [] }
            permitted = found
        }
        var paths: [String: [String]] = [:]
        for (identifier, item) in items {
            let audience = ItemAudience {
                item
            } permitted: {
                permitted[identifier] ?? []
            }
            let path = ObjectPath.item(path: identifier, in: collection)
            for client in heard(audience, of: identifier, among: clients) { paths[client.name, default: []].append(path) }
        }
        return clients.map { ($0, paths[$0.name] ?? []) }
    }

    /// Notifies all clients that there is one collection more or less, as `itemListChanged` does for items.
    func collectionListChanged(_ member: String, _ identifier: String) {
        listing.withLock { _ in
            guard let all = try? collections(repeats: false), all.count <= SecretServiceLimits.collectionsOfSignalMax else { return }
            let paths = all.map(ObjectPath.collection(path:))
            propertiesChanged(ObjectPath.root, interface: "Service", properties: [("Collections", .paths(paths))])
        }
        let path = ObjectPath.collection(path: identifier)
        signal(ObjectPath.root, interface: "Service", member: member, values: [.path(path)])
    }
}

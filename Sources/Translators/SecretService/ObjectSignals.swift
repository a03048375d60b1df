internal import VaubanLinuxHost

/// The signals of the service.
extension SecretServiceObjects {
    /// Returns the clients that hear of an item: all programs outside of sandboxes, and the applications that may use it.
    func listeners(ofItem identifier: String, in collection: String) -> [BusClient] {
        let audience = ItemAudience { [self] in
            guard let item = try? store(of: collection).item(identifier, in: collection) else { return nil }
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

    /// Sends a signal to clients, or to everybody if none are given.
    func signal(_ path: String, interface: String, member: String, values: [BusValue], to clients: [BusClient]? = nil) {
        let interface = "org.freedesktop.Secret.\(interface)"
        guard let clients else { return send(.signal(path: path, interface: interface, member: member, values)) }
        for client in clients { send(.signal(path: path, interface: interface, member: member, values, destination: client.name)) }
    }

    /// Sends the signal that properties of an object have new values. It always has the values: libsecret crashes when it hears of an item
    /// or a collection after the list that it has was declared void.
    func propertiesChanged(
        _ path: String, interface: String, properties: [(name: String, value: BusValue)], to clients: [BusClient]? = nil
    ) {
        let values: [BusValue] = [.string("org.freedesktop.Secret.\(interface)"), .properties(properties), .array("s", [])]
        let (interface, member) = ("org.freedesktop.DBus.Properties", "PropertiesChanged")
        guard let clients else { return send(.signal(path: path, interface: interface, member: member, values)) }
        for client in clients { send(.signal(path: path, interface: interface, member: member, values, destination: client.name)) }
    }

    // MARK: Lists

    /// Tells clients that a collection has another item, or one less: first the list as each sees it, if it has listed the items before,
    /// and then the signal, which libsecret takes for nothing new then.
    func itemListChanged(_ member: String, _ identifier: String, in collection: String, to clients: [BusClient]) {
        let parent = ObjectPath.collection(path: collection)
        // What is told last was found last.
        listing.withLock { _ in
            for (client, paths) in lists(of: collection, for: clients.filter { $0.hasListed(collection) }) {
                propertiesChanged(parent, interface: "Collection", properties: [("Items", .paths(paths))], to: [client])
            }
        }
        let path = ObjectPath.item(path: identifier, in: collection)
        signal(parent, interface: "Collection", member: member, values: [.path(path)], to: clients)
    }

    /// Returns the items of a collection as each client sees them, for no client if they are too many for a signal or unknown now. Costs
    /// two searches, however many clients there are, and repeats none: others wait for their lists meanwhile.
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

    /// Tells everybody that there is another collection, or one less, as `itemListChanged` does.
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

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
        return audience.listeners(among: listeners.all) { client in
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

    /// Sends the signal that properties of an object have new values.
    func propertiesChanged(
        _ path: String, interface: String, properties: [(name: String, value: BusValue)], to clients: [BusClient]? = nil
    ) {
        propertySignal(path, [.string("org.freedesktop.Secret.\(interface)"), .properties(properties), .array("s", [])], to: clients)
    }

    /// Sends the signal that a property changed without its value, for values that are large or change often.
    func propertyInvalidated(_ path: String, interface: String, name: String, to clients: [BusClient]? = nil) {
        propertySignal(
            path, [.string("org.freedesktop.Secret.\(interface)"), .properties([]), .array("s", [.string(name)])], to: clients)
    }

    private func propertySignal(_ path: String, _ values: [BusValue], to clients: [BusClient]?) {
        let (interface, member) = ("org.freedesktop.DBus.Properties", "PropertiesChanged")
        guard let clients else { return send(.signal(path: path, interface: interface, member: member, values)) }
        for client in clients { send(.signal(path: path, interface: interface, member: member, values, destination: client.name)) }
    }
}

extension SecretServiceObjects {
    func itemMethod(_ call: BusCall, of identifier: String, in collection: String, from client: BusClient) throws -> [BusValue] {
        let store = store(of: collection)
        try throwIfClosed(identifier, in: collection, for: client)
        switch call.member {
        case "GetSecret":
            let session = try sessions.session(call.arguments[0].text ?? "", of: client.name)
            let (secret, contentType) = try store.secret(of: identifier, in: collection, for: client)
            return [try session.sealed(secret.bytes, contentType: contentType)]
        case "SetSecret":
            let (secret, contentType) = try secret(in: call.arguments[0], of: client)
            try store.change(identifier, in: collection, ItemEdit(contentType: contentType, secret: secret))
            itemChanged(identifier, in: collection)
            return []
        case "Delete":
            try delete(identifier, in: collection)
            return [.path(ObjectPath.none)]
        default: throw BusFailure(.unknownMethod, "No such method")
        }
    }

    func delete(_ identifier: String, in collection: String) throws {
        let clients = listeners(ofItem: identifier, in: collection)
        try store(of: collection).delete(identifier, in: collection)
        if collection != MemoryItems.collection { try access.endPermissions(for: identifier) }
        let parent = ObjectPath.collection(path: collection)
        let path = ObjectPath.item(path: identifier, in: collection)
        signal(parent, interface: "Collection", member: "ItemDeleted", values: [.path(path)], to: clients)
        propertyInvalidated(parent, interface: "Collection", name: "Items", to: clients)
    }

    func itemChanged(_ identifier: String, in collection: String, to clients: [BusClient]? = nil) {
        let path = ObjectPath.item(path: identifier, in: collection)
        let clients = clients ?? listeners(ofItem: identifier, in: collection)
        signal(ObjectPath.collection(path: collection), interface: "Collection", member: "ItemChanged", values: [.path(path)], to: clients)
    }
}

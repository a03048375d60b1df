extension SecretServiceObjects {
    func collectionMethod(_ call: BusCall, of identifier: String, from client: BusClient) throws -> [BusValue] {
        let arguments = call.arguments
        try collection(identifier)
        switch call.member {
        case "SearchItems":
            let pairs = arguments[0].pairs
            let places = try store(of: identifier).places(having: pairs, in: identifier)
            return [.paths(try visible(places, having: pairs, for: client).map(\.path))]
        case "CreateItem":
            return try createItem(arguments[0], arguments[1], replaces: arguments[2].isTrue, in: identifier, for: client)
        case "Delete":
            try access.throwIfLimited(client)
            return try deleteCollection(identifier)
        default: throw BusFailure(.unknownMethod, "No such method")
        }
    }

    private func createItem(
        _ properties: BusValue, _ secret: BusValue, replaces: Bool, in collection: String, for client: BusClient
    ) throws -> [BusValue] {
        let given = properties.entries
        func value(_ name: String) -> BusValue? { given.first { $0.name == "org.freedesktop.Secret.Item.\(name)" }?.value }
        let (secret, contentType) = try self.secret(in: secret, of: client)
        let label = value("Label")?.text ?? ""
        guard label.utf8.count <= SecretServiceLimits.labelBytesMax else { throw BusFailure(.limitsExceeded, "The label is too long") }
        let edit = ItemEdit(
            label: label, attributes: value("Attributes")?.pairs ?? [], contentType: contentType, secret: secret,
            owner: access.owner(for: client), share: client.share)
        let outcome = try store(of: collection).create(edit, in: collection) { identifier, item in
            try replaces && access.mayUse(item, identifier, by: client)
        }
        try itemStored(outcome, in: collection, by: client)
        return [.path(ObjectPath.item(path: outcome.identifier, in: collection)), .path(ObjectPath.none)]
    }

    func itemStored(_ outcome: ItemOutcome, in collection: String, by client: BusClient) throws {
        let (identifier, isNew) = (outcome.identifier, outcome.isNew)
        if isNew, client.application == .unknown { client.permit(identifier) }
        if !isNew { try endOtherUses(of: identifier, isTakenOver: outcome.isTakenOver, by: client) }
        let path = ObjectPath.item(path: identifier, in: collection)
        let parent = ObjectPath.collection(path: collection)
        let clients = listeners(ofItem: identifier, in: collection)
        signal(parent, interface: "Collection", member: isNew ? "ItemCreated" : "ItemChanged", values: [.path(path)], to: clients)
        if isNew { propertyInvalidated(parent, interface: "Collection", name: "Items", to: clients) }
    }

    /// Ends what others may use of an item that a client replaced: they may have stored it, or asked for it, to get at what comes in its
    /// place.
    func endOtherUses(of identifier: String, isTakenOver: Bool, by client: BusClient) throws {
        for other in listeners.all where other !== client { other.endPermit(identifier) }
        if isTakenOver { try access.endPermissions(for: identifier) }
    }

    private func deleteCollection(_ identifier: String) throws -> [BusValue] {
        guard identifier != KeychainItems.login, identifier != MemoryItems.collection else {
            throw BusFailure(.notSupported, "This collection always exists. Its items can be deleted one by one")
        }
        guard try !keychainLock.isLocked else { throw BusFailure(.isLocked, "The keychain is locked") }
        let name = walletName(of: identifier)
        try keychainItems.deleteAll(in: identifier)
        try walletFolders.deleteAll(in: identifier)
        try records.delete(identifier)
        walletDeleted(name, collection: identifier)
        signal(ObjectPath.root, interface: "Service", member: "CollectionDeleted", values: [.path(ObjectPath.collection(path: identifier))])
        propertyInvalidated(ObjectPath.root, interface: "Service", name: "Collections")
        return [.path(ObjectPath.none)]
    }
}

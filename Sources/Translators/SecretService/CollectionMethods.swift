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
        default: throw BusError(.unknownMethod, "No such method")
        }
    }

    private func createItem(
        _ properties: BusValue, _ secret: BusValue, replaces: Bool, in collection: String, for client: BusClient
    ) throws -> [BusValue] {
        let label = try properties.property("Label", of: "Item")?.text ?? ""
        let attributes = try properties.property("Attributes", of: "Item")?.pairs ?? []
        let (secret, contentType) = try self.secret(in: secret, of: client)
        guard label.utf8.count <= SecretServiceLimits.labelBytesMax else { throw BusError(.limitsExceeded, "The label is too long") }
        let edit = ItemEdit(
            label: label, attributes: attributes, contentType: contentType, secret: secret,
            owner: access.owner(for: client), share: client.share)
        let outcome = try create(edit, in: collection, replaces: replaces, by: client)
        itemStored(outcome, in: collection)
        return [.path(ObjectPath.item(path: outcome.identifier, in: collection)), .path(ObjectPath.none)]
    }

    /// Stores an item. With `replaces`, changes an existing item with the same attributes instead, if the client may use it. An
    /// unidentified client may use an item that it creates, unless another client has taken the item over meanwhile.
    func create(_ edit: ItemEdit, in collection: String, replaces: Bool, by client: BusClient) throws -> ItemOutcome {
        try access.notingEndings { start in
            let outcome = try endingUsesAgain(by: client) { edits in
                try store(of: collection).create(edit, in: collection) { identifier, item in
                    guard replaces, let change = try replacement(edit, of: item, identifier, by: client) else { return nil }
                    edits[identifier] = change
                    return change
                }
            }
            if outcome.isNew, client.application == .unknown { access.permit(outcome.identifier, to: client, since: start) }
            return outcome
        }
    }

    /// Returns the edit that replaces an item with the same attributes; nil if the client may not use the item.
    private func replacement(_ edit: ItemEdit, of item: StoredItem, _ identifier: String, by client: BusClient) throws -> ItemEdit? {
        guard try access.mayUse(item, identifier, by: client) else { return nil }
        var edit = edit
        edit.attributes = nil
        return try takingOver(edit, of: item, identifier, by: client)
    }

    func itemStored(_ outcome: ItemOutcome, in collection: String) {
        guard outcome.isNew else { return itemChanged(outcome.identifier, in: collection) }
        let clients = listeners(ofItem: outcome.identifier, in: collection)
        itemListChanged("ItemCreated", outcome.identifier, in: collection, to: clients)
    }

    private func deleteCollection(_ identifier: String) throws -> [BusValue] {
        guard identifier != KeychainItems.login, identifier != MemoryItems.collection else {
            throw BusError(.notSupported, "This collection always exists. Its items can be deleted one by one")
        }
        guard try !keychainLock.isLocked else { throw BusError(.isLocked, "The keychain is locked") }
        let name = walletName(of: identifier)
        let items = try keychainItems.items(having: [], in: identifier)
        let permitted = try access.permissions(in: identifier)
        try keychainItems.deleteAll(in: identifier)
        try walletFolders.deleteAll(in: identifier)
        try records.delete(identifier)
        let parent = ObjectPath.collection(path: identifier)
        for (item, found) in items {
            let audience = ItemAudience {
                ItemAudience.Item(isLocked: found.isLocked, owner: found.owner)
            } permitted: {
                permitted[item] ?? []
            }
            let clients = heard(audience, of: item, among: listeners.all)
            let path = ObjectPath.item(path: item, in: identifier)
            signal(parent, interface: "Collection", member: "ItemDeleted", values: [.path(path)], to: clients)
            for client in clients { client.endPermit(item) }
            try access.endPermissions(for: item, areKept: permitted[item] != nil)
        }
        for client in listeners.all { client.forgets(collection: identifier) }
        walletDeleted(name, collection: identifier)
        collectionListChanged("CollectionDeleted", identifier)
        return [.path(ObjectPath.none)]
    }
}

extension BusValue {
    /// Returns a property from those that a client passes for a new object; nil if it is not among them. Throws if its type is wrong.
    func property(_ name: String, of interface: String) throws(BusError) -> BusValue? {
        let interface = "org.freedesktop.Secret.\(interface)"
        guard let value = entries.first(where: { $0.name == "\(interface).\(name)" })?.value else { return nil }
        let type = Introspection.properties[interface]?[name]?.type ?? ""
        guard value.signature == type else { throw BusError(.invalidArguments, "The property \(name) is of the type \"\(type)\"") }
        return value
    }
}

extension SecretServiceObjects {
    func itemMethod(_ call: BusCall, of identifier: String, in collection: String, from client: BusClient) throws -> [BusValue] {
        switch call.member {
        case "GetSecret":
            try throwIfClosed(identifier, in: collection, for: client)
            let session = try sessions.session(call.arguments[0].text ?? "", of: client.name)
            let deadline = call.arrival + SecretServiceLimits.secretTime
            let found = try secret(of: identifier, in: collection, for: client, until: deadline)
            return [try session.sealed(found.secret.bytes, contentType: found.contentType)]
        case "SetSecret":
            let (secret, contentType) = try secret(in: call.arguments[0], of: client)
            try change(identifier, in: collection, ItemEdit(contentType: contentType, secret: secret), by: client)
            itemChanged(identifier, in: collection)
            return []
        case "Delete":
            try delete(identifier, in: collection, by: client)
            return [.path(ObjectPath.none)]
        default: throw BusError(.unknownMethod, "No such method")
        }
    }

    /// Returns the secret of an item that a client may use. Access is checked against the item that is read together with the secret, since
    /// another client may have replaced the item since an earlier look-up.
    func secret(
        of identifier: String, in collection: String, for client: BusClient, until deadline: UInt64? = nil
    ) throws -> ItemSecret {
        let found = try store(of: collection).secret(of: identifier, in: collection, for: client, until: deadline)
        try throwIfClosed(found.item, identifier, for: client)
        return found
    }

    /// Changes an item that a client may use.
    func change(_ identifier: String, in collection: String, _ edit: ItemEdit, by client: BusClient) throws {
        try endingUsesAgain(by: client) { edits in
            try store(of: collection).change(identifier, in: collection) { item in
                try throwIfClosed(item, identifier, for: client)
                let taken = try takingOver(edit, of: item, identifier, by: client)
                edits[identifier] = taken
                return taken
            }
        }
    }

    /// Returns the edit with which a client changes an item. A client that changes the secret or the attributes of an item of a sandboxed
    /// application takes the item over. The uses that others have of the item end before the change: they may have stored it, or got
    /// consent to it, in order to read what replaces it.
    func takingOver(_ edit: ItemEdit, of item: StoredItem, _ identifier: String, by client: BusClient) throws -> ItemEdit {
        var edit = edit
        edit.owner = nil
        guard edit.secret != nil || edit.attributes != nil else { return edit }
        edit.owner = item.ownerReplaced(by: access.owner(for: client))
        try endUses(of: identifier, by: edit, of: client)
        return edit
    }

    /// Runs `body`, which changes items and records its edits in its argument. Then ends once more the uses that others have of these
    /// items, since others may have gained a use between the first time and the change. The uses also end after an error, since the change
    /// may have been made nevertheless.
    func endingUsesAgain<Value>(by client: BusClient, _ body: (inout [String: ItemEdit]) throws -> Value) throws -> Value {
        var edits: [String: ItemEdit] = [:]
        let value: Value
        do { value = try body(&edits) } catch {
            for (identifier, edit) in edits { try? endUses(of: identifier, by: edit, of: client) }
            throw error
        }
        for (identifier, edit) in edits { try endUses(of: identifier, by: edit, of: client) }
        return value
    }

    /// Ends the uses that clients other than this one have of an item whose secret or attributes the edit changes. Ends permissions in
    /// progress first, so that each permission is either stored before, and found here, or never given.
    private func endUses(of identifier: String, by edit: ItemEdit, of client: BusClient) throws {
        guard edit.secret != nil || edit.attributes != nil else { return }
        access.noteEnding(for: identifier)
        for other in listeners.all where other !== client { other.endPermit(identifier) }
        if edit.owner != nil || edit.attributes != nil { try access.endPermissions(for: identifier) }
    }

    func delete(_ identifier: String, in collection: String, by client: BusClient) throws {
        let clients = listeners(ofItem: identifier, in: collection)
        try store(of: collection).delete(identifier, in: collection) { try throwIfClosed($0, identifier, for: client) }
        try endUses(of: identifier, in: collection)
        itemListChanged("ItemDeleted", identifier, in: collection, to: clients)
    }

    /// Ends all uses of a deleted item.
    private func endUses(of identifier: String, in collection: String) throws {
        let path = ObjectPath.item(path: identifier, in: collection)
        for client in listeners.all {
            client.endPermit(identifier)
            client.forgets(item: path)
        }
        try access.endPermissions(for: identifier)
    }

    /// Notifies clients of a changed item, with its new properties, which include the time of the change.
    func itemChanged(_ identifier: String, in collection: String) {
        let path = ObjectPath.item(path: identifier, in: collection)
        let item = try? store(of: collection).item(identifier, in: collection)
        let clients = listeners(ofItem: identifier) { item }
        if let item, !item.isLocked {
            // Without the lock state: another state may have been sent since the item was read.
            let changed = properties(of: item).filter { $0.name != "Locked" }
            propertiesChanged(path, interface: "Item", properties: changed, to: clients)
        }
        signal(ObjectPath.collection(path: collection), interface: "Collection", member: "ItemChanged", values: [.path(path)], to: clients)
    }
}

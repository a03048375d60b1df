internal import VaubanKeychainModel
internal import VaubanRefusal

/// The methods of `org.freedesktop.DBus.Properties`.
extension SecretServiceObjects {
    func property(_ call: BusCall, of object: ObjectPath, for client: BusClient) throws -> [BusValue] {
        let arguments = call.arguments
        guard Introspection.propertyMethods[call.member] == call.signature else {
            throw BusError(.unknownMethod, "No such method with these arguments")
        }
        let interface = arguments[0].text ?? ""
        guard interface.isEmpty || interface == object.interface else {
            if call.member == "GetAll" { return [.properties([])] }
            throw BusError(.unknownProperty, "No such property")
        }
        if call.member == "GetAll" { return [.properties(try properties(of: object, for: client))] }
        guard let name = arguments[1].text, let known = Introspection.properties[object.interface]?[name] else {
            throw BusError(.unknownProperty, "No such property")
        }
        if call.member == "Set" {
            guard known.isWritable else { throw BusError(.propertyReadOnly, "The property cannot be set") }
            guard arguments[2].unwrapped.signature == known.type else {
                throw BusError(.invalidArguments, "The property is of the type \"\(known.type)\"")
            }
            try set(name, of: object, to: arguments[2].unwrapped, for: client)
            return []
        }
        guard let found = try properties(of: object, for: client).first(where: { $0.name == name }) else {
            throw BusError(.unknownProperty, "No such property")
        }
        return [.variant(found.value)]
    }

    private func properties(of object: ObjectPath, for client: BusClient) throws -> [(name: String, value: BusValue)] {
        // Read again if a lock or an unlock was signaled meanwhile, since the reply would override the signal.
        for _ in 1..<SecretServiceLimits.propertyReadsMax {
            let changes = lockReaders.changes
            let found = try foundProperties(of: object, for: client)
            if lockReaders.changes == changes { return found }
        }
        return try foundProperties(of: object, for: client)
    }

    private func foundProperties(of object: ObjectPath, for client: BusClient) throws -> [(name: String, value: BusValue)] {
        switch object {
        case .service: return [("Collections", .paths(try collections().map(ObjectPath.collection(path:))))]
        case .collection(let identifier):
            let collection = try collection(identifier)
            if identifier != MemoryItems.collection { sendLockChanges(to: client) }
            client.lists(identifier)
            let isLocked = try isLocked(identifier)
            var items: [ItemPlace] = []
            do {
                items = try visible(store(of: identifier).places(having: [], in: identifier), having: [], for: client)
            } catch let refusal as Refusal where isLocked && [.locked, .beforeFirstUnlock].contains(refusal.reason) {
                // Before the first unlock the items are unknown.
            }
            return [
                ("Items", .paths(items.map(\.path))), ("Label", .string(collection.label)), ("Locked", .boolean(isLocked)),
                ("Created", .unsigned64(collection.created)), ("Modified", .unsigned64(collection.modified)),
            ]
        case .item(let collection, let identifier):
            let isStored = collection != MemoryItems.collection
            if isStored { sendLockChanges(to: client) }
            let item = try item(identifier, in: collection, for: client)
            if isStored, listeners.itemsRead(by: client.share) < SecretServiceLimits.itemsReadOfShareMax {
                client.reads(item: ObjectPath.item(path: identifier, in: collection))
            }
            return properties(of: item)
        case .portal: return [("version", .unsigned32(SecretPortal.version))]
        case .session, .prompt, .portalRequest, .wallets, .alias, .folder: return []
        }
    }

    func properties(of item: StoredItem) -> [(name: String, value: BusValue)] {
        [
            ("Locked", .boolean(item.isLocked)), ("Attributes", .texts(item.attributes.map { ($0.name, $0.value) })),
            ("Label", .string(item.label)), ("Created", .unsigned64(item.created)), ("Modified", .unsigned64(item.modified)),
        ]
    }

    private func set(_ name: String, of object: ObjectPath, to value: BusValue, for client: BusClient) throws {
        switch object {
        case .collection(let identifier):
            guard identifier != MemoryItems.collection else { throw BusError(.notSupported, "The label of this collection is fixed") }
            try access.throwIfLimited(client)
            try collection(identifier)
            try records.setLabel(try label(value), of: identifier)
            let path = ObjectPath.collection(path: identifier)
            var changed: [(name: String, value: BusValue)] = [("Label", value)]
            if let found = try? collection(identifier) { changed.append(("Modified", .unsigned64(found.modified))) }
            propertiesChanged(path, interface: "Collection", properties: changed)
            signal(ObjectPath.root, interface: "Service", member: "CollectionChanged", values: [.path(path)])
        case .item(let collection, let identifier):
            let edit = name == "Label" ? ItemEdit(label: try label(value)) : ItemEdit(attributes: value.pairs)
            try change(identifier, in: collection, edit, by: client)
            itemChanged(identifier, in: collection)
        default: throw BusError(.propertyReadOnly, "The property cannot be set")
        }
    }

    private func label(_ value: BusValue) throws(BusError) -> String {
        guard let label = value.text, label.utf8.count <= SecretServiceLimits.labelBytesMax else {
            throw BusError(.limitsExceeded, "The label is too long")
        }
        return label
    }
}

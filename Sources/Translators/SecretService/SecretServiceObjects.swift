internal import VaubanKeychainClient
internal import VaubanKeychainModel
internal import VaubanLinuxHost
internal import VaubanRefusal
internal import VaubanSecretBytes

/// The objects of the service. Each call runs on the thread of its client, so the calls of one client stay in order, and a call that waits
/// does not delay other clients.
final class SecretServiceObjects: Sendable {
    let sessions = Sessions()
    let listeners = Listeners()
    let lockReaders: LockReaders
    let prompts: Prompts
    let records: CollectionRecords
    let keychainLock: KeychainLock
    let keychainItems: KeychainItems
    let memoryItems = MemoryItems()
    let access: ItemAccess
    let portal: SecretPortal
    let walletFolders: WalletFolders
    let walletHandles: WalletHandles
    let walletWaits = WalletWaits()
    /// Held while a list of items or collections is searched and sent.
    let listing = ThreadMutex(())
    /// Held while the items that clients have read are searched and sent after a lock or an unlock.
    let lockListing = ThreadMutex(())
    let send: @Sendable (BusOutgoing) -> Void

    init(_ service: Service, isShared: Bool, send: @escaping @Sendable (BusOutgoing) -> Void) {
        let keychain = KeychainClient(service: service, startsService: false)
        records = CollectionRecords(keychain)
        keychainItems = KeychainItems(keychain, records)
        keychainLock = KeychainLock(service)
        lockReaders = LockReaders(service)
        access = ItemAccess(keychain, service, isShared: isShared)
        prompts = Prompts(keychainLock, send: send)
        portal = SecretPortal(keychain, keychainLock, send: send)
        walletFolders = WalletFolders(keychain)
        walletHandles = WalletHandles(service: service, lock: keychainLock, listeners: listeners, access: access, send: send)
        self.send = send
    }

    /// Releases everything that belongs to a client that left the bus.
    func end(of client: BusClient) {
        client.leave()
        listeners.end(of: client.name)
        lockReaders.end(of: client.name)
        sessions.end(of: client.name)
        prompts.end(of: client.name)
        portal.end(of: client.name)
        walletWaits.end(of: client.name)
        walletHandles.end(of: client.name)
    }

    /// Returns the results of a call; nil if the reply follows later.
    func answer(_ call: BusCall, from client: BusClient) throws -> [BusValue]? {
        guard var object = ObjectPath(call.path) else { throw BusError.noSuchObject }
        if case .alias(let name) = object {
            guard let target = try records.target(ofAlias: name) else { throw BusError.noSuchObject }
            object = .collection(target)
        }
        switch call.interface {
        case "org.freedesktop.DBus.Introspectable" where call.member == "Introspect":
            return [.string(try Introspection.document(of: object, self, for: client))]
        case "org.freedesktop.DBus.Properties": return try property(call, of: object, for: client)
        default: break
        }
        let method = "\(call.interface.isEmpty ? object.interface : call.interface).\(call.member)"
        guard object.interface.isEmpty || method.hasPrefix("\(object.interface)."), let signatures = Introspection.signatures[method]
        else {
            throw BusError(.unknownMethod, "No such method")
        }
        guard signatures.contains(call.signature) else {
            let types = signatures.map { "\"\($0)\"" }.joined(separator: " or ")
            throw BusError(.invalidArguments, "The method takes arguments of the types \(types)")
        }
        switch object {
        case .service: return try serviceMethod(call, from: client)
        case .collection(let identifier): return try collectionMethod(call, of: identifier, from: client)
        case .item(let collection, let identifier): return try itemMethod(call, of: identifier, in: collection, from: client)
        case .session:
            try sessions.close(call.path, of: client.name)
            return []
        case .prompt where call.member == "Prompt":
            try prompts.show(call, for: client)
            return nil
        case .prompt:
            try prompts.dismiss(call.path, by: client)
            return []
        case .portal:
            try portal.retrieve(call, for: client)
            return nil
        case .portalRequest:
            try portal.close(call.path, by: client)
            return []
        case .wallets: return try walletMethod(call, from: client)
        case .alias, .folder: throw BusError.noSuchObject
        }
    }

    // MARK: Shared parts of methods

    func store(of collection: String) -> any ItemStore { collection == MemoryItems.collection ? memoryItems : keychainItems }

    /// Returns an item as a client sees it: locked until the client may use it.
    func item(_ identifier: String, in collection: String, for client: BusClient) throws -> StoredItem {
        let item = try store(of: collection).item(identifier, in: collection)
        return try access.mayUse(item, identifier, by: client) ? item : .locked
    }

    /// Throws if a client may not use an item in its present state. Repeat the check before changing the item, which another client may
    /// replace meanwhile.
    func throwIfClosed(_ identifier: String, in collection: String, for client: BusClient) throws {
        guard access.isLimited(client) else { return }
        try throwIfClosed(try store(of: collection).item(identifier, in: collection), identifier, for: client)
    }

    /// Throws if a client may not use an item that was read.
    func throwIfClosed(_ item: StoredItem, _ identifier: String, for client: BusClient) throws {
        guard access.isLimited(client) else { return }
        guard try !item.isLocked && access.mayUse(item, identifier, by: client) else {
            throw BusError(.isLocked, "Another program stored the item, or the keychain is locked. Unlock returns a prompt for the user")
        }
    }

    /// Returns the places that a client may see. A sandboxed application finds an item that it may not use by attributes, but never in a
    /// list of all items. Items that another client deletes meanwhile are omitted.
    func visible(_ places: [ItemPlace], having pairs: [SecretServiceAttributes.Pair], for client: BusClient) throws -> [ItemPlace] {
        guard access.isLimited(client) else { return places }
        return try places.compactMap { place in
            guard let found = try unlessGone({ try item(place.identifier, in: place.collection, for: client) }) else { return nil }
            guard found.isLocked else { return place }
            guard !pairs.isEmpty else { return nil }
            return ItemPlace(collection: place.collection, identifier: place.identifier, isLocked: true)
        }
    }

    /// Returns the identifiers of all collections. Before the first unlock only those that always exist are known.
    func collections(repeats: Bool = true) throws(Refusal) -> [String] {
        do throws(Refusal) { return try records.identifiers(repeats: repeats) + [MemoryItems.collection] } catch {
            guard error.reason == .beforeFirstUnlock else { throw error }
            return [KeychainItems.login, MemoryItems.collection]
        }
    }

    /// Returns a collection's own record; throws if the collection does not exist.
    @discardableResult
    func collection(_ identifier: String) throws -> CollectionRecords.Collection {
        guard identifier.utf8.count <= SecretServiceAttributes.collectionBytesMax else { throw BusError.noSuchObject }
        if identifier == MemoryItems.collection {
            return CollectionRecords.Collection(identifier: identifier, label: "Session", created: 0, modified: 0)
        }
        do throws(Refusal) {
            if let found = try records.collection(identifier) { return found }
        } catch {
            guard error.reason == .beforeFirstUnlock, identifier == KeychainItems.login else { throw error }
            return CollectionRecords.Collection(identifier: identifier, label: "Login", created: 0, modified: 0)
        }
        throw BusError.noSuchObject
    }

    /// Returns whether a collection is locked, for a reply. A state that clients do not know is sent to all of them first.
    func isLocked(_ collection: String) throws(Refusal) -> Bool {
        guard collection != MemoryItems.collection else { return false }
        let isLocked = try keychainLock.isLocked
        if lockReaders.lastReported(else: isLocked) != isLocked { signalLock() }
        return lockReaders.lastReported(else: isLocked)
    }

    /// Returns the secret and its content type from a client's structure `(oayays)`.
    func secret(in structure: BusValue, of client: BusClient) throws -> (secret: SharedSecret, contentType: String) {
        let parts = structure.elements
        guard parts.count == 4, let path = parts[0].text, let parameters = parts[1].secret, let value = parts[2].secret,
            let contentType = parts[3].text
        else { throw BusError(.invalidArguments, "The secret cannot be read") }
        let secret = try sessions.session(path, of: client.name).opened(parameters, value)
        guard secret.bytes.count <= SecretServiceLimits.secretBytesMax else {
            throw BusError(.limitsExceeded, "A secret has at most 1 MiB")
        }
        return (secret, contentType)
    }
}

extension ObjectPath {
    var interface: String {
        switch self {
        case .service: "org.freedesktop.Secret.Service"
        case .collection, .alias: "org.freedesktop.Secret.Collection"
        case .item: "org.freedesktop.Secret.Item"
        case .session: "org.freedesktop.Secret.Session"
        case .prompt: "org.freedesktop.Secret.Prompt"
        case .portal: "org.freedesktop.impl.portal.Secret"
        case .portalRequest: "org.freedesktop.impl.portal.Request"
        case .wallets: WalletInterface.name
        case .folder: ""
        }
    }
}

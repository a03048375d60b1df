internal import VaubanKeychainModel
internal import VaubanRefusal
internal import VaubanSecretBytes

extension SecretServiceObjects {
    func serviceMethod(_ call: BusCall, from client: BusClient) throws -> [BusValue] {
        let arguments = call.arguments
        switch call.member {
        case "OpenSession": return try sessions.open(arguments[0].text ?? "", arguments[1], for: client)
        case "SearchItems": return try search(arguments[0].pairs, for: client)
        case "GetSecrets": return [try secrets(of: arguments[0].texts, session: arguments[1].text ?? "", for: client)]
        case "Unlock": return try unlock(arguments[0].texts, for: client)
        case "Lock":
            // An application could have the user enter the passcode again and again.
            guard !access.isLimited(client) else { return [.paths([]), .path(ObjectPath.none)] }
            return try lock(arguments[0].texts)
        case "CreateCollection": return try createCollection(arguments[0], alias: arguments[1].text ?? "", for: client)
        case "ReadAlias":
            let target = try records.target(ofAlias: arguments[0].text ?? "")
            return [.path(target.map(ObjectPath.collection(path:)) ?? ObjectPath.none)]
        case "SetAlias":
            try access.throwIfLimited(client)
            return try setAlias(arguments[0].text ?? "", to: arguments[1].text ?? "")
        default: throw BusFailure(.unknownMethod, "No such method")
        }
    }

    private func search(_ pairs: [SecretServiceAttributes.Pair], for client: BusClient) throws -> [BusValue] {
        let all = try keychainItems.places(having: pairs, in: nil) + memoryItems.places(having: pairs, in: nil)
        let places = try visible(all, having: pairs, for: client)
        return [.paths(places.filter { !$0.isLocked }.map(\.path)), .paths(places.filter(\.isLocked).map(\.path))]
    }

    /// Returns the secrets of items in their order, without locked items and invalid paths.
    private func secrets(of paths: [String], session path: String, for client: BusClient) throws -> BusValue {
        let session = try sessions.session(path, of: client.name)
        var found: [BusValue] = []
        var count = 0
        for start in stride(from: 0, to: paths.count, by: SecretServiceLimits.secretsAtOnce) {
            let paths = paths[start...].prefix(SecretServiceLimits.secretsAtOnce)
            for (path, (secret, contentType)) in try secrets(of: Array(paths), for: client) {
                count += secret.bytes.count
                guard count <= SecretServiceLimits.answerBytesMax else {
                    throw BusFailure(.limitsExceeded, "These secrets are too large for one answer")
                }
                found.append(.entry(.path(path), try session.sealed(secret.bytes, contentType: contentType)))
            }
        }
        return .array("{o(oayays)}", found)
    }

    private func secrets(of paths: [String], for client: BusClient) throws -> [(path: String, secret: ItemSecret)] {
        let open: [(path: String, place: ItemPlace)] = try paths.compactMap { path in
            guard case .item(let collection, let identifier)? = ObjectPath(path) else { return nil }
            return try unlessOfItem {
                try throwIfClosed(identifier, in: collection, for: client)
                return (path, ItemPlace(collection: collection, identifier: identifier, isLocked: false))
            }
        }
        let kept = open.map(\.place).filter { $0.collection != MemoryItems.collection }
        var outcomes = try keychainItems.secrets(of: kept, for: client).makeIterator()
        return try open.compactMap { path, place in
            try unlessOfItem {
                guard place.collection != MemoryItems.collection, let outcome = outcomes.next() else {
                    return (path, try memoryItems.secret(of: place.identifier, in: place.collection, for: client))
                }
                return (path, try outcome.get())
            }
        }
    }

    /// Returns what `body` does; nil if it throws an error that concerns one item and not the whole request.
    private func unlessOfItem<Value>(_ body: () throws -> Value) throws -> Value? {
        do { return try body() } catch let refusal as Refusal where BusFailure(refusal).isOfItem {
            return nil
        } catch let failure as BusFailure where failure.isOfItem {
            return nil
        }
    }

    private func unlock(_ paths: [String], for client: BusClient) throws -> [BusValue] {
        let known = try paths.filter(isKnown)
        let locked = try keychainLock.isLocked ? known.filter(isKept) : []
        let closed = try locked + known.filter { try !locked.contains($0) && !foreignItems([$0], for: client).isEmpty }
        let open = known.filter { !closed.contains($0) }
        guard !closed.isEmpty else { return [.paths(open), .path(ObjectPath.none)] }
        let prompt = try prompts.make(for: client, nothing: .paths([])) { [self] wait in
            if !locked.isEmpty { lockChanged() }
            let foreign = try foreignItems(closed, for: client)
            if !foreign.isEmpty {
                guard let call = wait.beginCall(afterUnlock: true) else { throw Refusal(.cancelled) }
                try access.askConsent(for: foreign, to: client, call)
            }
            return .paths(known)
        }
        return [.paths(open), .path(prompt)]
    }

    /// Returns the items among paths that a client may use only with the user's consent.
    private func foreignItems(_ paths: [String], for client: BusClient) throws -> [(identifier: String, label: String)] {
        guard access.isLimited(client) else { return [] }
        return try paths.compactMap { path in
            guard case .item(let collection, let identifier)? = ObjectPath(path),
                let item = try? store(of: collection).item(identifier, in: collection),
                try !access.mayUse(item, identifier, by: client)
            else { return nil }
            return (identifier, item.label)
        }
    }

    private func lock(_ paths: [String]) throws -> [BusValue] {
        let kept = try paths.filter(isKnown).filter(isKept)
        guard !kept.isEmpty, try keychainLock.lock() else { return [.paths([]), .path(ObjectPath.none)] }
        lockChanged()
        return [.paths(kept), .path(ObjectPath.none)]
    }

    private func lockChanged() {
        for identifier in (try? collections()) ?? [] where identifier != MemoryItems.collection {
            let path = ObjectPath.collection(path: identifier)
            propertiesChanged(path, interface: "Collection", properties: [("Locked", .boolean((try? isLocked(identifier)) ?? true))])
            signal(ObjectPath.root, interface: "Service", member: "CollectionChanged", values: [.path(path)])
        }
    }

    private func isKnown(_ path: String) throws -> Bool {
        switch ObjectPath(path) {
        case .collection(let identifier): return (try? collection(identifier)) != nil
        case .alias(let name): return try records.target(ofAlias: name) != nil
        case .item(let collection, let identifier): return (try? store(of: collection).item(identifier, in: collection)) != nil
        default: return false
        }
    }

    /// Whether an object is subject to the keychain's lock.
    private func isKept(_ path: String) -> Bool {
        switch ObjectPath(path) {
        case .collection(let identifier), .alias(let identifier): identifier != MemoryItems.collection
        case .item(let collection, _): collection != MemoryItems.collection
        default: false
        }
    }

    private func createCollection(_ properties: BusValue, alias: String, for client: BusClient) throws -> [BusValue] {
        let label = properties.entries.first { $0.name == "org.freedesktop.Secret.Collection.Label" }?.value.text ?? ""
        guard label.utf8.count <= SecretServiceLimits.labelBytesMax else { throw BusFailure(.limitsExceeded, "The label is too long") }
        // A program that requests its alias again receives the existing collection.
        let mayExist = !alias.isEmpty && alias.utf8.count <= SecretServiceAttributes.collectionBytesMax
        if mayExist, let target = try records.target(ofAlias: alias) {
            return [.path(ObjectPath.collection(path: target)), .path(ObjectPath.none)]
        }
        if !alias.isEmpty {
            try access.throwIfLimited(client)
            try throwIfUnusable(alias)
        }
        let action: @Sendable () throws -> BusValue = { [self] in
            let identifier = try createCollection(label: label, for: client)
            if !alias.isEmpty { try records.setAlias(alias, to: identifier) }
            return .path(ObjectPath.collection(path: identifier))
        }
        guard try keychainLock.isLocked else { return [try action(), .path(ObjectPath.none)] }
        return [.path(ObjectPath.none), .path(try prompts.make(for: client, nothing: .path(ObjectPath.none)) { _ in try action() })]
    }

    /// Creates a collection in the unlocked keychain, and returns its identifier.
    func createCollection(label: String, for client: BusClient) throws -> String {
        let isLimited = access.isLimited(client)
        let max = isLimited ? SecretServiceLimits.collectionsOfSandboxesMax : SecretServiceLimits.collectionsMax
        guard try records.identifiers().count < max else {
            let words = isLimited ? "There are too many collections for a sandboxed app to create one" : "There are too many collections"
            throw BusFailure(.limitsExceeded, words)
        }
        let identifier = try records.create(label: label)
        signal(
            ObjectPath.root, interface: "Service", member: "CollectionCreated", values: [.path(ObjectPath.collection(path: identifier))])
        propertyInvalidated(ObjectPath.root, interface: "Service", name: "Collections")
        walletsSignal("walletCreated", [.string(label)])
        walletsSignal("walletListDirty", [])
        return identifier
    }

    private func setAlias(_ alias: String, to path: String) throws -> [BusValue] {
        try throwIfUnusable(alias)
        if path == ObjectPath.none {
            try records.setAlias(alias, to: nil)
            return []
        }
        guard case .collection(let identifier)? = ObjectPath(path) else { throw BusFailure.noSuchObject }
        try collection(identifier)
        try records.setAlias(alias, to: identifier)
        return []
    }

    /// Throws if an alias cannot be set.
    private func throwIfUnusable(_ alias: String) throws {
        guard !alias.isEmpty, alias.utf8.count <= SecretServiceAttributes.collectionBytesMax,
            alias != KeychainItems.login, alias != MemoryItems.collection
        else { throw BusFailure(.notSupported, "This alias cannot be set") }
        let aliases = try records.aliases()
        guard aliases.count < SecretServiceLimits.aliasesMax || aliases.contains(alias) else {
            throw BusFailure(.limitsExceeded, "There are too many aliases")
        }
    }
}

extension BusFailure {
    /// Whether the error concerns one item and not the whole request.
    fileprivate var isOfItem: Bool {
        name == Kind.isLocked.rawValue || name == Kind.noSuchObject.rawValue || name == Kind.accessDenied.rawValue
    }
}

extension BusValue {
    /// The attributes in a dictionary of strings.
    var pairs: [SecretServiceAttributes.Pair] {
        entries.compactMap { entry in entry.value.text.map { SecretServiceAttributes.Pair(entry.name, $0) } }
    }
}

internal import VaubanKeychainModel
internal import VaubanRefusal
internal import VaubanSecretBytes

extension SecretServiceObjects {
    func serviceMethod(_ call: BusCall, from client: BusClient) throws -> [BusValue] {
        let arguments = call.arguments
        switch call.member {
        case "OpenSession": return try sessions.open(arguments[0].text ?? "", arguments[1], for: client)
        case "SearchItems": return try search(arguments[0].pairs, for: client)
        case "GetSecrets": return [try secrets(call, for: client)]
        case "Unlock": return try unlock(arguments[0].texts, for: client)
        case "Lock":
            // Without this limit, a sandboxed application could prompt the user for the passcode again and again.
            guard !access.isLimited(client) else { return [.paths([]), .path(ObjectPath.none)] }
            return try lock(arguments[0].texts, for: client)
        case "CreateCollection": return try createCollection(arguments[0], alias: arguments[1].text ?? "", for: client)
        case "ReadAlias":
            let target = try records.target(ofAlias: arguments[0].text ?? "")
            return [.path(target.map(ObjectPath.collection(path:)) ?? ObjectPath.none)]
        case "SetAlias":
            try access.throwIfLimited(client)
            return try setAlias(arguments[0].text ?? "", to: arguments[1].text ?? "")
        default: throw BusError(.unknownMethod, "No such method")
        }
    }

    private func search(_ pairs: [SecretServiceAttributes.Pair], for client: BusClient) throws -> [BusValue] {
        let all = try keychainItems.places(having: pairs, in: nil) + memoryItems.places(having: pairs, in: nil)
        let places = try visible(all, having: pairs, for: client)
        return [.paths(places.filter { !$0.isLocked }.map(\.path)), .paths(places.filter(\.isLocked).map(\.path))]
    }

    /// Returns the secrets of items in their order, without those of locked items and invalid paths. Items that are refused are left out
    /// beside others. If there are no others, throws the first refusal: programs take an empty answer for secrets that are missing.
    private func secrets(_ call: BusCall, for client: BusClient) throws -> BusValue {
        let paths = call.arguments[0].texts
        let session = try sessions.session(call.arguments[1].text ?? "", of: client.name)
        let deadline = call.arrival + SecretServiceLimits.secretTime
        var found: [BusValue] = []
        var refused: BusError?
        var count = 0
        for start in stride(from: 0, to: paths.count, by: SecretServiceLimits.secretsAtOnce) {
            let paths = paths[start...].prefix(SecretServiceLimits.secretsAtOnce)
            for (path, item) in try secrets(of: Array(paths), for: client, until: deadline, refused: &refused) {
                count += item.secret.bytes.count
                guard count <= SecretServiceLimits.answerBytesMax else {
                    throw BusError(.limitsExceeded, "These secrets are too large for one answer")
                }
                found.append(.entry(.path(path), try session.sealed(item.secret.bytes, contentType: item.contentType)))
            }
        }
        if found.isEmpty, let refused { throw refused }
        return .array("{o(oayays)}", found)
    }

    private func secrets(
        of paths: [String], for client: BusClient, until deadline: UInt64, refused: inout BusError?
    ) throws -> [(path: String, item: ItemSecret)] {
        let open: [(path: String, place: ItemPlace)] = try paths.compactMap { path in
            guard case .item(let collection, let identifier)? = ObjectPath(path) else { return nil }
            return try unlessOfItem(&refused) {
                try throwIfClosed(identifier, in: collection, for: client)
                return (path, ItemPlace(collection: collection, identifier: identifier, isLocked: false))
            }
        }
        let kept = open.map(\.place).filter { $0.collection != MemoryItems.collection }
        var outcomes = try keychainItems.secrets(of: kept, for: client, until: deadline).makeIterator()
        return try open.compactMap { path, place in
            try unlessOfItem(&refused) {
                guard place.collection != MemoryItems.collection, let outcome = outcomes.next() else {
                    return (path, try secret(of: place.identifier, in: place.collection, for: client))
                }
                let item = try outcome.get()
                try throwIfClosed(item.item, place.identifier, for: client)
                return (path, item)
            }
        }
    }

    /// Returns the result of `body`; nil if its error concerns one item and not the whole request. Keeps the first error of an item that is
    /// neither locked nor gone.
    private func unlessOfItem<Value>(_ refused: inout BusError?, _ body: () throws -> Value) throws -> Value? {
        let failure: BusError
        do { return try body() } catch let refusal as Refusal where BusError(refusal).isOfItem {
            failure = BusError(refusal)
        } catch let error as BusError where error.isOfItem {
            failure = error
        }
        if failure.isRefusal { refused = refused ?? failure }
        return nil
    }

    private func unlock(_ paths: [String], for client: BusClient) throws -> [BusValue] {
        let isLocked = try keychainLock.isLocked
        var open: [String] = []
        var closed: [String] = []
        var mustUnlock = false
        for path in try distinct(paths) {
            switch try state(of: path, isLocked: isLocked, for: client) {
            case .open: open.append(path)
            case .foreign: closed.append(path)
            case .locked:
                closed.append(path)
                mustUnlock = true
            case .unknown: break
            }
        }
        guard !closed.isEmpty else { return [.paths(open), .path(ObjectPath.none)] }
        let prompt = try prompts.make(for: client, nothing: .paths([])) { [self, open, closed, mustUnlock] wait in
            if mustUnlock { signalLock(isChanged: true) }
            // Before the first unlock it was unknown which of them exist.
            let known = try mustUnlock ? closed.filter { try state(of: $0, isLocked: false, for: client) != .unknown } : closed
            return .paths(open + (try consented(known, for: client, wait)))
        }
        return [.paths(open), .path(prompt)]
    }

    /// Returns the objects that a client may use, after asking for consent to the first items that it may not. A prompt names each item, so
    /// its number of items is limited; the others stay locked for the client.
    private func consented(_ paths: [String], for client: BusClient, _ wait: UnlockWait) throws -> [String] {
        guard access.isLimited(client) else { return paths }
        var foreign: [ForeignItem] = []
        let permitted = try access.promptForConsent(to: client, wait) {
            foreign = try foreignItems(paths, for: client)
            return Array(foreign.prefix(SecretServiceLimits.consentItemsMax))
        }
        let closed = Set(foreign.map(\.place.path)).subtracting(permitted.map(\.place.path))
        return paths.filter { !closed.contains($0) }
    }

    /// Returns the items among paths that a client may use only with the user's consent.
    private func foreignItems(_ paths: [String], for client: BusClient) throws -> [ForeignItem] {
        try paths.compactMap { path in
            guard case .item(let collection, let identifier)? = ObjectPath(path),
                let item = try unlessGone({ try store(of: collection).item(identifier, in: collection) }),
                try !access.mayUse(item, identifier, by: client)
            else { return nil }
            return try ForeignItem(item, at: ItemPlace(collection: collection, identifier: identifier, isLocked: true))
        }
    }

    private func lock(_ paths: [String], for client: BusClient) throws -> [BusValue] {
        let kept = try distinct(paths).filter { try state(of: $0, isLocked: true, for: client) == .locked }
        guard !kept.isEmpty, try keychainLock.lock() else { return [.paths([]), .path(ObjectPath.none)] }
        signalLock(isChanged: true)
        return [.paths(kept), .path(ObjectPath.none)]
    }

    /// Returns paths in their order, each once.
    private func distinct(_ paths: [String]) throws(BusError) -> [String] {
        guard paths.count <= SecretServiceLimits.pathsMax else { throw BusError(.limitsExceeded, "Too many objects are named at once") }
        var seen: Set<String> = []
        return paths.filter { seen.insert($0).inserted }
    }

    /// What a client can do with an object: use it, use it after an unlock, or use it with the user's consent.
    private enum ObjectState { case open, locked, foreign, unknown }

    /// Returns the state of an object for a client, given whether the keychain is locked. Throws if it cannot be read: programs take an
    /// object that is left out for one that they cannot have.
    private func state(of path: String, isLocked: Bool, for client: BusClient) throws -> ObjectState {
        switch ObjectPath(path) {
        case .collection(let identifier):
            do {
                guard try unlessGone({ try collection(identifier) }) != nil else { return .unknown }
            } catch let refusal as Refusal where refusal.reason == .beforeFirstUnlock {
                // Whether it exists is unknown until then.
                return .locked
            }
            return isLocked && identifier != MemoryItems.collection ? .locked : .open
        case .alias(let name):
            guard let target = try records.target(ofAlias: name) else { return .unknown }
            return isLocked && target != MemoryItems.collection ? .locked : .open
        case .item(let collection, let identifier):
            guard let item = try unlessGone({ try store(of: collection).item(identifier, in: collection) }) else { return .unknown }
            if isLocked, collection != MemoryItems.collection { return .locked }
            return try access.mayUse(item, identifier, by: client) ? .open : .foreign
        default: return .unknown
        }
    }

    private func createCollection(_ properties: BusValue, alias: String, for client: BusClient) throws -> [BusValue] {
        let label = try properties.property("Label", of: "Collection")?.text ?? ""
        guard label.utf8.count <= SecretServiceLimits.labelBytesMax else { throw BusError(.limitsExceeded, "The label is too long") }
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
            throw BusError(.limitsExceeded, words)
        }
        // A wallet is found by its label, and KDE's programs use the default wallet without checking where it came from.
        if try isLimited && (label == Self.defaultWallet || records.all().contains(where: { $0.label == label })) {
            throw BusError(.accessDenied, "A sandboxed app cannot use the label of another collection or of KDE's default wallet")
        }
        let identifier = try records.create(label: label)
        collectionListChanged("CollectionCreated", identifier)
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
        guard case .collection(let identifier)? = ObjectPath(path) else { throw BusError.noSuchObject }
        try collection(identifier)
        try records.setAlias(alias, to: identifier)
        return []
    }

    /// Throws if an alias cannot be set.
    private func throwIfUnusable(_ alias: String) throws {
        guard !alias.isEmpty, alias.utf8.count <= SecretServiceAttributes.collectionBytesMax,
            alias != KeychainItems.login, alias != MemoryItems.collection
        else { throw BusError(.notSupported, "This alias cannot be set") }
        let aliases = try records.aliases()
        guard aliases.count < SecretServiceLimits.aliasesMax || aliases.contains(alias) else {
            throw BusError(.limitsExceeded, "There are too many aliases")
        }
    }
}

extension BusError {
    /// Whether the error concerns one item and not the whole request.
    fileprivate var isOfItem: Bool {
        name == Kind.isLocked.rawValue || name == Kind.noSuchObject.rawValue || isRefusal
    }

    /// Whether an item was refused for another reason than a lock: by the user, or because nobody could be asked.
    fileprivate var isRefusal: Bool { name == Kind.accessDenied.rawValue }
}

extension BusValue {
    /// The attributes in a dictionary of strings.
    var pairs: [SecretServiceAttributes.Pair] {
        entries.compactMap { entry in entry.value.text.map { SecretServiceAttributes.Pair(entry.name, $0) } }
    }
}

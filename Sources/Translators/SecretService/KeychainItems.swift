internal import VaubanAccessPolicy
internal import VaubanDER
internal import VaubanKeychainClient
internal import VaubanKeychainModel
internal import VaubanKeychainWire
internal import VaubanLinuxHost
internal import VaubanRefusal
internal import VaubanSecretBytes

/// The items of the keychain. This process caches none of them.
final class KeychainItems: ItemStore {
    /// The collection of items that have no collection attribute.
    static let login = "login"

    /// How often a change is started again because another client changed the item concurrently.
    private static let attemptsMax = 4
    private static let isBeingChanged = BusError(.failed, "Other programs keep changing the item; try again")

    let keychain: KeychainClient
    let records: CollectionRecords

    init(_ keychain: KeychainClient, _ records: CollectionRecords) {
        self.keychain = keychain
        self.records = records
    }

    func item(_ identifier: String, in collection: String) throws -> StoredItem {
        guard let record = try record(identifier, in: collection) else { return .locked }
        return ItemMapping.item(record)
    }

    /// Returns each item, or the refusal, in the order of their places. One request to the keychain covers all of them. With `isLocked`, an
    /// item that a lock closes counts as locked even while the keychain still has its keys.
    func items(at places: [ItemPlace], isLocked: Bool = false) throws -> [Result<StoredItem, Refusal>] {
        let queries = try places.map { try recordQuery($0.identifier) }
        return zip(places, try keychain.search(each: queries)).map { place, outcome -> Result<StoredItem, Refusal> in
            do throws(Refusal) {
                guard let record = try outcome.get().first?.record, belongs(record, to: place.collection) else {
                    throw Refusal(.itemNotFound)
                }
                return .success(isLocked && record.protection.availability == .unlocked ? .locked : ItemMapping.item(record))
            } catch {
                return Self.isLocked(error) ? .success(.locked) : .failure(error)
            }
        }
    }

    func secret(of identifier: String, in collection: String, for client: BusClient, until deadline: UInt64?) throws -> ItemSecret {
        let request = UserRequest(client, until: deadline)
        defer { request.end() }
        let found = try keychain.search(try secretQuery(identifier, client, for: request), for: request)
        return try secret(among: found, of: collection)
    }

    /// Returns the secret of each item, or the refusal, in the order of the items. One request to the keychain covers all of them.
    func secrets(of places: [ItemPlace], for client: BusClient, until deadline: UInt64) throws -> [Result<ItemSecret, any Error>] {
        let request = UserRequest(client, until: deadline)
        defer { request.end() }
        let queries = places.map { place in Result { try secretQuery(place.identifier, client, for: request) } }
        var outcomes = try keychain.search(each: queries.compactMap { try? $0.get() }, for: request).makeIterator()
        return zip(places, queries).map { place, query in
            Result {
                _ = try query.get()
                guard let outcome = outcomes.next() else { throw BusError.noSuchObject }
                return try secret(among: try outcome.get(), of: place.collection)
            }
        }
    }

    private func secretQuery(_ identifier: String, _ client: BusClient, for request: UserRequest) throws(BusError) -> ItemQuery {
        var query = try reference(identifier)
        query.returns = [.data, .attributes]
        if request.isTooLateToPrompt { query.authenticationUI = .fail }
        query.operationPrompt = "for \(client.words), through the Secret Service"
        return query
    }

    private func secret(among found: [ReceivedItem], of collection: String) throws(BusError) -> ItemSecret {
        guard let entry = found.first, let record = entry.record, belongs(record, to: collection) else { throw .noSuchObject }
        let item = ItemMapping.item(record)
        guard let secret = entry.takeSecret() else { return ItemSecret(item: item, secret: SharedSecret(copying: [])) }
        return ItemSecret(item: item, secret: SharedSecret(secret))
    }

    func create(
        _ edit: ItemEdit, in collection: String, replacing: (_ identifier: String, StoredItem) throws -> ItemEdit?
    ) throws -> ItemOutcome {
        let wanted = SecretServiceAttributes(collection: collection, attributes: edit.attributes ?? [])
        let compared = wanted.withoutGenericSchema
        // Another client may add or delete the same item concurrently.
        for _ in 0..<Self.attemptsMax {
            let equal = try records(having: compared).filter { $0.own.withoutGenericSchema.hasSameAttributes(as: compared) }
            // The client's own items precede those of others, and items with exactly these attributes precede those that differ in the
            // schema.
            let exact = equal.filter { $0.own.hasSameAttributes(as: wanted) } + equal.filter { !$0.own.hasSameAttributes(as: wanted) }
            let isOwn = { (record: ItemRecord) in ItemMapping.item(record).owner == edit.owner }
            let stored = exact.filter { isOwn($0.record) } + exact.filter { !isOwn($0.record) }
            // Without one of these, an item of `vauban set` that has exactly these attributes.
            let candidates =
                try stored.isEmpty ? plainRecords(having: compared) : stored.map { (reference: $0.reference, record: $0.record) }
            if let (reference, record, change) = try Self.firstReplaced(of: candidates, by: replacing) {
                do throws(Refusal) {
                    try write(change, to: reference, record: record, collection: collection)
                } catch {
                    if error.reason == .itemNotFound { continue }
                    throw error
                }
                return ItemOutcome(identifier: ItemMapping.identifier(reference), isNew: false)
            }
            let instance = equal.isEmpty ? [] : try Entropy.bytes(8)
            var attributes = try ItemMapping.attributes(edit, in: collection, instance: instance)
            // As for `vauban set`, in user mode too, where items without an owner would be `unsigned`.
            attributes[.accessGroup] = .text(AccessGroup.commandLine)
            let record = ItemRecord(kind: .genericPassword, attributes: attributes)
            do throws(Refusal) {
                guard let secret = edit.secret else { throw Refusal(.badParameter) }
                let added = try keychain.add(record, secret: secret.bytes.duplicate(), returns: [.reference])
                guard let reference = added?.reference else { throw Refusal(.internalError) }
                return ItemOutcome(identifier: ItemMapping.identifier(reference), isNew: true)
            } catch {
                guard error.reason == .duplicateItem else { throw error }
            }
        }
        throw Self.isBeingChanged
    }

    /// Returns the first item for which `replacing` returns an edit, and that edit.
    private static func firstReplaced(
        of candidates: [(reference: [UInt8], record: ItemRecord)], by replacing: (_ identifier: String, StoredItem) throws -> ItemEdit?
    ) throws -> (reference: [UInt8], record: ItemRecord, change: ItemEdit)? {
        for (reference, record) in candidates {
            guard let change = try replacing(ItemMapping.identifier(reference), ItemMapping.item(record)) else { continue }
            return (reference, record, change)
        }
        return nil
    }

    func change(_ identifier: String, in collection: String, edit: (StoredItem) throws -> ItemEdit) throws {
        for _ in 0..<Self.attemptsMax {
            guard let record = try record(identifier, in: collection) else { throw Refusal(.locked) }
            let item = ItemMapping.item(record)
            let change = try edit(item)
            let reference = ItemMapping.reference(identifier) ?? []
            do throws(Refusal) { return try write(change, to: reference, record: record, collection: collection) } catch {
                guard error.reason != .duplicateItem else { throw BusError(.failed, "Another item has these attributes") }
                guard error.reason == .itemNotFound, item.owner != nil else { throw error }
            }
        }
        throw Self.isBeingChanged
    }

    func delete(_ identifier: String, in collection: String, check: (StoredItem) throws -> Void) throws {
        for _ in 0..<Self.attemptsMax {
            let item = try self.item(identifier, in: collection)
            try check(item)
            if item.isLocked, try !isStored(identifier, in: collection) {
                // In `login`, the item may be one that was not stored over the bus, or a hidden one.
                if collection == Self.login { throw Refusal(.locked) }
                throw BusError.noSuchObject
            }
            let query = try reference(identifier).restricted(toOwner: item.owner)
            do throws(Refusal) { return try keychain.delete(query) } catch {
                guard error.reason == .itemNotFound, item.owner != nil else { throw error }
            }
        }
        throw Self.isBeingChanged
    }

    /// Deletes all items of a collection.
    func deleteAll(in collection: String) throws {
        let query = try query(SecretServiceAttributes(collection: collection, attributes: []))
        try keychain.deleteIfPresent(query.toChange)
    }

    // MARK: Requests

    private func write(_ edit: ItemEdit, to reference: [UInt8], record: ItemRecord, collection: String) throws(Refusal) {
        let instance = SecretServiceAttributes(record.attributes[.secretServiceAttributes])?.instance ?? []
        var edit = edit
        // Another text there, which the user gave the item, stands for the usual type and stays.
        if edit.contentType == ItemMapping.item(record).contentType { edit.contentType = nil }
        let attributes: ItemAttributes
        do { attributes = try ItemMapping.attributes(edit, in: collection, instance: instance) } catch { throw Refusal(.badParameter) }
        var query = ItemQuery(kind: .genericPassword).restricted(toOwner: ItemMapping.item(record).owner)
        query.reference = reference
        guard let secret = edit.secret else {
            return try keychain.update(query, ItemChanges(attributes: attributes), secret: nil)
        }
        try keychain.update(query, ItemChanges(attributes: attributes), secret: secret.bytes.duplicate())
    }

    /// Whether an item was stored over the bus in this collection, which its index shows even while it is locked.
    private func isStored(_ identifier: String, in collection: String) throws -> Bool {
        var query = try query(SecretServiceAttributes(collection: collection, attributes: []))
        query.reference = try reference(identifier).reference
        query.returns.insert(.reference)
        return try !found(query).isEmpty
    }

    /// Returns the record of an item, or nil while it is locked.
    private func record(_ identifier: String, in collection: String) throws -> ItemRecord? {
        let query = try recordQuery(identifier)
        let found: ReceivedItem?
        do throws(Refusal) { found = try keychain.search(query).first } catch {
            guard Self.isLocked(error) else { throw error }
            return nil
        }
        guard let record = found?.record, belongs(record, to: collection) else { throw BusError.noSuchObject }
        return record
    }

    private func recordQuery(_ identifier: String) throws(BusError) -> ItemQuery {
        var query = try reference(identifier)
        query.authenticationUI = .describe
        query.returns.insert(.attributes)
        return query
    }

    private static func isLocked(_ refusal: Refusal) -> Bool { refusal.reason == .locked || refusal.reason == .beforeFirstUnlock }

    private func belongs(_ record: ItemRecord, to collection: String) -> Bool {
        !ItemMapping.isHidden(record)
            && (SecretServiceAttributes(record.attributes[.secretServiceAttributes])?.collection ?? Self.login) == collection
    }

    /// Returns the items that have these attributes, with all of their attributes.
    func records(having wanted: SecretServiceAttributes) throws(Refusal)
        -> [(reference: [UInt8], record: ItemRecord, own: SecretServiceAttributes)]
    {
        Self.records(among: try found(try recordsQuery(wanted)))
    }

    func recordsQuery(_ wanted: SecretServiceAttributes) throws(Refusal) -> ItemQuery {
        var query: ItemQuery
        do { query = try self.query(wanted) } catch { throw Refusal(.badParameter) }
        query.returns = [.attributes, .reference]
        return query
    }

    static func records(among found: [ReceivedItem]) -> [(reference: [UInt8], record: ItemRecord, own: SecretServiceAttributes)] {
        found.compactMap { entry in
            guard let reference = entry.reference, let record = entry.record,
                let own = SecretServiceAttributes(record.attributes[.secretServiceAttributes])
            else { return nil }
            return (reference, record, own)
        }
    }

    func query(_ wanted: SecretServiceAttributes) throws -> ItemQuery {
        var query = ItemQuery(
            kind: .genericPassword, attributes: ItemAttributes([.secretServiceAttributes: .data(try wanted.encoded())]))
        query.limit = .all
        query.authenticationUI = .describe
        return query
    }

    private func reference(_ identifier: String) throws(BusError) -> ItemQuery {
        guard let reference = ItemMapping.reference(identifier) else { throw .noSuchObject }
        var query = ItemQuery(kind: .genericPassword)
        query.reference = reference
        return query
    }

    /// Returns the matching entries, and an empty array instead of an error if there are none.
    func found(_ query: ItemQuery, repeats: Bool = true) throws(Refusal) -> [ReceivedItem] {
        do throws(Refusal) { return try keychain.search(query, repeats: repeats) } catch { return try Self.found(.failure(error)) }
    }

    static func found(_ outcome: Result<[ReceivedItem], Refusal>) throws(Refusal) -> [ReceivedItem] {
        if case .failure(let refusal) = outcome, refusal.reason == .itemNotFound { return [] }
        return try outcome.get()
    }
}

extension ItemQuery {
    /// The query for the same items in a request that changes them.
    fileprivate var toChange: ItemQuery {
        var query = self
        query.authenticationUI = .allow
        return query
    }

    /// The query restricted to the item's owner at the time of the decision. If another client takes the item over meanwhile, the change
    /// must not affect what that client stored. The user's items cannot be taken over.
    fileprivate func restricted(toOwner owner: String?) -> ItemQuery {
        var query = self
        if let owner { query.attributes[.generic] = .text(owner) }
        return query
    }
}

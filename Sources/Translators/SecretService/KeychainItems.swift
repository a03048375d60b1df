internal import VaubanAccessPolicy
internal import VaubanDER
internal import VaubanKeychainClient
internal import VaubanKeychainModel
internal import VaubanKeychainWire
internal import VaubanLinuxHost
internal import VaubanRefusal
internal import VaubanSecretBytes

/// Items in the keychain. This process caches nothing of them.
final class KeychainItems: ItemStore {
    /// The collection of items that have no collection attribute.
    static let login = "login"

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

    func secret(of identifier: String, in collection: String, for client: BusClient) throws -> ItemSecret {
        let found = try keychain.search(try secretQuery(identifier, client), cancellation: client.cancellation)
        return try secret(among: found, of: collection)
    }

    /// Returns the secret of each item, or why it is not available, in their order. The keychain is asked for all of them together.
    func secrets(of places: [ItemPlace], for client: BusClient) throws -> [Result<ItemSecret, any Error>] {
        let queries = places.map { place in Result { try secretQuery(place.identifier, client) } }
        var outcomes = try keychain.search(each: queries.compactMap { try? $0.get() }, cancellation: client.cancellation).makeIterator()
        return zip(places, queries).map { place, query in
            Result {
                _ = try query.get()
                guard let outcome = outcomes.next() else { throw BusFailure.noSuchObject }
                return try secret(among: try outcome.get(), of: place.collection)
            }
        }
    }

    private func secretQuery(_ identifier: String, _ client: BusClient) throws(BusFailure) -> ItemQuery {
        var query = try reference(identifier)
        query.returns = [.data, .attributes]
        query.operationPrompt = "for \(client.words), through the Secret Service"
        return query
    }

    private func secret(among found: [FoundEntry], of collection: String) throws(BusFailure) -> ItemSecret {
        guard let entry = found.first, let record = entry.record, belongs(record, to: collection) else { throw .noSuchObject }
        let contentType = ItemMapping.item(record).contentType
        guard let secret = entry.takeSecret() else { return (SharedSecret(copying: []), contentType) }
        return (SharedSecret(secret), contentType)
    }

    func create(
        _ edit: ItemEdit, in collection: String, replacing mayReplace: (_ identifier: String, StoredItem) throws -> Bool
    ) throws -> ItemOutcome {
        let wanted = SecretServiceAttributes(collection: collection, attributes: edit.attributes ?? [])
        let compared = wanted.withoutGenericSchema
        // Another client may add or delete the same item in the meantime.
        for _ in 0..<4 {
            let equal = try records(having: compared).filter { $0.own.withoutGenericSchema.hasSameAttributes(as: compared) }
            // The client's own come before those of others, and one with exactly these attributes before one that differs in the schema.
            let exact = equal.filter { $0.own.hasSameAttributes(as: wanted) } + equal.filter { !$0.own.hasSameAttributes(as: wanted) }
            let isOwn = { (record: ItemRecord) in ItemMapping.item(record).owner == edit.owner }
            let candidates = exact.filter { isOwn($0.record) } + exact.filter { !isOwn($0.record) }
            if let same = try candidates.first(where: { try mayReplace(ItemMapping.identifier($0.reference), ItemMapping.item($0.record)) })
            {
                var edit = edit
                edit.attributes = nil
                edit.owner = ItemMapping.item(same.record).ownerReplaced(by: edit.owner)
                let identifier = ItemMapping.identifier(same.reference)
                do throws(Refusal) {
                    try write(edit, to: same.reference, record: same.record, collection: collection)
                } catch {
                    if error.reason == .itemNotFound { continue }
                    throw error
                }
                return ItemOutcome(identifier: identifier, isNew: false, isTakenOver: edit.owner != nil)
            }
            let instance = equal.isEmpty ? [] : try Entropy.bytes(8)
            let record = ItemRecord(
                kind: .genericPassword, attributes: try ItemMapping.attributes(edit, in: collection, instance: instance))
            do throws(Refusal) {
                guard let secret = edit.secret else { throw Refusal(.badParameter) }
                let added = try keychain.add(record, secret: secret.bytes.duplicate(), returns: [.reference])
                guard let reference = added?.reference else { throw Refusal(.internalError) }
                return ItemOutcome(identifier: ItemMapping.identifier(reference), isNew: true)
            } catch {
                guard error.reason == .duplicateItem else { throw error }
            }
        }
        throw BusFailure(.failed, "The item is being changed by others")
    }

    func change(_ identifier: String, in collection: String, _ edit: ItemEdit) throws {
        guard let record = try record(identifier, in: collection) else { throw Refusal(.locked) }
        let reference = ItemMapping.reference(identifier) ?? []
        do throws(Refusal) { try write(edit, to: reference, record: record, collection: collection) } catch {
            guard error.reason == .duplicateItem else { throw error }
            throw BusFailure(.failed, "Another item has these attributes")
        }
    }

    func delete(_ identifier: String, in collection: String) throws {
        if try record(identifier, in: collection) == nil, try !isStored(identifier, in: collection) {
            // In `login` it may be an item that was not stored over the bus, or one that is hidden there.
            if collection == Self.login { throw Refusal(.locked) }
            throw BusFailure.noSuchObject
        }
        try keychain.delete(try reference(identifier))
    }

    /// Deletes all items of a collection.
    func deleteAll(in collection: String) throws {
        let query = try query(SecretServiceAttributes(collection: collection, attributes: []))
        try keychain.deleteIfPresent(query.toChange)
    }

    // MARK: Requests

    private func write(_ edit: ItemEdit, to reference: [UInt8], record: ItemRecord, collection: String) throws(Refusal) {
        let instance = SecretServiceAttributes(record.attributes[.secretServiceAttributes])?.instance ?? []
        let attributes: ItemAttributes
        do { attributes = try ItemMapping.attributes(edit, in: collection, instance: instance) } catch { throw Refusal(.badParameter) }
        var query = ItemQuery(kind: .genericPassword)
        query.reference = reference
        guard let secret = edit.secret else {
            return try keychain.update(query, ItemChanges(attributes: attributes), secret: nil)
        }
        try keychain.update(query, ItemChanges(attributes: attributes), secret: secret.bytes.duplicate())
    }

    /// Whether an item was stored over the bus in this collection, which its index tells while it is locked.
    private func isStored(_ identifier: String, in collection: String) throws -> Bool {
        var query = try query(SecretServiceAttributes(collection: collection, attributes: []))
        query.reference = try reference(identifier).reference
        query.returns.insert(.reference)
        return try !found(query).isEmpty
    }

    /// Returns the record of an item, or nil while it is locked.
    private func record(_ identifier: String, in collection: String) throws -> ItemRecord? {
        var query = try reference(identifier)
        query.authenticationUI = .describe
        query.returns.insert(.attributes)
        let found: FoundEntry?
        do throws(Refusal) { found = try keychain.search(query).first } catch {
            guard error.reason == .locked || error.reason == .beforeFirstUnlock else { throw error }
            return nil
        }
        guard let record = found?.record, belongs(record, to: collection) else { throw BusFailure.noSuchObject }
        return record
    }

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

    static func records(among found: [FoundEntry]) -> [(reference: [UInt8], record: ItemRecord, own: SecretServiceAttributes)] {
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

    private func reference(_ identifier: String) throws(BusFailure) -> ItemQuery {
        guard let reference = ItemMapping.reference(identifier) else { throw .noSuchObject }
        var query = ItemQuery(kind: .genericPassword)
        query.reference = reference
        return query
    }

    /// Returns the matching entries, and an empty array instead of an error if there are none.
    func found(_ query: ItemQuery) throws(Refusal) -> [FoundEntry] {
        do throws(Refusal) { return try keychain.search(query) } catch { return try Self.found(.failure(error)) }
    }

    static func found(_ outcome: Result<[FoundEntry], Refusal>) throws(Refusal) -> [FoundEntry] {
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
}

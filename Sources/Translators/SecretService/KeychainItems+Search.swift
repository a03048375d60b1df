// Finds the items with the attributes that a program searches for.

internal import VaubanDER
internal import VaubanKeychainClient
internal import VaubanKeychainModel
internal import VaubanKeychainWire
internal import VaubanRefusal

extension KeychainItems {
    func places(having pairs: [SecretServiceAttributes.Pair], in collection: String?) throws -> [ItemPlace] {
        let wanted = try recordsQuery(SecretServiceAttributes(collection: collection ?? "", attributes: pairs))
        let plain = plainQuery(pairs, collection)
        let outcomes = try keychain.search(each: [wanted] + (plain.map { [$0] } ?? []))
        var places: [ItemPlace] = []
        do throws(Refusal) {
            let found = Self.records(among: try Self.found(outcomes[0])).map { reference, record, own in
                let place = ItemPlace(collection: own.collection, identifier: ItemMapping.identifier(reference), isLocked: false)
                return (place, isUsers: ItemMapping.item(record).owner == nil)
            }
            // The user's items come first, since programs take the first result: it must not be an item that a sandboxed application stored
            // with another program's attributes.
            places = (found.filter(\.isUsers) + found.filter { !$0.isUsers }).map(\.0)
        } catch {
            guard error.reason == .locked else { throw error }
            for collection in try collection.map({ [$0] }) ?? records.identifiers() {
                let query = try query(SecretServiceAttributes(collection: collection, attributes: pairs))
                places += try closedPlaces(of: query, in: collection)
            }
        }
        if let plain, outcomes.count > 1 { places += try plainPlaces(outcomes[1], of: plain) }
        return places
    }

    func listed(in collection: String, max: Int) throws -> [ListedItem]? {
        var queries = [try recordsQuery(SecretServiceAttributes(collection: collection, attributes: []))]
        if let plain = plainQuery([], collection) { queries.append(plain) }
        for index in queries.indices { queries[index].limit = .count(Int64(max) + 1) }
        let outcomes = try keychain.search(each: queries, repeats: false)
        // Hidden records count here, since the search may have cut off visible ones.
        for case .success(let found) in outcomes where found.count > max { return nil }
        var items: [ListedItem] = []
        do throws(Refusal) {
            items = Self.records(among: try Self.found(outcomes[0])).map { reference, record, _ in
                (ItemMapping.identifier(reference), ItemAudience.Item(isLocked: false, owner: ItemMapping.item(record).owner))
            }
        } catch {
            guard error.reason == .locked else { throw error }
            // The index of a locked item yields its reference and nothing else.
            queries[0].returns = .reference
            items = try found(queries[0], repeats: false).compactMap(\.reference).map {
                (ItemMapping.identifier($0), ItemAudience.Item(isLocked: true, owner: nil))
            }
        }
        if outcomes.count > 1 {
            for place in try plainPlaces(outcomes[1], of: queries[1]) {
                items.append((place.identifier, ItemAudience.Item(isLocked: place.isLocked, owner: nil)))
            }
        }
        return items.count <= max ? items : nil
    }

    /// Returns the items of a collection that were stored over the bus and have these attributes. Throws while one of them is locked.
    func items(having pairs: [SecretServiceAttributes.Pair], in collection: String) throws(Refusal)
        -> [(identifier: String, item: StoredItem)]
    {
        try records(having: SecretServiceAttributes(collection: collection, attributes: pairs)).map { reference, record, _ in
            (ItemMapping.identifier(reference), ItemMapping.item(record))
        }
    }

    /// Whether no item of a collection that was stored over the bus has these attributes. The answer is exact for locked items too.
    func hasNone(having pairs: [SecretServiceAttributes.Pair], in collection: String) throws(Refusal) -> Bool {
        var query: ItemQuery
        do { query = try self.query(SecretServiceAttributes(collection: collection, attributes: pairs)) } catch {
            throw Refusal(.badParameter)
        }
        query.returns.insert(.reference)
        return try found(query).isEmpty
    }

    /// Returns the items of a collection while some are locked. They are found by their index, which reveals nothing else about them.
    private func closedPlaces(of query: ItemQuery, in collection: String) throws -> [ItemPlace] {
        var query = query
        query.returns = .reference
        let all = try found(query).compactMap(\.reference).map {
            ItemPlace(collection: collection, identifier: ItemMapping.identifier($0), isLocked: true)
        }
        var places: [ItemPlace] = []
        for start in stride(from: 0, to: all.count, by: SecretServiceLimits.secretsAtOnce) {
            let batch = Array(all[start...].prefix(SecretServiceLimits.secretsAtOnce))
            for (place, outcome) in zip(batch, try items(at: batch)) {
                guard let item = try unlessGone({ try outcome.get() }) else { continue }
                places.append(ItemPlace(collection: collection, identifier: place.identifier, isLocked: item.isLocked))
            }
        }
        return places
    }

    /// Returns the items with exactly these attributes that were not stored over the bus.
    func plainRecords(having wanted: SecretServiceAttributes) throws -> [(reference: [UInt8], record: ItemRecord)] {
        guard !wanted.attributes.isEmpty, let query = plainQuery(wanted.attributes, wanted.collection) else { return [] }
        return try found(query).compactMap { entry -> (reference: [UInt8], record: ItemRecord)? in
            guard let reference = entry.reference, let record = entry.record, !ItemMapping.isHidden(record) else { return nil }
            let attributes = ItemMapping.item(record).attributes
            let own = SecretServiceAttributes(collection: wanted.collection, attributes: attributes)
            guard own.hasSameAttributes(as: wanted) else { return nil }
            return (reference, record)
        }
    }

    /// Returns the query for items that were not stored over the bus; nil if none can be found.
    private func plainQuery(_ pairs: [SecretServiceAttributes.Pair], _ collection: String?) -> ItemQuery? {
        guard collection == nil || collection == Self.login, let attributes = ItemMapping.plainQuery(pairs) else { return nil }
        var query = ItemQuery(kind: .genericPassword, attributes: attributes)
        query.limit = .all
        query.authenticationUI = .describe
        query.returns = [.attributes, .reference]
        return query
    }

    /// Returns the items that were not stored over the bus, which are in the collection `login`. While one of them is locked, they are
    /// found by their index if the query names their service: only then it is known whether they are hidden.
    private func plainPlaces(_ outcome: Result<[ReceivedItem], Refusal>, of query: ItemQuery) throws -> [ItemPlace] {
        do throws(Refusal) {
            return try Self.found(outcome).compactMap { entry in
                guard let reference = entry.reference, let record = entry.record, !ItemMapping.isHidden(record) else { return nil }
                return ItemPlace(collection: Self.login, identifier: ItemMapping.identifier(reference), isLocked: false)
            }
        } catch {
            guard error.reason == .locked else { throw error }
        }
        guard let service = ItemMapping.text(query.attributes[.service]), !ItemMapping.isHidden(service: service) else { return [] }
        return try closedPlaces(of: query, in: Self.login)
    }
}

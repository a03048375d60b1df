// Selects the rows that a request examines: computes their blinds with an index key, and looks up the rows that a search may find by them.

internal import EnclaveWire
internal import KeychainStore
internal import VaubanAccessPolicy
internal import VaubanKeychainModel
internal import VaubanRefusal

extension RequestInProgress {
    /// Calls `body` with an index key, after verifying that the database's blinds were made with it. With another key, searches would find
    /// nothing and every item could be added twice.
    func withIndexKey<Value: Sendable>(_ purpose: KeyLease.Purpose, _ body: (IndexKey) throws -> Value) throws -> Value? {
        guard let generation = try keys.currentGeneration(of: purpose) else { return nil }
        try claim(purpose == .firstUnlockIndex ? 100 : 101, generation)
        return try keys.useIndex(purpose, generation: generation, body)
    }

    /// Binds the database to an index key. A database that is bound to another key is refused, unless the enclave reports that key as
    /// destroyed: then the keychain was erased, and these rows remained.
    private func claim(_ purpose: Int64, _ generation: [UInt8]) throws {
        for _ in 0..<KeychainLimits.attemptsMax {
            guard let recorded = try database.claim(indexKey: purpose, generation: generation) else { return }
            switch try keyStatus(purpose, recorded) {
            case .destroyed: try empty(purpose, recorded: recorded)
            // The leased key is the older of the two, since it was leased before the keychain was erased.
            case .current: throw Refusal(.keysChanged)
            case .older, .unknown: throw database.foreignKeys
            }
        }
        throw Refusal(.keysChanged)
    }

    /// Returns the blinds of a record. Throws if the first-unlock index key is not available.
    func blinds(_ record: ItemRecord) throws -> RowBlinds {
        let kind = record.kind
        let attributes = record.attributes
        guard let blinds = try withIndexKey(.firstUnlockIndex, { AttributeBlinds.ofRow(attributes, kind: kind, key: $0) }) else {
            throw keys.closed
        }
        var device: DeviceBlinds?
        if record.protection.availability == .always {
            device = try withIndexKey(.deviceIndex) { AttributeBlinds.ofRow(attributes, kind: kind, key: $0) }
            guard device != nil else { throw Refusal(.unavailable, "The enclave leases no device index key") }
        }
        return RowBlinds(primary: blinds.primary, list: blinds.list, lookups: blinds.lookups, device: device)
    }

    /// Returns the rows that may match the terms, by the best available index: those of the given groups, or of all groups if there are
    /// none.
    func selection(_ terms: SearchTerms, of groups: [String]) throws -> RowSelection {
        // A reference identifies its one row, so all attributes are filters.
        let lookup = terms.reference == nil ? AttributeBlinds.lookup(terms.attributes, kind: terms.kind) : []
        // The attributes used for the look-up need no second check.
        let filter = terms.attributes.compactMap { name, value -> IndexedAttribute? in
            guard let rule = AttributeRule.rule(for: name, of: terms.kind), rule.isIndexed, rule.part != .ifSet || !value.isEmpty,
                !lookup.contains(where: { $0.name == name })
            else { return nil }
            return IndexedAttribute(name: name, value: value)
        }.flatMap(\.terms)
        func plan(_ key: IndexKey, usesDeviceIndex: Bool) -> RowSelection {
            var selection = RowSelection(
                kind: terms.kind.rawValue, protection: terms.protection?.number,
                lookup: lookup.isEmpty ? nil : AttributeBlinds.blind(of: lookup, kind: terms.kind, key: key),
                filter: AttributeBlinds.list(of: filter, kind: terms.kind, key: key),
                anyOf: groups.map {
                    AttributeBlinds.list(of: [IndexedAttribute(name: .accessGroup, value: .text($0))], kind: terms.kind, key: key)
                },
                usesDeviceIndex: usesDeviceIndex)
            selection.item = terms.reference
            if lookup.isEmpty {
                selection.lookups = filter.filter { $0.name == .secretServiceAttributes }.map {
                    AttributeBlinds.blind(of: [$0], kind: terms.kind, key: key)
                }
            }
            return selection
        }
        if let selection = try withIndexKey(.firstUnlockIndex, { plan($0, usesDeviceIndex: false) }) { return selection }
        guard let selection = try withIndexKey(.deviceIndex, { plan($0, usesDeviceIndex: true) }) else {
            throw Refusal(.unavailable, "The enclave leases no device index key")
        }
        return selection
    }

    /// Calls `body` with the rows of a selection until it returns false. Reads in batches and holds nothing of the database while `body`
    /// runs.
    func forEachRow(of selection: RowSelection, batch: Int, _ body: (StoredRow) throws -> Bool) throws {
        let selection = try database.narrowed(selection)
        var last: Int64 = 0
        while true {
            let rows = try database.rows(of: selection, after: last, count: batch, bytesMax: KeychainLimits.searchBytesMax)
            guard let end = rows.last?.id else { return }
            for row in rows where try !callWithCurrentRow(row, of: selection, body) { return }
            // A batch that reached neither limit was the last one.
            let isLimited = rows.count >= batch || rows.reduce(0) { $0 + $1.countedBytes } >= KeychainLimits.searchBytesMax
            guard isLimited else { return }
            last = end
        }
    }

    /// Calls `body` again with the current row if another request wrote it meanwhile. Skips a row that no longer exists.
    private func callWithCurrentRow(_ row: StoredRow, of selection: RowSelection, _ body: (StoredRow) throws -> Bool) throws -> Bool {
        var row = row
        var attempts = 0
        repeat {
            attempts += 1
            do {
                return try body(row)
            } catch is RowHasChanged {
                guard let now = try database.row(row.id), now.item == row.item, selection.protection.map({ $0 == now.protection }) ?? true
                else { return true }
                row = now
            }
        } while mayRetry(after: attempts)
        throw Self.changedByOthers
    }
}

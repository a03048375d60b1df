import VaubanKeychainClient
import VaubanKeychainModel
import VaubanKeychainWire
import VaubanLinuxHost
import VaubanRefusal

/// The one item that a verb changes, with the query that means it and no other.
struct ItemTarget {
    let record: ItemRecord
    let query: ItemQuery
    /// Another program keeps it: each change of it takes the user's word.
    let isForeign: Bool
}

extension Session {
    /// The item that is meant. One of another program is meant only by its owner's name, and looking for it asks the user.
    func target(_ selection: ItemSelection, for verb: String) throws -> ItemTarget {
        try suggesting(selection) { try sought(selection, for: verb) }
    }

    private func sought(_ selection: ItemSelection, for verb: String) throws -> ItemTarget {
        do {
            let record = try one(selection, for: verb)
            return ItemTarget(record: record, query: query(for: record), isForeign: false)
        } catch let refusal as Refusal where refusal.reason == .itemNotFound && selection.owner != nil && service.mode == .system {
            let found = try matches(selection, ofAllOwners: true)
            guard let record = found.first else { throw refusal }
            guard found.count == 1 else { throw SeveralMatches(verb: verb, records: found) }
            var query = record.namesake(ofAnyOwner: false)
            query.authenticationUI = user.mayBeAsked || user.hasPreparedPasscode ? .allow : .fail
            return ItemTarget(record: record, query: query, isForeign: true)
        }
    }

    /// Changes everything about an item but its secret and its owner, asking the user where it asks.
    func change(_ target: ItemTarget, _ changes: ItemChanges, reason: String) throws {
        var query = target.query
        query.operationPrompt = reason
        let wanted = query
        try naming(target.record, changes.attributes) {
            if target.record.asks || target.isForeign {
                try opening { try asking { try keychain.update(wanted, changes, secret: nil, waiting: $0) } }
            } else {
                try opening { try keychain.update(wanted, changes, secret: nil) }
            }
        }
    }

    /// Moves an item to another owner, or copies it, within the service: no secret comes here.
    func transfer(_ target: ItemTarget, _ attributes: ItemAttributes, keepsOriginal: Bool, reason: String) throws {
        var query = target.query
        query.operationPrompt = reason
        let wanted = query
        try naming(target.record, attributes) {
            try opening { try asking { try keychain.transfer(wanted, attributes, keepsOriginal: keepsOriginal, waiting: $0) } }
        }
    }

    /// A name that is taken is told with the name.
    private func naming(_ record: ItemRecord, _ attributes: ItemAttributes, _ work: () throws -> Void) throws {
        do { try work() } catch let refusal as Refusal where refusal.reason == .duplicateItem && refusal.detail == nil {
            let taken = ItemRecord(kind: record.kind, attributes: record.attributes.merging(attributes))
            throw Refusal(.duplicateItem, "\(SafeText.visible(taken.owner)) has another \(taken.name); nothing was changed")
        }
    }
}

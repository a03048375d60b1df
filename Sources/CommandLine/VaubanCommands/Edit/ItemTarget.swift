import ArgumentParser
import VaubanAccessPolicy
import VaubanKeychainClient
import VaubanKeychainModel
import VaubanKeychainWire
import VaubanLinuxHost
import VaubanRefusal

/// The one item that a verb changes, with a query that matches exactly this item.
struct ItemTarget {
    let record: ItemRecord
    let query: ItemQuery
    /// Whether another program owns the item; each change of it then needs the user's consent.
    let isForeign: Bool
}

extension ServiceClient {
    /// Returns the selected item. An item of another program is selected only by its owner's name, and the search prompts the user.
    func target(_ selection: ItemSelection, for verb: String) throws -> ItemTarget {
        try withSuggestions(selection) { try sought(selection, for: verb) }
    }

    private func sought(_ selection: ItemSelection, for verb: String) throws -> ItemTarget {
        do {
            let record = try one(selection, for: verb)
            return ItemTarget(record: record, query: try query(for: record), isForeign: false)
        } catch let refusal as Refusal where refusal.reason == .itemNotFound && selection.owner != nil && service.mode == .system {
            let found = try matches(selection, ofAllOwners: true)
            guard let record = found.first else { throw refusal }
            guard found.count == 1 else { throw SeveralMatches(verb: verb, records: found) }
            var query = record.namesake(ofAnyOwner: false)
            query.authenticationUI = user.mayBePrompted || user.hasPreparedPasscode ? .allow : .fail
            return ItemTarget(record: record, query: query, isForeign: true)
        }
    }

    /// Checks that there can be an owner of this name. In user mode, where an owner is only a label, the keychain accepts any word, also a
    /// misspelled one that no program has; the installed service checks this itself.
    ///
    /// - Throws: A refusal (`badParameter`) that says which owners there are.
    func requireOwner(_ owner: String) throws {
        guard service.mode != .system else { return }
        let isOwner = [AccessGroup.commandLine, AccessGroup.unsigned].contains(owner) || ApplicationIdentifier(text: owner).isWellFormed
        let isGroup = owner.contains(".") && ApplicationIdentifier.isPackageName(owner)
        // A program may have chosen a group without a dot.
        guard !isOwner, !isGroup, try matches(ItemSelection.parse(["--owner=\(owner)"])).isEmpty else { return }
        throw Refusal(
            .badParameter,
            "No owner can have the name \(SafeText.line(owner, max: 100)); an owner is cli, a program such as program:/usr/bin/mail, "
                + "flatpak:NAME or snap:NAME, or an access group with a dot such as TEAM.shared")
    }

    /// Changes an item's attributes except its owner, and not its secret. Prompts the user if the item requires it.
    func change(_ target: ItemTarget, _ changes: ItemChanges, reason: String) throws {
        var query = target.query
        query.operationPrompt = reason
        let wanted = query
        try withDuplicateExplained(target.record, attributes: changes.attributes) {
            if target.record.needsApproval || target.isForeign {
                try withUnlock { try withPrompts { try keychain.update(wanted, changes, secret: nil, waiting: $0) } }
            } else {
                try withUnlock { try keychain.update(wanted, changes, secret: nil) }
            }
        }
    }

    /// How often a change is tried again because the item was changed meanwhile.
    private static var roundsMax: Int { 64 }

    /// Changes an item by what `changes` makes of its record. If something else changes the item before that is written, perhaps while the
    /// user is prompted, `changes` gets the new record. Returns the item as it was before the change, and the changes. Another program's
    /// item is read only once, since each time needs the user's consent.
    func change(
        _ target: ItemTarget, reason: String, by changes: (ItemRecord) throws -> ItemChanges
    ) throws -> (target: ItemTarget, changes: ItemChanges) {
        var target = target
        for _ in 0..<Self.roundsMax {
            let wanted = try changes(target.record)
            guard wanted != ItemChanges(attributes: ItemAttributes()) else { return (target, wanted) }
            guard !target.isForeign else {
                try change(target, wanted, reason: reason)
                return (target, wanted)
            }
            // Every change of an item changes its date, so this query matches the item only as it was read.
            var query = target.query
            query.attributes[.modificationDate] = target.record.attributes[.modificationDate]
            do {
                try change(ItemTarget(record: target.record, query: query, isForeign: false), wanted, reason: reason)
                return (target, wanted)
            } catch let refusal as Refusal where refusal.reason == .itemNotFound {
                guard let record = try present(target), record != target.record else { throw refusal }
                target = ItemTarget(record: record, query: target.query, isForeign: false)
            }
        }
        throw Refusal(.unavailable, "Other programs keep changing the item; try again")
    }

    /// Returns the record of an item as it is now; nil if it is gone, or has another name.
    private func present(_ target: ItemTarget) throws -> ItemRecord? {
        var query = target.query
        query.returns = .attributes
        query.authenticationUI = .describe
        let wanted = query
        return try withUnlock { try found(wanted) }.compactMap(\.record).first { $0.isSameItem(as: target.record) }
    }

    /// Moves or copies an item to another owner within the service; the secret does not pass through this process.
    func transfer(_ target: ItemTarget, _ attributes: ItemAttributes, keepsOriginal: Bool, reason: String) throws {
        var query = target.query
        query.operationPrompt = reason
        let wanted = query
        try withDuplicateExplained(target.record, attributes: attributes) {
            try withUnlock { try withPrompts { try keychain.transfer(wanted, attributes, keepsOriginal: keepsOriginal, waiting: $0) } }
        }
    }

    /// Runs work and adds the name to an error for a name that is in use.
    private func withDuplicateExplained(_ record: ItemRecord, attributes: ItemAttributes, work: () throws -> Void) throws {
        do { try work() } catch let refusal as Refusal where refusal.reason == .duplicateItem && refusal.detail == nil {
            let taken = ItemRecord(kind: record.kind, attributes: record.attributes.merging(attributes))
            throw Refusal(.duplicateItem, "\(SafeText.visible(taken.owner)) already has an item \(taken.name); nothing was changed")
        }
    }
}

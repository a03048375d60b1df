// Finds items by their attributes alone, which needs no prompt; the user is prompted when the one item is used.

import ArgumentParser
import VaubanAccessPolicy
import VaubanAuthenticationClient
import VaubanKeychainClient
import VaubanKeychainModel
import VaubanLinuxHost
import VaubanRefusal
import VaubanSecretBytes

extension ServiceClient {
    /// Returns the matching items without their secrets, and unlocks a locked keychain first. The argument is read as it is split at its
    /// first slash, and otherwise only if that matches nothing.
    func matches(_ selection: ItemSelection, ofAllOwners: Bool = false) throws -> [ItemRecord] {
        let matches = try exactMatches(selection, ofAllOwners: ofAllOwners)
        guard matches.isEmpty else { return matches }
        return try selection.otherReadings.flatMap { try exactMatches($0, ofAllOwners: ofAllOwners) }
    }

    private func exactMatches(_ selection: ItemSelection, ofAllOwners: Bool) throws -> [ItemRecord] {
        try withUnlock {
            var matches: [ItemRecord] = []
            for wanted in selection.wanted {
                var query = ItemQuery(kind: wanted.kind, attributes: wanted.attributes)
                query.limit = .all
                query.returns.insert(.attributes)
                query.authenticationUI = .describe
                query.coversAllOwners = ofAllOwners
                // A program may have marked an item as synchronizable; here it is an item like any other.
                query.includesSynchronizable = true
                matches += try found(query).compactMap(\.record).filter(selection.means)
            }
            return matches
        }
    }

    /// Returns the items that can be described here and have each of the words in their name, account, label or comment.
    func matches(words: [String], url: String?) throws -> [ItemRecord] {
        let words = words.map { $0.lowercased() }
        return try matches(ItemSelection.parse(url.map { ["--url", $0] } ?? [])).filter { record in
            let texts = [AttributeName.service, .server, .account, .label, .comment].map { record.text($0).lowercased() }
            return words.allSatisfy { word in texts.contains { $0.contains(word) } }
        }
    }

    /// Returns the one matching item.
    func one(_ selection: ItemSelection, for verb: String) throws -> ItemRecord {
        try selection.requireSomething()
        let matches = try matches(selection)
        guard let record = matches.first else { throw Refusal(.itemNotFound) }
        guard matches.count == 1 else { throw SeveralMatches(verb: verb, records: matches) }
        return record
    }

    /// Returns the secret of the one matching item, even if another program owns it.
    func secret(_ selection: ItemSelection, for verb: String, reason: String) throws -> SecretBytes {
        let entry: ReceivedItem
        do {
            entry = try read(try one(selection, for: verb), reason: reason)
        } catch let refusal as Refusal where refusal.reason == .itemNotFound {
            entry = try foreign(selection, reason: reason)
        }
        guard let secret = entry.takeSecret() else {
            throw Refusal(.itemNotFound, "\(selection.shown) has no secret; to store one: vauban update \(selection.quoted)")
        }
        return secret
    }

    /// Looks for an item of another program. An item missing from the installed keychain may be in the user's own keychain of user mode,
    /// which the installed service does not show. Every such error mentions this, since nobody may read the first one in a script's output.
    private func foreign(_ selection: ItemSelection, reason: String) throws -> ReceivedItem {
        do {
            return try readForeign(selection, reason: reason)
        } catch let refusal as Refusal where refusal.reason == .itemNotFound && refusal.detail == nil {
            guard let own = OwnKeychain.beside(service), !own.isAdopted(by: self) else { throw refusal }
            throw Refusal(.itemNotFound, own.mention)
        }
    }

    /// Returns the secret of an item. Prompts if the item requires it, unless `permit` already authorizes the read.
    func read(_ record: ItemRecord, reason: String, _ permit: Authorization? = nil) throws -> ReceivedItem {
        var query = try query(for: record)
        query.authorization = permit?.ownHandle
        query.returns.insert(.data)
        query.operationPrompt = reason
        let read = query
        let entries =
            record.needsApproval
            ? try withUnlock { try withPrompts { try keychain.copyMatching(read, waiting: $0) } }
            : try withUnlock { try found(read) }
        guard let entry = entries.first(where: { $0.record?.isSameItem(as: record) ?? false }) else { throw Refusal(.itemNotFound) }
        return entry
    }

    /// Returns the secret of an item that another program owns, after the user consented.
    private func readForeign(_ selection: ItemSelection, reason: String) throws -> ReceivedItem {
        // What desktop programs store is the user's own, so no other owner's item has their attributes.
        guard service.mode == .system, selection.desktopAttributes.isEmpty else { throw Refusal(.itemNotFound) }
        for wanted in selection.wanted {
            var query = ItemQuery(kind: wanted.kind, attributes: wanted.attributes)
            query.returns = [.attributes, .data]
            query.authenticationUI = user.mayBePrompted || user.hasPreparedPasscode ? .allow : .fail
            query.operationPrompt = reason
            let wanted = query
            do {
                let found = try withUnlock { try withPrompts { try keychain.copyMatching(wanted, waiting: $0) } }
                if let entry = found.first, entry.record.map(selection.means) ?? false { return entry }
            } catch let refusal as Refusal where refusal.reason == .itemNotFound {}
        }
        throw Refusal(.itemNotFound)
    }

    /// Returns the query that matches a found item. An item that another program allowed this one to read is not in one of our access
    /// groups, so the query cannot name its group.
    ///
    /// - Throws: A refusal (`itemNotFound`) if the item has been changed or deleted in the meantime.
    func query(for record: ItemRecord) throws -> ItemQuery {
        let isOurs = service.mode != .system || [AccessGroup.commandLine, AccessGroup.unsigned].contains(record.owner)
        var query = record.namesake(ofAnyOwner: !isOurs)
        query.reference = try reference(of: record, query)
        query.authenticationUI = user.mayBePrompted || user.hasPreparedPasscode ? .allow : .fail
        return query
    }

    /// Returns the reference of an item that a desktop program stored; nil for any other, which its name identifies. A query with the
    /// attributes of such an item also matches items that have further ones.
    private func reference(of record: ItemRecord, _ query: ItemQuery) throws -> [UInt8]? {
        guard SecretServiceAttributes(record.attributes[.secretServiceAttributes]) != nil else { return nil }
        var described = query
        described.returns = [.attributes, .reference]
        described.authenticationUI = .describe
        let wanted = described
        let entries = try withUnlock { try found(wanted) }
        guard let entry = entries.first(where: { $0.record?.isSameItem(as: record) ?? false }), let reference = entry.reference else {
            throw Refusal(.itemNotFound)
        }
        return reference
    }

    /// Returns the matching entries, and an empty array instead of an error if there are none.
    func found(_ query: ItemQuery) throws -> [ReceivedItem] {
        do {
            let wanted = query
            return query.coversAllOwners
                ? try withPrompts { try keychain.copyMatching(wanted, waiting: $0) } : try keychain.copyMatching(query)
        } catch let refusal as Refusal where refusal.reason == .itemNotFound {
            return []
        }
    }
}

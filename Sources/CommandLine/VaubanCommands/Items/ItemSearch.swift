// Finding what is meant: by attributes alone, which ask nobody; the user is asked when the one item is used.

import ArgumentParser
import VaubanAccessPolicy
import VaubanKeychainClient
import VaubanKeychainModel
import VaubanLinuxHost
import VaubanRefusal
import VaubanSecretBytes

extension Session {
    /// The items that are meant, without their secrets; a closed keychain is opened first.
    func matches(_ selection: ItemSelection, ofAllOwners: Bool = false) throws -> [ItemRecord] {
        try opening {
            var matches: [ItemRecord] = []
            for wanted in selection.wanted {
                var query = ItemQuery(kind: wanted.kind, attributes: wanted.attributes)
                query.limit = .all
                query.returnsAttributes = true
                query.authenticationUI = .describe
                query.coversAllOwners = ofAllOwners
                // A program may have marked one so; in the user's own hand it is an item like any other.
                query.includesSynchronizable = true
                matches += try found(query).compactMap(\.record).filter(selection.means)
            }
            return matches
        }
    }

    /// What can be described here and has each of the words somewhere in its name, account, label or comment.
    func matches(words: [String], url: String?) throws -> [ItemRecord] {
        let words = words.map { $0.lowercased() }
        return try matches(ItemSelection.parse(url.map { ["--url", $0] } ?? [])).filter { record in
            let texts = [AttributeName.service, .server, .account, .label, .comment].map { record.text($0).lowercased() }
            return words.allSatisfy { word in texts.contains { $0.contains(word) } }
        }
    }

    /// The one item that is meant.
    func one(_ selection: ItemSelection, for verb: String) throws -> ItemRecord {
        try selection.requireSomething()
        let matches = try matches(selection)
        guard let record = matches.first else { throw Refusal(.itemNotFound) }
        guard matches.count == 1 else { throw SeveralMatches(verb: verb, records: matches) }
        return record
    }

    /// The secret of the one item that is meant, also where another program keeps it.
    func secret(_ selection: ItemSelection, for verb: String, reason: String) throws -> SecretBytes {
        let entry: FoundEntry
        do {
            entry = try read(try one(selection, for: verb), reason: reason)
        } catch let refusal as Refusal where refusal.reason == .itemNotFound {
            entry = try foreign(selection, reason: reason)
        }
        guard let secret = entry.takeSecret() else { throw Refusal(.itemNotFound, "the item has no secret") }
        return secret
    }

    /// What is nowhere in the installed keychain may be in the user's older one, which that does not show. Said at every
    /// miss: the first one may be a script's, whose words nobody reads.
    private func foreign(_ selection: ItemSelection, reason: String) throws -> FoundEntry {
        do {
            return try readForeign(selection, reason: reason)
        } catch let refusal as Refusal where refusal.reason == .itemNotFound && refusal.detail == nil {
            guard let own = OwnKeychain.behind(service), !own.isAdopted(by: self) else {
                // Nobody learns across the line whether there is something; the user knows what to ask for.
                guard service.mode == .system, selection.owner == nil else { throw refusal }
                throw Refusal(.itemNotFound, "to be asked about what another program keeps, name it: --owner program:/path")
            }
            throw Refusal(.itemNotFound, own.mention)
        }
    }

    /// The secret of an item, asking the user where it asks.
    func read(_ record: ItemRecord, reason: String) throws -> FoundEntry {
        var query = query(for: record)
        query.returnsData = true
        query.operationPrompt = reason
        let read = query
        let entries =
            record.asks
            ? try opening { try asking { try keychain.copyMatching(read, waiting: $0) } }
            : try opening { try found(read) }
        guard let entry = entries.first(where: { $0.record?.isSameItem(as: record) ?? false }) else { throw Refusal(.itemNotFound) }
        return entry
    }

    /// The secret of an item that another program keeps, which asks the user first.
    private func readForeign(_ selection: ItemSelection, reason: String) throws -> FoundEntry {
        guard service.mode == .system else { throw Refusal(.itemNotFound) }
        for wanted in selection.wanted {
            var query = ItemQuery(kind: wanted.kind, attributes: wanted.attributes)
            query.returnsAttributes = true
            query.returnsData = true
            query.authenticationUI = user.mayBeAsked || user.hasPreparedPasscode ? .allow : .fail
            query.operationPrompt = reason
            let wanted = query
            do {
                let found = try opening { try asking { try keychain.copyMatching(wanted, waiting: $0) } }
                if let entry = found.first, entry.record.map(selection.means) ?? false { return entry }
            } catch let refusal as Refusal where refusal.reason == .itemNotFound {}
        }
        throw Refusal(.itemNotFound)
    }

    /// The query that means a found item. What another program has let be read is not in a group of ours, so that group
    /// cannot be named.
    func query(for record: ItemRecord) -> ItemQuery {
        let isOurs = service.mode != .system || [AccessGroup.commandLine, AccessGroup.unsigned].contains(record.owner)
        var query = record.namesake(ofAnyOwner: !isOurs)
        query.authenticationUI = user.mayBeAsked || user.hasPreparedPasscode ? .allow : .fail
        return query
    }

    /// No match is no fault here.
    func found(_ query: ItemQuery) throws -> [FoundEntry] {
        do {
            let wanted = query
            return query.coversAllOwners ? try asking { try keychain.copyMatching(wanted, waiting: $0) } : try keychain.copyMatching(query)
        } catch let refusal as Refusal where refusal.reason == .itemNotFound {
            return []
        }
    }
}

internal import EnclaveWire
internal import KeychainStore
internal import VaubanAccessPolicy
internal import VaubanKeychainModel
internal import VaubanKeychainWire
internal import VaubanLinuxHost
internal import VaubanRefusal
internal import VaubanUserModel

extension RequestInProgress {
    /// Searches items (SecItemCopyMatching). A match whose class is locked ends the search, whatever was found before it.
    func copyMatching(_ query: ItemQuery) throws {
        if query.kind == .identity { return try copyIdentities(query) }
        let rights = try rightsToSearch(query)
        let terms = try QueryGrammar.terms(of: query, for: rights)
        if query.coversAllOwners, !rights.ownsEverything, !caller.consents.toListOwners.withLock({ $0 }) {
            guard rights.isCommandLine else {
                throw Refusal(.notAllowedHere, "The items of all programs are listed with the vauban command")
            }
            try ask(Consent(.listOwners, offered: .once))
            caller.consents.toListOwners.withLock { $0 = true }
        }
        let coversAll = rights.ownsEverything || query.coversAllOwners
        let selection = try selection(terms, of: coversAll ? [] : rights.groups)
        let wanted = query.limit.countMax
        if selection.usesDeviceIndex, wanted > 1, try database.hasRowsOutsideDeviceIndex(kind: selection.kind) {
            // Some of the locked rows could match, and cannot be distinguished.
            throw Refusal(.beforeFirstUnlock)
        }
        let replies = ReplyBatch(sink, returning: query.returns, isForOne: wanted == 1)
        // If the blinds decide whether an item matches, a locked item can be returned by its reference, as a deletion finds it.
        let namesClosed = query.authenticationUI == .describe && query.returns == .reference && terms.isDecidedByBlindList
        let absent = terms.absentAttributes
        var found = 0
        // A caller without a group owns nothing.
        if coversAll || !rights.groups.isEmpty {
            try forEachRow(of: selection, batch: min(wanted, KeychainLimits.batchRowsMax)) { row in
                if namesClosed, case .closed = try decode(row) {
                    guard !absent.contains(where: { BlindList.hasEntry(named: $0.rawValue, in: row.blinds.list) }) else { return true }
                    try replies.add(nil, of: row.item)
                } else {
                    guard let opened = try open(row), coversAll || rights.owns(opened.record.accessGroup),
                        terms.match(opened.record.attributes), try addReply(opened, for: query, to: replies)
                    else { return true }
                }
                found += 1
                return found < wanted
            }
        }
        var isLeftOut = false
        if found < wanted, !coversAll, !selection.usesDeviceIndex {
            let request = ConsentRequest(
                purpose: .readItem, ui: query.authenticationUI, isForOne: wanted == 1, reason: query.operationPrompt)
            isLeftOut = try forEachForeignRow(of: terms, request) { opened in
                guard try addReply(opened, for: query, to: replies) else { return true }
                found += 1
                return found < wanted
            }
        }
        guard found > 0 else {
            throw selection.usesDeviceIndex ? Refusal(.beforeFirstUnlock) : notFound(leftOut: isLeftOut, ui: query.authenticationUI)
        }
        try replies.finish()
    }

    /// Returns the caller's rights for a search, including items that another owner offers to it if the query names that owner.
    private func rightsToSearch(_ query: ItemQuery) throws -> CallerRights {
        let rights = try rights(mayPrompt: query.authenticationUI == .allow)
        let group: String? =
            switch query.attributes[.accessGroup] {
            case .text(let text): text
            case .data(let bytes): String(validating: bytes, as: UTF8.self)
            default: nil
            }
        guard let group, !rights.mayName(group), let key = rights.key, try !itemsOffered(to: key, by: group).isEmpty else { return rights }
        return rights.searching(group)
    }

    /// Adds a match to the reply. Returns false if the item counts as absent. Unwraps the key of an item with an access control even if no
    /// value is requested (Specs/secitem.md, 6.6), unless items are only to be described.
    private func addReply(_ opened: OpenedRow, for query: ItemQuery, to replies: ReplyBatch) throws -> Bool {
        guard !isLeftOut(opened, for: query) else { return false }
        guard mustUnwrap(opened, for: query) else {
            try replies.add(opened.record, of: opened.binding.item)
            return true
        }
        let mayPrompt = query.authenticationUI == .allow
        guard let value = try openValue(of: opened, reason: query.operationPrompt, mayPrompt: mayPrompt) else { return false }
        if query.returns.contains(.data) { note(.read, opened) }
        try replies.add(opened.record, of: opened.binding.item, value: value)
        return true
    }

    /// Returns whether an item's key must be unwrapped: for its value, or because it needs the user.
    func mustUnwrap(_ opened: OpenedRow, for query: ItemQuery) -> Bool {
        query.returns.contains(.data) || (!opened.requirement.isNone && query.authenticationUI != .describe)
    }

    /// Returns whether a search that skips items that need a prompt omits this item.
    func isLeftOut(_ opened: OpenedRow, for query: ItemQuery) -> Bool {
        query.authenticationUI == .skip && mustUnwrap(opened, for: query) && opened.needsPrompt(givenPassword: password != nil)
    }
}

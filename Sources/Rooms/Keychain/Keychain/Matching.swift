internal import EnclaveWire
internal import KeychainStore
internal import VaubanAccessPolicy
internal import VaubanKeychainModel
internal import VaubanKeychainWire
internal import VaubanLinuxHost
internal import VaubanRefusal
internal import VaubanUserModel

extension RequestInProgress {
    /// SecItemCopyMatching. One row whose class is closed ends the search, whatever was found before it.
    func copyMatching(_ query: ItemQuery) throws {
        if query.kind == .identity { return try copyIdentities(query) }
        let rights = try rightsToSearch(query)
        let terms = try QueryGrammar.terms(of: query, for: rights)
        if query.coversAllOwners, !rights.ownsEverything, !caller.said.toListOwners.withLock({ $0 }) {
            guard rights.isCommandLine else { throw Refusal(.notAllowedHere, "what all programs keep is listed with the program vauban") }
            try ask(Consent(.listOwners, offered: .once))
            caller.said.toListOwners.withLock { $0 = true }
        }
        let coversAll = rights.ownsEverything || query.coversAllOwners
        let selection = try selection(terms, of: coversAll ? [] : rights.groups)
        let wanted = query.limit.countMax
        if selection.usesDeviceIndex, wanted > 1, try database.hasRowsOutsideDeviceIndex(kind: selection.kind) {
            // Some of what is closed could belong to the answer, and nobody can tell which.
            throw Refusal(.beforeFirstUnlock)
        }
        var returns: ReturnKinds = []
        if query.returnsData { returns.insert(.data) }
        if query.returnsAttributes { returns.insert(.attributes) }
        if query.returnsReference { returns.insert(.reference) }
        let replies = ReplyBatch(sink, isForOne: wanted == 1)
        // What the blinds decide can be named while it is closed: its reference alone, as a delete finds it.
        let namesClosed = query.authenticationUI == .describe && returns == .reference && terms.isDecidedByBlinds
        var found = 0
        // A caller without a group has nothing of its own.
        if coversAll || !rights.groups.isEmpty {
            try forEachRow(of: selection, batch: min(wanted, KeychainLimits.batchRowsMax)) { row in
                if namesClosed, case .closed = try decode(row) {
                    try replies.add(FoundRow(record: nil, item: row.item), returns)
                } else {
                    guard let opened = try open(row), coversAll || rights.owns(opened.record.accessGroup),
                        terms.match(opened.record.attributes), try reply(opened, query, returns, replies)
                    else { return true }
                }
                found += 1
                return found < wanted
            }
        }
        var isLeftOut = false
        if found < wanted, !coversAll, !selection.usesDeviceIndex {
            let asking = ConsentRequest(
                purpose: .readItem, ui: query.authenticationUI, isForOne: wanted == 1, reason: query.operationPrompt)
            isLeftOut = try forEachForeignRow(of: terms, asking) { opened in
                guard try reply(opened, query, returns, replies) else { return true }
                found += 1
                return found < wanted
            }
        }
        guard found > 0 else { throw selection.usesDeviceIndex ? Refusal(.beforeFirstUnlock) : notFound(isLeftOut, query.authenticationUI) }
        try replies.finish()
    }

    /// What the caller may use in a search: also items that another owner offers it, if it names that owner.
    private func rightsToSearch(_ query: ItemQuery) throws -> CallerRights {
        let rights = try rights(mayAsk: query.authenticationUI == .allow)
        let group: String? =
            switch query.attributes[.accessGroup] {
            case .text(let text): text
            case .data(let bytes): String(validating: bytes, as: UTF8.self)
            default: nil
            }
        guard let group, !rights.mayName(group), let key = rights.key, try !itemsOffered(to: key, by: group).isEmpty else { return rights }
        return rights.searching(group)
    }

    /// False when the item behaves as absent. The key of an item with an access control is unwrapped even where no value
    /// is asked for (Specs/secitem.md, 6.6), unless the items are only to be described.
    private func reply(_ opened: OpenedRow, _ query: ItemQuery, _ returns: ReturnKinds, _ replies: ReplyBatch) throws -> Bool {
        guard !isLeftOut(opened, query, returns) else { return false }
        guard mustUnwrap(opened, query, returns) else {
            try replies.add(FoundRow(record: opened.record, item: opened.binding.item), returns)
            return true
        }
        let mayAsk = query.authenticationUI == .allow
        guard let value = try openValue(of: opened, reason: query.operationPrompt, mayAsk: mayAsk) else { return false }
        try replies.add(FoundRow(record: opened.record, item: opened.binding.item), value, returns)
        return true
    }

    /// Whether an item's key is to be unwrapped: for its value, and for what it asks of the user.
    func mustUnwrap(_ opened: OpenedRow, _ query: ItemQuery, _ returns: ReturnKinds) -> Bool {
        returns.contains(.data) || (!opened.requirement.isNone && query.authenticationUI != .describe)
    }

    /// Whether a search that skips what asks leaves an item out.
    func isLeftOut(_ opened: OpenedRow, _ query: ItemQuery, _ returns: ReturnKinds) -> Bool {
        query.authenticationUI == .skip && mustUnwrap(opened, query, returns) && opened.asks(givenPassword: password != nil)
    }
}

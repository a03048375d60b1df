internal import KeychainStore
internal import VaubanAccessPolicy
internal import VaubanKeychainWire
internal import VaubanKeychainModel

extension RequestInProgress {
    /// SecItemDelete: all matching items or none. The blinds decide, so that it works while locked and asks nobody.
    func delete(_ query: ItemQuery) throws {
        let rights = try rights(mayAsk: query.authenticationUI == .allow)
        if query.kind == .identity { return try deleteIdentities(query, rights) }
        let terms = try QueryGrammar.termsToChange(of: query, for: rights)
        try repeating {
            let selection = try selection(terms, of: rights.groups)
            // What is closed could be meant too, and nobody can tell.
            guard !selection.usesDeviceIndex else { throw Refusal(.beforeFirstUnlock) }
            var handles = rights.ownsEverything || !rights.groups.isEmpty ? try handles(of: selection, terms) : []
            if handles.isEmpty {
                let isHidden = try forEachForeignRow(
                    of: terms, .deleteItem, mayAsk: query.authenticationUI == .allow, reason: query.operationPrompt
                ) { opened in
                    handles = [opened.row.handle]
                    return false
                }
                if handles.isEmpty { throw notFound(isHidden, query.authenticationUI) }
            }
            return try database.delete(handles + grants(of: handles))
        }
        try sink.send(.done)
    }

    func handles(of selection: RowSelection, _ terms: SearchTerms) throws -> [RowHandle] {
        if terms.isDecidedByBlinds { return try database.handles(of: selection) }
        var handles: [RowHandle] = []
        try forEachRow(of: selection, batch: KeychainLimits.batchRowsMax) { row in
            if let opened = try open(row), terms.match(opened.record.attributes) { handles.append(row.handle) }
            return true
        }
        return handles
    }
}

internal import EnclaveWire
internal import KeychainStore
internal import VaubanDER
internal import VaubanKeychainModel
internal import VaubanKeychainWire
internal import VaubanRefusal
internal import VaubanUserModel

extension RequestInProgress {
    /// Deletes all matching items or none (SecItemDelete). Items are matched by their blinds, so this works while locked and never prompts.
    /// Passwords can be restored for a time, unless `atOnce` is set.
    func delete(_ query: ItemQuery, atOnce: Bool) throws {
        let rights = try rights(mayPrompt: query.authenticationUI == .allow)
        if query.kind == .identity { return try deleteIdentities(query, rights) }
        let terms = try QueryGrammar.termsToChange(of: query, for: rights)
        try withRetries {
            let selection = try selection(terms, of: rights.groups)
            // Locked rows could match too, and cannot be distinguished.
            guard !selection.usesDeviceIndex else { throw Refusal(.beforeFirstUnlock) }
            var handles = rights.ownsEverything || !rights.groups.isEmpty ? try handles(of: selection, terms) : []
            if handles.isEmpty {
                let request = ConsentRequest(purpose: .deleteItem, ui: query.authenticationUI, reason: query.operationPrompt)
                let isLeftOut = try forEachForeignRow(of: terms, request) { opened in
                    handles = [opened.row.handle]
                    return false
                }
                if handles.isEmpty { throw notFound(leftOut: isLeftOut, ui: query.authenticationUI) }
            }
            let removals =
                try handles.map { removal(of: $0, atOnce: atOnce) } + permissionRows(of: handles).map { RowRemoval($0, isLocal: true) }
            let items = used(handles)
            guard try withLogRecords(of: .deleted, items, { try database.delete(removals, appending: $0) }) else { return false }
            // A consent until the lock ends with the item, even if the item is restored later.
            for handle in handles {
                if let binding = try? RowBinding(derBytes: handle.metadataBinding) { services.leasedKeys.forget(binding.item, user: user) }
            }
            return true
        }
        try sink.send(.done)
    }

    func handles(of selection: RowSelection, _ terms: SearchTerms) throws -> [RowHandle] {
        if terms.isDecidedByBlinds { return try database.handles(of: selection) }
        var handles: [RowHandle] = []
        try forEachRow(of: selection, batch: KeychainLimits.batchRowsMax) { row in
            if let opened = try open(row), terms.match(opened.record.attributes) { handles.append(row.handle) }
            try reportProgress()
            return true
        }
        return handles
    }
}

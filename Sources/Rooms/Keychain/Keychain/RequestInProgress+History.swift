// Earlier values of items, and deleted items that can be restored (Specs/history.md). Only the user at the command line can read and
// restore them; applications cannot see them.

internal import EnclaveWire
internal import KeychainStore
internal import VaubanAccessPolicy
internal import VaubanDER
internal import VaubanKeychainModel
internal import VaubanKeychainWire
internal import VaubanPlainText
internal import VaubanRefusal
internal import VaubanSecretBytes
internal import VaubanUserModel

extension RequestInProgress {
    func history(_ request: HistoryRequest) throws {
        guard caller.isUserAtCommandLine else {
            throw Refusal(.notAllowedHere, "Earlier values and deleted items are read and restored with the vauban command")
        }
        switch request {
        case .list(let query): try listEarlier(query)
        case .value(let query, let number): return try readEarlier(query, number)
        case .undo(let query, let number): try undo(query, number)
        case .deleted(let ofAllOwners): try listDeleted(ofAllOwners: ofAllOwners)
        case .undelete(let item): try undelete(item)
        case .purge(let item): try purge(item)
        case .clear(let query): try clear(query)
        case .setting(let isOn):
            if let isOn { try database.setKeepsHistory(isOn) }
            try sink.send(.keepsHistory(database.keepsHistory))
        }
        try sink.send(.done)
    }

    // MARK: Deciding what is kept

    /// Returns the label under which an item's row is kept when its value is replaced; nil if it is not kept. Private keys, certificates
    /// and permissions have no history, and the user can disable it.
    func label(_ record: ItemRecord) -> HistoryLabel? {
        database.keepsHistory ? keptLabel(record) : nil
    }

    /// Returns the label of what another device or a backup replaces or deletes. It is kept regardless of the setting, since the user may
    /// not have seen it (C-217).
    func keptLabel(_ record: ItemRecord) -> HistoryLabel? {
        record.kind.hasHistory ? HistoryLabel(date: services.now(), owner: record.accessGroup) : nil
    }

    /// Returns the label under which a row is kept that another device or a backup replaces; nil if only its attributes are replaced. As
    /// with a change made here, nothing is kept then: ten changes of a comment would displace every earlier value.
    func keptLabel(_ record: ItemRecord, of row: OpenedRow, unlessItHas value: borrowing PaddedValue) throws -> HistoryLabel? {
        guard let label = keptLabel(record) else { return nil }
        return try isValue(value, of: row) ? nil : label
    }

    /// Returns whether a row has this value. A value that cannot be opened without the user counts as another one.
    func isValue(_ value: borrowing PaddedValue, of row: OpenedRow) throws -> Bool {
        do {
            switch try openValue(of: row, reason: nil, mayPrompt: false) {
            case .none: return false
            case .some(let own): return own.bytes.equals(value.bytes)
            }
        } catch let refusal as Refusal where refusal.reason == .interactionNotAllowed {
            return false
        }
    }

    /// Returns how to delete an item: so that it can be restored if it is a password, unless it is to be deleted at once.
    func removal(of row: RowHandle, atOnce: Bool) -> RowRemoval {
        guard !atOnce, database.keepsHistory, let binding = try? RowBinding(derBytes: row.metadataBinding),
            ItemKind(rawValue: binding.kind)?.hasHistory == true
        else { return RowRemoval(row, isLocal: isLocal(row)) }
        return RowRemoval(row, keeping: HistoryLabel(date: services.now(), owner: binding.accessGroup), isLocal: isLocal(row))
    }

    /// Returns whether the tombstone of an item counts as one of this device, as does that of an item that cannot be opened. A program that
    /// deletes many of those then displaces no tombstone that a circle needs. An item that cannot be read now may be synchronizable.
    private func isLocal(_ handle: RowHandle) -> Bool {
        guard database.keepsTombstones else { return true }
        do {
            guard let row = try database.row(handle.id), case .item(let opened, _) = try decode(row) else { return true }
            return !opened.record.isSynchronizable
        } catch {
            return false
        }
    }

    // MARK: Earlier values

    /// Returns the one item that matches a query: one of the caller's own, otherwise one of another owner with the user's consent.
    private func one(_ query: ItemQuery, _ purpose: Consent.Purpose) throws -> OpenedRow {
        let mayPrompt = query.authenticationUI == .allow
        let rights = try rights(mayPrompt: mayPrompt)
        let terms =
            try purpose == .readItem ? QueryGrammar.terms(of: query, for: rights) : QueryGrammar.termsToChange(of: query, for: rights)
        let selection = try selection(terms, of: rights.groups)
        guard !selection.usesDeviceIndex else { throw Refusal(.beforeFirstUnlock) }
        var found: [OpenedRow] = []
        if rights.ownsEverything || !rights.groups.isEmpty {
            try forEachRow(of: selection, batch: KeychainLimits.batchRowsMax) { row in
                guard let opened = try open(row), rights.owns(opened.record.accessGroup), terms.match(opened.record.attributes) else {
                    return true
                }
                found.append(opened)
                return found.count < 2
            }
        }
        if found.isEmpty {
            let request = ConsentRequest(purpose: purpose, ui: query.authenticationUI, reason: query.operationPrompt)
            let isLeftOut = try forEachForeignRow(of: terms, request) { opened in
                found = [opened]
                return false
            }
            if found.isEmpty { throw notFound(leftOut: isLeftOut, ui: query.authenticationUI) }
        }
        guard found.count == 1 else { throw Refusal(.badParameter, "More than one item matches; name the account and the owner") }
        return found[0]
    }

    /// Sends an item's record and those of its earlier versions. Each can nearly fill a message, so none shares one.
    private func listEarlier(_ query: ItemQuery) throws {
        let item = try one(query, .readItem)
        var versions: [ItemVersion] = []
        for kept in try database.earlierRows(of: item.binding.item).prefix(Int(HistoryRequest.numberMax)) {
            guard let opened = try open(kept.row) else { continue }
            versions.append(ItemVersion(replaced: kept.date, record: opened.record))
        }
        try sink.send(.items([FoundItem(record: item.record, hasData: false)]))
        for version in versions { try sink.send(.version(version)) }
    }

    /// Returns the earlier version with a number. `chosen` gets the number of its row, by which later attempts find the same version: after
    /// another change of the item, perhaps while the user was prompted, its number would be that of another value.
    private func earlier(_ item: OpenedRow, _ number: Int, chosen: inout Int64?) throws -> OpenedRow {
        let rows = try database.earlierRows(of: item.binding.item)
        if let chosen {
            guard let kept = rows.first(where: { $0.row.id == chosen }) else {
                throw Refusal(.itemNotFound, "The history of the item has changed meanwhile; look at it again")
            }
            return try opened(kept)
        }
        guard rows.indices.contains(number - 1) else {
            let count = rows.isEmpty ? "no earlier secret" : rows.count == 1 ? "1 earlier secret" : "\(rows.count) earlier secrets"
            throw Refusal(.itemNotFound, "The item has \(count)", earlierValues: Int64(rows.count))
        }
        chosen = rows[number - 1].row.id
        return try opened(rows[number - 1])
    }

    private func opened(_ kept: HistoryRow) throws -> OpenedRow {
        guard let opened = try open(kept.row) else { throw Self.unreadable }
        return opened
    }

    private static var unreadable: Refusal { Refusal(.itemNotFound, "This earlier secret cannot be read any more; it was set aside") }

    private func readEarlier(_ query: ItemQuery, _ number: Int) throws {
        let replies = ReplyBatch(sink, returning: [.data, .attributes], isForOne: true)
        var chosen: Int64?
        try withRetries {
            do {
                let item = try one(query, .readItem)
                // A value that was replaced before the item was marked has no mark itself, but reading it is a use of a canary.
                let old = try earlier(item, number, chosen: &chosen).marked(as: item)
                guard let value = try openValue(of: old, reason: query.operationPrompt, mayPrompt: query.authenticationUI == .allow) else {
                    throw Self.unreadable
                }
                note(.read, old)
                try replies.add(old.record, of: old.binding.item, value: value)
                return true
            } catch is RowHasChanged { return false }
        }
        try replies.finish()
    }

    /// Seals an earlier value again under the item's present protection. The caller must be able to read both values.
    private func undo(_ query: ItemQuery, _ number: Int) throws {
        var chosen: Int64?
        try withRetries {
            do { return try putBack(query, number, chosen: &chosen) } catch is RowHasChanged { return false }
        }
    }

    private func putBack(_ query: ItemQuery, _ number: Int, chosen: inout Int64?) throws -> Bool {
        let item = try one(query, .changeItem)
        let old = try earlier(item, number, chosen: &chosen)
        try throwIfPasswordIsMissing(for: item.record)
        let mayPrompt = query.authenticationUI == .allow
        guard let value = try openValue(of: old, reason: query.operationPrompt, mayPrompt: mayPrompt) else { throw Self.unreadable }
        // With equal protection one authentication covers both values. Each value has its own application password.
        let hasPassword = item.binding.accessControl?.needsApplicationPassword == true
        if hasPassword || (!item.requirement.isNone && !old.binding.isOfSameItem(as: item.binding)) {
            guard try openValue(of: item, reason: query.operationPrompt, mayPrompt: mayPrompt) != nil else { return false }
        }
        var record = item.record
        record.attributes[.modificationDate] = .date(nextDate(after: record.attributes[.modificationDate]))
        let binding = try binding(record, item: item.binding.item, generation: try keys.generationToWrite(record.protection))
        let row = try row(
            of: record, isCanary: item.isCanary, binding: binding, secret: try seal(value, binding), blinds: item.row.blinds)
        // The replaced value is kept regardless of the setting, since the earlier value leaves the history.
        let label = HistoryLabel(date: services.now(), owner: record.accessGroup)
        let change = RowChange(old: item.row.handle, row: row, changesBlinds: false, keeping: label, consuming: old.row.handle)
        return try isDone(withLogRecords(of: .changed, [item.used]) { try database.update([change], appending: $0) })
    }

    // MARK: Deleted items

    private func listDeleted(ofAllOwners: Bool) throws {
        let rights = try rights()
        let coversAll = rights.ownsEverything || ofAllOwners
        if ofAllOwners, !rights.ownsEverything { try ask(Consent(.listOwners, offered: .once)) }
        var last: Int64 = 0
        while true {
            let rows = try database.deletedRows(
                after: last, count: KeychainLimits.batchRowsMax, bytesMax: KeychainLimits.searchBytesMax)
            guard let end = rows.last?.row.id else { return }
            for kept in rows where try coversAll || rights.owns(Self.group(of: kept.row)) {
                do {
                    guard let opened = try open(kept.row) else { continue }
                    try sink.send(.deleted(DeletedItem(item: opened.binding.item, deleted: kept.date, record: opened.record)))
                } catch is RowHasChanged { continue }
            }
            last = end
        }
    }

    /// Returns the group in a row's binding, which can be read without a key. A row whose binding cannot be read has no owner.
    private static func group(of row: StoredRow) throws -> String {
        (try? RowBinding(derBytes: row.halves.metadataBinding).accessGroup) ?? ""
    }

    /// Returns the deleted item with this identity, with the user's consent if another program stored it.
    private func deleted(_ item: [UInt8], _ purpose: Consent.Purpose) throws -> OpenedRow {
        guard let kept = try database.deletedRow(of: item), let opened = try open(kept.row) else {
            throw Refusal(.itemNotFound, "The item is not among the deleted items any more")
        }
        guard try !rights().owns(opened.record.accessGroup) else { return opened }
        let consent = Consent(purpose, offered: .once, item: opened.record.shownName, owner: opened.record.accessGroup)
        guard try promptOnce(to: consent, about: .item(opened), of: opened.record.kind) != nil, useConsent(on: item) else {
            throw Refusal(.interactionNotAllowed, "One request can prompt about one item only")
        }
        return opened
    }

    private func undelete(_ item: [UInt8]) throws {
        try withRetries {
            let opened: OpenedRow
            do { opened = try deleted(item, .changeItem) } catch is RowHasChanged { return false }
            // This happens after another device renamed the item: this device deleted it under the earlier name.
            if let row = try database.row(ofItem: item) { throw try itemIsThere(as: row) }
            let blinds = try blinds(opened.record)
            return try isDone(
                withLogRecords(of: .added, [opened.used]) { try database.undelete(opened.row, blinds: blinds, appending: $0) },
                orElse: "another item has the name of the deleted one; rename or delete that one first")
        }
    }

    /// Returns the refusal to restore a deleted item that already exists again, with its name if the caller may know it.
    private func itemIsThere(as row: StoredRow) throws -> Refusal {
        let text = "The item is there again"
        guard let opened = try? open(row), try rights().owns(opened.record.accessGroup) else { return Refusal(.badParameter, text) }
        return Refusal(.badParameter, "\(text), as \(PlainLine.bothEnds(opened.record.shownName, bytesMax: 200))")
    }

    private func purge(_ item: [UInt8]) throws {
        let opened = try deleted(item, .deleteItem)
        let removal = RowRemoval(opened.row.handle)
        guard try withLogRecords(of: .deleted, [opened.used], { try database.delete([removal], appending: $0) }) else {
            throw Refusal(.itemNotFound, "The item is not among the deleted items any more")
        }
        try? database.forgetOldPages()
        try sink.send(.cleared(1))
    }

    private func clear(_ query: ItemQuery?) throws {
        if let query { return try sink.send(.cleared(try database.clearEarlier(of: try one(query, .deleteItem).binding.item))) }
        let rights = try rights()
        try sink.send(.cleared(try database.clearHistory(of: rights.ownsEverything ? nil : rights.groups)))
    }
}

extension ItemKind {
    /// Whether earlier states of items of this kind are kept.
    var hasHistory: Bool { self == .genericPassword || self == .internetPassword }
}

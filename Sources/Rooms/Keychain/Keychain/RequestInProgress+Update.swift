internal import EnclaveWire
internal import KeychainStore
internal import VaubanAccessPolicy
internal import VaubanKeychainModel
internal import VaubanKeychainWire
internal import VaubanRefusal
internal import VaubanUserModel

extension RequestInProgress {
    /// Updates all matching items or none (SecItemUpdate). Fetches keys and prompts the user before the transaction, which fails if a row
    /// changed meanwhile.
    func update(_ query: ItemQuery, to wanted: ItemChanges, value: borrowing PaddedValue) throws {
        let rights = try rights(mayPrompt: query.authenticationUI == .allow)
        // An identity is updated as its parts, both together or neither.
        let sides = try query.kind == .identity ? QueryGrammar.sides(of: query, wanted) : [query]
        let updates = try sides.map { side in
            (
                terms: try QueryGrammar.termsToChange(of: side, for: rights),
                changes: try QueryGrammar.changes(wanted, side.kind, for: rights)
            )
        }
        try withRetries { try write(updates, value, of: query) }
        try sink.send(.done)
    }

    private func write(
        _ updates: [(terms: SearchTerms, changes: ItemChanges)], _ value: borrowing PaddedValue, of query: ItemQuery
    ) throws -> Bool {
        let rights = try rights()
        var rows: [RowChange] = []
        var renamed: [OpenedRow] = []
        var used: [UsedItem] = []
        var bytes = 0
        func take(_ opened: OpenedRow, _ changes: ItemChanges) throws -> Bool {
            guard let change = try change(opened, by: changes, value: value, for: query) else { return true }
            rows.append(change)
            used.append(opened.used)
            let after = opened.used(as: opened.record.changed(by: changes))
            if after.name != opened.used.name { used.append(after) }
            if opened.record.isFoundOtherwise(after: changes) { renamed.append(opened) }
            bytes += change.row.halves.secret.count
            guard bytes <= KeychainLimits.updateBytesMax else { throw Refusal(.dataTooLarge, "The update writes too much at once") }
            return true
        }
        var isBeforeFirstUnlock = false
        for (terms, changes) in updates {
            let selection = try selection(terms, of: rights.groups)
            if selection.usesDeviceIndex {
                isBeforeFirstUnlock = true
                // The new blinds cannot be computed, and rows that are not visible could match too.
                guard !changes.touchesIndexes, try !database.hasRowsOutsideDeviceIndex(kind: selection.kind) else {
                    throw Refusal(.beforeFirstUnlock)
                }
            }
            guard rights.ownsEverything || !rights.groups.isEmpty else { continue }
            try forEachRow(of: selection, batch: KeychainLimits.batchRowsMax) { row in
                guard let opened = try open(row), rights.owns(opened.record.accessGroup), terms.match(opened.record.attributes) else {
                    return true
                }
                return try take(opened, changes)
            }
        }
        // A consent covers one item, and an identity consists of two.
        if rows.isEmpty, !isBeforeFirstUnlock, query.kind != .identity {
            var request = ConsentRequest(purpose: .changeItem, ui: query.authenticationUI, reason: query.operationPrompt)
            var isLeftOut = false
            for (terms, changes) in updates where rows.isEmpty {
                guard let terms = terms.staying(as: changes) else { continue }
                request.changes = changes.attributes
                isLeftOut =
                    try forEachForeignRow(of: terms, request) { opened in
                        _ = try take(opened, changes)
                        return false
                    } || isLeftOut
            }
            if rows.isEmpty { throw notFound(leftOut: isLeftOut, ui: query.authenticationUI) }
        }
        guard !rows.isEmpty else { throw Refusal(isBeforeFirstUnlock ? .beforeFirstUnlock : .itemNotFound) }
        let ended = try permissionsToRead(renamed)
        let isWritten = try isDone(withLogRecords(of: .changed, used) { try database.update(rows, removing: ended, appending: $0) })
        if isWritten { for item in renamed { services.leasedKeys.forget(item.binding.item, user: user) } }
        return isWritten
    }

    /// Returns the changed row; nil if the row counts as absent. Always opens an item with an access control, since a writer must be able
    /// to read it (C-091).
    private func change(
        _ opened: OpenedRow, by changes: ItemChanges, value: borrowing PaddedValue, for query: ItemQuery
    ) throws -> RowChange? {
        var record = try QueryGrammar.changed(opened.record, by: changes)
        record.attributes[.modificationDate] = .date(nextDate(after: opened.record.attributes[.modificationDate]))
        try checkSize(record)
        let generation = try keys.generationToWrite(record.protection)
        let binding = try binding(record, item: opened.binding.item, generation: generation)
        let blinds = changes.touchesIndexes ? try blinds(record) : opened.row.blinds
        let keepsSecret = !changes.hasData && binding.isOfSameItem(as: opened.binding)
        if !keepsSecret { try throwIfPasswordIsMissing(for: record) }
        let secret: SecretHalf
        if !opened.requirement.isNone || (!changes.hasData && !keepsSecret) {
            let mayPrompt = query.authenticationUI == .allow
            guard let old = try openValue(of: opened, reason: query.operationPrompt, mayPrompt: mayPrompt) else { return nil }
            guard
                let half = keepsSecret
                    ? try kept(opened, generation: generation, old: old, binding: binding)
                    : changes.hasData ? try seal(value, binding) : try seal(old, binding)
            else { return nil }
            secret = half
        } else {
            guard let half = keepsSecret ? try kept(opened, generation) : try seal(value, binding) else { return nil }
            secret = half
        }
        let row = try row(of: record, isCanary: opened.isCanary, binding: binding, secret: secret, blinds: blinds)
        return RowChange(
            old: opened.row.handle, row: row, changesBlinds: changes.touchesIndexes, keeping: changes.hasData ? label(record) : nil,
            newOwner: record.accessGroup == opened.record.accessGroup ? nil : record.accessGroup)
    }

    /// Returns the present secret half with its key under the class's current one; nil if the row counts as absent.
    func kept(_ opened: OpenedRow, _ generation: [UInt8]) throws -> SecretHalf? {
        let halves = opened.row.halves
        let isCurrent = opened.binding.generation == generation
        guard let wrapped = isCurrent ? halves.wrappedKey : try rewrapped(opened, to: generation) else { return nil }
        return SecretHalf(binding: halves.secretBinding, wrappedKey: wrapped, secret: halves.secret)
    }

    /// Does the same for an item that is already open. If its key is sealed to factor pairs of an earlier passcode, seals its value again.
    private func kept(
        _ opened: OpenedRow, generation: [UInt8], old: borrowing PaddedValue, binding: RowBinding
    ) throws -> SecretHalf? {
        do {
            return try kept(opened, generation)
        } catch let refusal as Refusal where refusal.reason == .interactionNotAllowed {
            return try seal(old, binding)
        }
    }

    /// Returns the present time, or a millisecond after the last change if the clock is behind that.
    func nextDate(after last: AttributeValue?) -> Int64 {
        guard case .date(let last) = last else { return services.now() }
        return max(services.now(), last.addingReportingOverflow(1000).partialValue)
    }
}

extension ItemRecord {
    /// Returns the record with the changes, for the log.
    fileprivate func changed(by changes: ItemChanges) -> ItemRecord {
        var changed = self
        changed.attributes = attributes.merging(changes.attributes)
        return changed
    }

    /// Returns whether the changes affect the attributes by which a search finds the item.
    fileprivate func isFoundOtherwise(after changes: ItemChanges) -> Bool {
        changes.attributes.contains { name, value in attributes[name]?.equalityBytes != value.equalityBytes }
    }
}

extension SearchTerms {
    /// Returns the terms if the changes leave the items in their group, since a consent to a change does not include giving an item away.
    fileprivate func staying(as changes: ItemChanges) -> SearchTerms? {
        guard case .text(let group)? = changes.attributes[.accessGroup] else { return self }
        return within(group)
    }
}

extension ItemChanges {
    /// Whether the row's index columns must be computed again. A change of the value alone does not affect them.
    fileprivate var touchesIndexes: Bool { !attributes.isEmpty || protection != nil || accessControl != nil }
}

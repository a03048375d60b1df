internal import EnclaveWire
internal import KeychainStore
internal import VaubanAccessPolicy
internal import VaubanKeychainModel
internal import VaubanKeychainWire
internal import VaubanPlainText
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
        try writeWithTurns(updates, value, of: query)
        try sink.send(.done)
    }

    /// Writes the changes, in as many attempts as that takes, and then ends the turn. All attempts together wait for turns no longer than
    /// one request may.
    private func writeWithTurns(
        _ updates: [(terms: SearchTerms, changes: ItemChanges)], _ value: borrowing PaddedValue, of query: ItemQuery
    ) throws {
        var turn: LargeUpdates.Turn?
        var waitTime = KeychainLimits.waitTime
        defer { if let turn { services.largeUpdates.end(turn) } }
        try withRetries { try write(updates, value, of: query, turn: &turn, waitTime: &waitTime) }
    }

    /// Writes all changes in one transaction. Items that prompt come first, and what does not fit beside them into the memory that every
    /// update may have comes in a second pass, which has a turn: nobody waits for a turn while a user thinks. An attempt in which nothing
    /// prompted leaves its turn to the next one.
    private func write(
        _ updates: [(terms: SearchTerms, changes: ItemChanges)], _ value: borrowing PaddedValue, of query: ItemQuery,
        turn: inout LargeUpdates.Turn?, waitTime: inout UInt64
    ) throws -> Bool {
        let rights = try rights()
        var held = HeldChanges()
        var mayKeepTurn = true
        defer {
            if let taken = turn, taken.prompts || !mayKeepTurn {
                services.largeUpdates.end(taken)
                turn = nil
            }
        }
        func takeTurn(prompts: Bool) throws {
            turn = try services.largeUpdates.turn(
                of: user, prompts: prompts, connection: sink.connection, waitTime: &waitTime, report: reportProgress)
        }
        func take(_ opened: OpenedRow, _ changes: ItemChanges) throws {
            try reportProgress()
            guard !held.visited.contains(opened.row.id) else { return }
            let prompts = query.authenticationUI == .allow && opened.needsPrompt(givenPassword: password != nil)
            if prompts { mayKeepTurn = false }
            if prompts, let turn, !turn.prompts {
                // It did not prompt in the first pass, or in the attempt that took the turn.
                held.isOutdated = true
                return
            }
            if held.isFull, turn == nil, !prompts { return }
            let change = try change(opened, by: changes, value: value, for: query)
            guard let change else {
                held.visited.insert(opened.row.id)
                return
            }
            var used = [opened.used]
            let after = opened.used(as: opened.record.changed(by: changes))
            if after.name != opened.used.name { used.append(after) }
            let bytes = held.bytes + change.heldBytes + used.reduce(0) { $0 + $1.heldBytes }
            guard bytes <= KeychainLimits.updateBytesMax else {
                throw Refusal(.dataTooLarge, "The update is too large; update fewer items at once")
            }
            if bytes > KeychainLimits.updateBytesFree, turn == nil {
                guard prompts else {
                    held.isFull = true
                    return
                }
                try takeTurn(prompts: true)
            }
            held.visited.insert(opened.row.id)
            held.rows.append(change)
            held.used += used
            if opened.record.isFoundDifferently(after: changes) { held.renamed.append((change.old, opened.binding.item)) }
            held.bytes = bytes
        }
        var isBeforeFirstUnlock = false
        var selections: [(RowSelection, SearchTerms, ItemChanges)] = []
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
            selections.append((selection, terms, changes))
        }
        func takeOwn() throws {
            for (selection, terms, changes) in selections {
                try forEachRow(of: selection, batch: KeychainLimits.batchRowsMax) { row in
                    guard let opened = try open(row), rights.owns(opened.record.accessGroup), terms.match(opened.record.attributes) else {
                        return true
                    }
                    try take(opened, changes)
                    return !held.isOutdated
                }
            }
        }
        try takeOwn()
        if held.isFull {
            if turn == nil { try takeTurn(prompts: false) }
            try takeOwn()
        }
        // Nor is a user prompted about another owner's item during this turn.
        if turn?.prompts == false, held.isOutdated || held.rows.isEmpty {
            mayKeepTurn = false
            return false
        }
        // A consent covers one item, and an identity consists of two.
        if held.rows.isEmpty, !isBeforeFirstUnlock, query.kind != .identity {
            var request = ConsentRequest(purpose: .changeItem, ui: query.authenticationUI, reason: query.operationPrompt)
            var isLeftOut = false
            for (terms, changes) in updates where held.rows.isEmpty {
                guard let terms = terms.staying(as: changes) else { continue }
                request.changes = changes.attributes
                isLeftOut =
                    try forEachForeignRow(of: terms, request) { opened in
                        try take(opened, changes)
                        return false
                    } || isLeftOut
            }
            if held.rows.isEmpty { throw notFound(leftOut: isLeftOut, ui: query.authenticationUI) }
        }
        guard !held.rows.isEmpty else { throw Refusal(isBeforeFirstUnlock ? .beforeFirstUnlock : .itemNotFound) }
        let ended = try permissionsToRead(held.renamed.map(\.handle))
        let isWritten = try isDone(
            withLogRecords(of: .changed, held.used) { try database.update(held.rows, removing: ended, appending: $0) })
        if isWritten { for (_, item) in held.renamed { services.leasedKeys.forget(item, user: user) } }
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
            newOwner: record.accessGroup.isSameBytes(as: opened.record.accessGroup) ? nil : record.accessGroup)
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

/// The changes of an update until its transaction.
private struct HeldChanges {
    var rows: [RowChange] = []
    /// Not the rows themselves, whose values are larger than what replaces them.
    var renamed: [(handle: RowHandle, item: [UInt8])] = []
    var used: [UsedItem] = []
    /// About how many bytes all this takes.
    var bytes = 0
    /// The numbers of the rows that are here, or count as absent.
    var visited: Set<Int64> = []
    /// Whether a row needs a turn. Those without a prompt are left to the second pass from then on.
    var isFull = false
    /// Whether a row that prompts came during a turn without prompts, so that all are read again.
    var isOutdated = false
}

extension RowChange {
    /// About how many bytes the change holds until its transaction.
    fileprivate var heldBytes: Int {
        let halves = row.halves
        let ciphertexts = row.countedBytes + halves.wrappedKey.count
        let bindings = halves.secretBinding.count + halves.metadataBinding.count + old.metadataBinding.count
        let owners = (keeping?.owner.utf8.count ?? 0) + (newOwner?.utf8.count ?? 0)
        return ciphertexts + bindings + owners + row.blinds.heldBytes + KeychainLimits.updateRowBytes
    }
}

extension RowBlinds {
    fileprivate var heldBytes: Int {
        let ofDevice = device.map { $0.primary.count + $0.list.count + DeviceBlinds.heldBytes(of: $0.lookups) } ?? 0
        return primary.count + list.count + DeviceBlinds.heldBytes(of: lookups) + ofDevice
    }
}

extension DeviceBlinds {
    /// Returns how many bytes look-ups hold, with the head of each.
    fileprivate static func heldBytes(of lookups: [[UInt8]]) -> Int { lookups.reduce(0) { $0 + $1.count + 40 } }
}

extension UsedItem {
    fileprivate var heldBytes: Int { item.count + owner.utf8.count + name.utf8.count }
}

extension ItemRecord {
    /// Returns the record with the changes, for the log.
    fileprivate func changed(by changes: ItemChanges) -> ItemRecord {
        var changed = self
        changed.attributes = attributes.merging(changes.attributes)
        return changed
    }

    /// Returns whether the changes affect the attributes by which a search finds the item.
    fileprivate func isFoundDifferently(after changes: ItemChanges) -> Bool {
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

// Gives one item to another owner, or copies it under another name or owner, for `vauban move` and `vauban copy`. The value is sealed again
// here, so no client receives it (Specs/access-groups.md, "From one owner to another").

internal import EnclaveWire
internal import KeychainStore
internal import VaubanAccessPolicy
internal import VaubanKeychainModel
internal import VaubanKeychainWire
internal import VaubanLinuxHost
internal import VaubanPlainText
internal import VaubanRefusal
internal import VaubanUserModel

extension RequestInProgress {
    /// Changes the attributes of the one matching item to `wanted`: in place if `keepsOriginal` is false (same identity, dates and
    /// permissions), otherwise in a new item beside it. Throws `duplicateItem` if the name is taken.
    func transfer(_ query: ItemQuery, _ wanted: ItemAttributes, keepsOriginal: Bool) throws {
        guard caller.isUserAtCommandLine else { throw Refusal(.notAllowedHere, "Items are moved and copied with the vauban command") }
        guard [.genericPassword, .internetPassword].contains(query.kind) else {
            throw Refusal(.badParameter, "Only passwords are moved and copied")
        }
        let rights = try rights()
        var attributes = wanted
        attributes[.accessGroup] = nil
        let changes = try QueryGrammar.changes(ItemChanges(attributes: attributes), query.kind, for: rights)
        let plan = Transfer(
            query: query, terms: try QueryGrammar.termsToChange(of: query, for: rights), changes: changes,
            owner: try owner(wanted[.accessGroup], for: rights), keepsOriginal: keepsOriginal)
        try withRetries { try write(plan) }
        try sink.send(.done)
    }

    /// Returns the item's new group; nil leaves it in its present one.
    private func owner(_ value: AttributeValue?, for rights: CallerRights) throws -> String? {
        guard let value else { return nil }
        guard case .text(let owner) = value, !owner.isSameBytes(as: AccessGroup.permissions), !owner.isSameBytes(as: AccessGroup.token),
            rights.ownsEverything || rights.mayWrite(owner) || Self.isOwner(owner), owner.utf8.count <= RowBinding.accessGroupBytesMax
        else { throw Refusal(.badParameter, "An owner is cli, or an application such as program:/usr/bin/name") }
        return owner
    }

    /// Writes the item. Returns false if the conflicting row no longer exists or the item changed meanwhile.
    private func write(_ plan: Transfer) throws -> Bool {
        let opened = try matchingItem(of: plan)
        var record = try QueryGrammar.changed(opened.record, by: plan.changes)
        record.attributes[.accessGroup] = .text(plan.owner ?? opened.record.accessGroup)
        try askToTransfer(opened, plan.changes.attributes, to: record.accessGroup)
        let now = services.now()
        record.attributes[.modificationDate] = .date(
            plan.keepsOriginal ? now : nextDate(after: opened.record.attributes[.modificationDate]))
        if plan.keepsOriginal { record.attributes[.creationDate] = .date(now) }
        try checkSize(record)
        try throwIfPasswordIsMissing(for: record)
        guard let value = try openValue(of: opened, reason: plan.query.operationPrompt, mayPrompt: plan.query.authenticationUI == .allow)
        else {
            return false
        }
        if plan.keepsOriginal {
            let isWritten = try write(record, item: try Entropy.bytes(16), value: value)
            if isWritten { note(.read, opened) }
            return isWritten
        }
        let binding = try binding(record, item: opened.binding.item, generation: try keys.generationToWrite(record.protection))
        let row = try row(
            of: record, isCanary: opened.isCanary, binding: binding, secret: try seal(value, binding), blinds: try blinds(record))
        // The permissions that the earlier owner gave to read the item end with its ownership.
        let isSameOwner = record.accessGroup.isSameBytes(as: opened.record.accessGroup)
        let renamed = record.isFoundDifferently(than: opened.record) ? [opened] : []
        let ended =
            try permissionsToRead(renamed.map(\.row.handle))
            + (isSameOwner ? [] : try permissionRows(of: opened, by: opened.record.accessGroup))
        let newOwner = isSameOwner ? nil : record.accessGroup
        let change = RowChange(old: opened.row.handle, row: row, changesBlinds: true, newOwner: newOwner)
        let isWritten = try isDone(
            withLogRecords(of: .changed, [opened.used, opened.used(as: record)]) {
                try database.update([change], removing: ended, appending: $0)
            })
        if isWritten { for item in renamed { services.leasedKeys.forget(item.binding.item, user: user) } }
        return isWritten
    }

    /// Returns the one matching item: one of the caller's own, or one in the group that the query names.
    private func matchingItem(of plan: Transfer) throws -> OpenedRow {
        let rights = try rights()
        let named = plan.terms.namedGroup
        let isForeign = named.map { !rights.owns($0) } ?? false
        guard !isForeign || plan.query.authenticationUI == .allow else {
            throw Refusal(.interactionNotAllowed, "Moving another program's item needs a prompt, which this request forbids")
        }
        // Prompts before it searches, so that a caller without consent does not find out what another owner stores.
        if isForeign, let named {
            guard let name = plan.terms.shownName(as: plan.changes.attributes) else {
                throw Refusal(.badParameter, "Name the item by its service or server and its account")
            }
            try askToTransfer(name, of: named, to: plan.owner ?? named, plan.terms.kind, about: .words(plan.terms))
        }
        let selection = try selection(plan.terms, of: isForeign ? [] : rights.groups)
        guard !selection.usesDeviceIndex else { throw Refusal(.beforeFirstUnlock) }
        var found: [OpenedRow] = []
        try forEachRow(of: selection, batch: KeychainLimits.batchRowsMax) { row in
            guard let opened = try open(row), isForeign || rights.owns(opened.record.accessGroup),
                plan.terms.match(opened.record.attributes)
            else {
                return true
            }
            found.append(opened)
            return found.count < 2
        }
        guard let item = found.first else { throw Refusal(.itemNotFound) }
        guard found.count == 1 else { throw Refusal(.badParameter, "More than one item matches; name the account and the owner") }
        return item
    }

    /// Prompts the user if programs are distinguished and an item passes from one owner to another, since a program trusts what it finds
    /// under its own name. Prompts once in a request.
    private func askToTransfer(_ opened: OpenedRow, _ changes: ItemAttributes, to owner: String) throws {
        let rights = try rights()
        let before = opened.record.accessGroup
        // For an item of another owner, the prompt was shown before the search.
        guard !rights.ownsEverything, rights.owns(before), !owner.isSameBytes(as: before) else { return }
        try askToTransfer(opened.record.shownName(as: changes), of: before, to: owner, opened.record.kind, about: .item(opened))
    }

    private func askToTransfer(_ item: String, of before: String, to owner: String, _ kind: ItemKind, about subject: PromptSubject) throws {
        let consent = Consent(.moveItems, offered: .once, item: item, owner: before, program: owner)
        guard try promptOnce(to: consent, about: subject, of: kind) != nil else {
            throw Refusal(.unavailable, "The item changed while the prompt was open; try again")
        }
    }

    /// Returns the permissions to read an item that its owner gave, without those of the user.
    private func permissionRows(of opened: OpenedRow, by owner: String) throws -> [RowHandle] {
        guard try !rights().ownsEverything else { return [] }
        return try permissionRows(of: [opened.row.handle]) { $0.offeringGroup?.isSameBytes(as: owner) ?? false }
    }
}

extension ItemRecord {
    /// Returns whether searches find the two by different attributes, apart from dates and owner.
    fileprivate func isFoundDifferently(than other: ItemRecord) -> Bool {
        let unnamed: Set<AttributeName> = [.modificationDate, .creationDate, .accessGroup]
        return Set(attributes.names).union(other.attributes.names).subtracting(unnamed).contains { name in
            attributes[name]?.equalityBytes != other.attributes[name]?.equalityBytes
        }
    }
}

/// A move or a copy, during one request.
private struct Transfer {
    let query: ItemQuery
    let terms: SearchTerms
    let changes: ItemChanges
    let owner: String?
    let keepsOriginal: Bool
}

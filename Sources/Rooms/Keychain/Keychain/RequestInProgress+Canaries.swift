// The requests about canary items (Specs/canaries.md).

internal import EnclaveWire
internal import KeychainStore
internal import Logging
internal import VaubanAccessPolicy
internal import VaubanKeychainModel
internal import VaubanKeychainWire
internal import VaubanLinuxHost
internal import VaubanRefusal
internal import VaubanUserModel

extension KeychainRequest {
    /// Whether the request needs more of an item than its attributes.
    var usesItems: Bool {
        switch self {
        case .copyMatching(let query, _): query.returns.contains(.data)
        case .update, .delete, .transfer, .sharedPassword: true
        case .history(let request, _):
            switch request {
            case .value, .undo, .undelete, .purge, .clear: true
            case .list, .deleted, .setting: false
            }
        case .add, .rewrap, .discard, .permissions, .permit, .move, .examine, .restore, .handOver, .ownRights, .accessLog, .lastUses,
            .logHead, .canary, .backup, .sync:
            false
        }
    }
}

extension ItemKind {
    /// Whether items of this class can be canaries.
    var canBeCanary: Bool { self == .genericPassword || self == .internetPassword }
}

extension RequestInProgress {
    /// Notes that a canary was refused since it is locked. The row does not open, so it is known by its identity only.
    func noteIfCanary(_ row: StoredRow) {
        guard usesItems, services.accessLogs.knownCanaries.contains(row.item, of: user), var used = UsedItem(unopened: row.handle) else {
            return
        }
        used.isCanary = true
        note(action, .refused, of: used)
    }

    private func throwUnlessAtCommandLine() throws {
        guard caller.isUserAtCommandLine else { throw Refusal(.notAllowedHere, "Canary items are marked with the vauban command") }
    }

    /// Prompts the user: any program can start the command line, and must not learn which items are canaries.
    private func askAboutCanaries() throws {
        try throwUnlessAtCommandLine()
        if try !rights().ownsEverything { try ask(Consent(.changeCanaries, offered: .once)) }
    }

    // MARK: Marking

    /// Marks the one matching password, or removes the mark. Writes its row in any case, so that the time does not reveal whether it was
    /// marked before; the attributes stay as they are.
    func mark(_ query: ItemQuery, isCanary: Bool) throws {
        if isCanary { try throwUnlessAtCommandLine() } else { try askAboutCanaries() }
        guard query.kind.canBeCanary else {
            throw Refusal(.badParameter, "Only passwords can be canaries")
        }
        let terms = try QueryGrammar.termsToChange(of: query, for: try rights())
        try withRetries {
            let opened = try matchingPassword(terms, query)
            guard let row = try marked(opened, isCanary: isCanary, query),
                try isDone(try database.update([RowChange(old: opened.row.handle, row: row, changesBlinds: false)]))
            else { return false }
            let canaries = services.accessLogs.knownCanaries
            if isCanary { canaries.remember(row.item, of: user) } else { canaries.forget(row.item, of: user) }
            return true
        }
        try sink.send(.done)
    }

    private func matchingPassword(_ terms: SearchTerms, _ query: ItemQuery) throws -> OpenedRow {
        let rights = try rights()
        let selection = try selection(terms, of: rights.groups)
        guard !selection.usesDeviceIndex else { throw Refusal(.beforeFirstUnlock) }
        var found: [OpenedRow] = []
        try forEachRow(of: selection, batch: KeychainLimits.batchRowsMax) { row in
            guard let opened = try open(row), rights.owns(opened.record.accessGroup), terms.match(opened.record.attributes) else {
                return true
            }
            found.append(opened)
            return found.count < 2
        }
        var isLeftOut = false
        if found.isEmpty {
            let request = ConsentRequest(purpose: .changeItem, ui: query.authenticationUI, reason: query.operationPrompt)
            isLeftOut = try forEachForeignRow(of: terms, request) { opened in
                found.append(opened)
                return false
            }
        }
        guard let item = found.first else { throw notFound(leftOut: isLeftOut, ui: query.authenticationUI) }
        guard found.count == 1 else { throw Refusal(.badParameter, "More than one item matches; name the account and the owner") }
        return item
    }

    /// Returns the row with the mark, or without; nil if it turns out to be absent.
    private func marked(_ opened: OpenedRow, isCanary: Bool, _ query: ItemQuery) throws -> StoredRow? {
        let generation = try keys.generationToWrite(opened.record.protection)
        let binding = try binding(opened.record, item: opened.binding.item, generation: generation)
        let secret: SecretHalf
        if binding.isOfSameItem(as: opened.binding) {
            guard let half = try kept(opened, generation) else { return nil }
            secret = half
        } else {
            // A row of an older format is sealed again in the present one.
            let mayPrompt = query.authenticationUI == .allow
            guard let value = try openValue(of: opened, reason: query.operationPrompt, mayPrompt: mayPrompt) else { return nil }
            secret = try seal(value, binding)
        }
        return try row(of: opened.record, isCanary: isCanary, binding: binding, secret: secret, blinds: opened.row.blinds)
    }

    // MARK: Listing

    /// Sends the canary items of all owners, without their values.
    func listCanaries() throws {
        try askAboutCanaries()
        let replies = ReplyBatch(sink, returning: .attributes)
        for kind in [ItemKind.genericPassword, .internetPassword] {
            let all = RowSelection(kind: kind.rawValue, protection: nil, lookup: nil, filter: [], usesDeviceIndex: false)
            try forEachRow(of: all, batch: KeychainLimits.batchRowsMax) { row in
                guard let opened = try open(row), opened.isCanary else { return true }
                try replies.add(opened.record, of: opened.binding.item)
                return true
            }
        }
        try replies.finish()
    }

    // MARK: What the user has seen

    /// Records that the user has seen alerts, after a prompt: without one, the program that caused them could claim that.
    func acknowledgeAlerts(_ total: Int64) throws {
        try askAboutCanaries()
        try? accessLog.flush(to: database)
        services.accessLogs.schedulePending(of: user, in: accessLog)
        try database.acknowledgeAlerts(total)
        try sink.send(.done)
    }
}

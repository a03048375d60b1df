// What requests put into the access log (Specs/access-log.md).

internal import EnclaveWire
internal import KeychainStore
internal import Logging
internal import VaubanAccessPolicy
internal import VaubanDER
internal import VaubanKeychainModel
internal import VaubanKeychainWire
internal import VaubanLinuxHost
internal import VaubanPlainText
internal import VaubanRefusal
internal import VaubanRoomLog
internal import VaubanUserModel

extension KeychainRequest {
    /// The action that the log records if the request is refused.
    var action: AccessAction {
        switch self {
        case .add: .added
        case .update, .move: .changed
        case .transfer(_, _, let keepsOriginal): keepsOriginal ? .read : .changed
        case .delete: .deleted
        case .history(let request, _):
            switch request {
            case .undo, .undelete: .changed
            case .purge, .clear: .deleted
            case .list, .value, .deleted, .setting: .read
            }
        case .sharedPassword(let request):
            switch request.action {
            case .save: .changed
            case .delete: .deleted
            case .pick: .read
            }
        case .backup: .backedUp
        case .sync: .synchronized
        case .copyMatching, .rewrap, .discard, .permissions, .permit, .examine, .restore, .handOver, .ownRights, .accessLog, .lastUses,
            .logHead, .canary:
            .read
        }
    }
}

extension RequestInProgress {
    /// Begins a series for the log if it needs one. Without one the request goes on; its changes are counted as unrecorded, and its reads
    /// are written later.
    func prepareLog() {
        do {
            try accessLog.prepare(for: database, using: enclave)
            services.accessLogs.schedulePending(of: user, in: accessLog)
        } catch let refusal as Refusal where refusal.blame == .user {
            // Locked, and the log has no key pair yet.
        } catch {
            services.boundedLog.notice("the access log has no series", about: user, ["why": "\(error)"])
        }
    }

    /// Calls `body`, which empties the database, and starts its log over. Returns what `body` does: whether it emptied the database.
    func erasingLog(_ body: () throws -> Bool) throws -> Bool {
        guard try accessLog.whileErasing(body) else { return false }
        prepareLog()
        return true
    }

    /// Reports the end of the log to the enclave, if it is time for that.
    func anchorLog(report: () throws -> Void = {}) {
        do { try accessLog.anchor(in: enclave, of: database, report: report) } catch {
            services.boundedLog.notice("the access log cannot be anchored", about: user, ["why": "\(error)"])
        }
    }

    // MARK: Noting

    private var loggedCaller: AccessCaller { caller.logged(asSigned: countsAsSigned) }

    /// Notes what was done to an item, without a change of the database.
    func note(_ action: AccessAction, _ opened: OpenedRow) {
        let isApproved = opened.needsPrompt(givenPassword: password != nil) || hasConsent(on: opened.binding.item)
        note(action, isApproved ? .approved : .done, of: opened.used)
    }

    /// Notes that the enclave, or the user, refused an item's value, or that the caller hung up while the user was prompted.
    func note(_ error: any Error, of opened: OpenedRow) {
        guard let outcome = AccessOutcome(of: error) else { return }
        var used = opened.used
        // An earlier value from before the item was marked has no mark.
        if isKnownCanary(used) { used.isCanary = true }
        note(action, outcome, of: used)
    }

    private func isKnownCanary(_ used: UsedItem) -> Bool { services.accessLogs.knownCanaries.contains(used.item, of: user) }

    /// Notes that a prompt about another owner's item was refused, or could not be shown. An item that the caller only described is looked
    /// up later, among canaries.
    func note(_ error: any Error, of consent: Consent, about subject: PromptSubject) {
        guard let action = consent.purpose.action, let name = consent.item, let outcome = AccessOutcome(of: error) else { return }
        let owner = UsedItem.clipped(consent.owner ?? AccessGroup.commandLine)
        var item = UsedItem(item: [], kind: 0, owner: owner, name: UsedItem.clipped(name))
        switch subject {
        case .item(let opened) where opened.isCanary: item = opened.used
        case .words(let terms):
            // Leases the keys for the look-up, whatever items exist.
            _ = try? keys.currentGeneration(of: .metadata(.whenUnlocked))
            let use = AccessUse(caller: loggedCaller, action: action, outcome: outcome, item: item, date: services.now())
            if services.accessLogs.refused.add(RefusedRequest(use: use, terms: terms), of: user) {
                return services.accessLogs.schedule(user)
            }
        case .item, .other: break
        }
        note(action, outcome, of: item)
    }

    func note(_ action: AccessAction, _ outcome: AccessOutcome, of item: UsedItem) {
        let use = AccessUse(caller: loggedCaller, action: action, outcome: outcome, item: item, date: services.now())
        accessLog.note(use)
        services.accessLogs.schedule(user)
        if use.isAlert { services.accessLogs.alert(user, of: use) }
        // Uses that cannot be written stay noted, as far as there is room.
        accessLog.flushIfFull(to: database)
    }

    /// Returns whether the user was prompted for this item, or for one that is not known by its identity.
    private func hasConsent(on item: [UInt8]) -> Bool {
        guard wasPrompted else { return false }
        return consentAnswer?.item.map { $0 == item } ?? true
    }

    // MARK: Changes

    /// Calls `body`, which makes a change and appends its records to the access log in the same transaction. Returns what `body` does.
    func withLogRecords(
        of action: AccessAction, _ items: [UsedItem], _ body: (LogAddition?) throws -> WriteOutcome
    ) throws -> WriteOutcome {
        let isStored = { (outcome: WriteOutcome) in if case .written = outcome { true } else { false } }
        return try withLogRecords(of: action, items, isStored: isStored, body)
    }

    /// Does the same for a change that returns whether it was made.
    func withLogRecords(of action: AccessAction, _ items: [UsedItem], _ body: (LogAddition?) throws -> Bool) throws -> Bool {
        try withLogRecords(of: action, items, isStored: { $0 }, body)
    }

    private func withLogRecords<Value: Sendable>(
        of action: AccessAction, _ items: [UsedItem], isStored: (Value) -> Bool, _ body: (LogAddition?) throws -> Value
    ) throws -> Value {
        let uses = uses(of: items, action)
        // A change that was only noted is written later, as a read is.
        defer { if accessLog.hasPending { services.accessLogs.schedule(user) } }
        let value = try accessLog.withRecords(of: uses, in: database, isStored: isStored, body)
        if isStored(value), meetsSynchronizable, self.action != .synchronized { services.changes.add(Self.identities(of: items), of: user) }
        if isStored(value), let alert = uses.first(where: \.isAlert) { services.accessLogs.alert(user, of: alert) }
        return value
    }

    /// Returns the identities of items; nil if one is unknown.
    private static func identities(of items: [UsedItem]) -> [[UInt8]]? {
        items.contains { $0.item.isEmpty } ? nil : items.map(\.item)
    }

    private func uses(of items: [UsedItem], _ action: AccessAction) -> [AccessUse] {
        let (date, outcome) = (services.now(), wasPrompted || mayHavePrompted ? AccessOutcome.approved : .done)
        // Storing an item from another device or a backup does not count as a use of a canary.
        let isMerged = [.backedUp, .synchronized].contains(self.action)
        return items.filter { $0.kind != ItemKind.permission.rawValue }.map { item in
            var item = item
            if isMerged { item.isCanary = false }
            return AccessUse(caller: loggedCaller, action: action, outcome: outcome, item: item, date: date)
        }
    }

    /// Returns what the log says of deleted rows: as many names as fit into a log record, as far as the rows can be opened, and the mark of
    /// each that can be a canary.
    func used(_ handles: [RowHandle]) -> [UsedItem] {
        handles.enumerated().compactMap { index, handle in
            var used = UsedItem(unopened: handle)
            let isNamed = index < AccessRecord.itemsMax
            if isNamed || used?.canBeCanary ?? true, let row = try? database.row(handle.id), case .item(let opened, _)? = try? decode(row) {
                return isNamed || opened.isCanary ? opened.used : used
            }
            meetsSynchronizable = true
            if let closed = used, isKnownCanary(closed) { used?.isCanary = true }
            return used
        }
    }
}

extension Consent.Purpose {
    /// The action for which a prompt about an item requests consent; nil for other prompts.
    fileprivate var action: AccessAction? {
        switch self {
        case .readItem, .usePassword: .read
        case .changeItem, .moveItems, .savePassword, .changePassword: .changed
        case .deleteItem, .deletePassword: .deleted
        default: nil
        }
    }
}

extension AccessOutcome {
    /// The outcome that the log records for an error; nil for one that is no refusal.
    fileprivate init?(of error: any Error) {
        switch error {
        case is CallerHungUp: self = .notApproved
        case let refusal as Refusal where refusal.blame == .user:
            switch refusal.reason {
            case .cancelled, .authenticationFailed, .fallbackChosen, .userTimedOut: self = .notApproved
            default: self = .refused
            }
        default: return nil
        }
    }
}

extension UsedItem {
    static func clipped(_ text: String) -> String { PlainLine.bothEnds(text, bytesMax: textBytesMax) }

    init(_ record: ItemRecord, item: [UInt8], isCanary: Bool = false) {
        self.init(
            item: item, kind: record.kind.rawValue, owner: Self.clipped(record.accessGroup), name: Self.clipped(record.shownName),
            isCanary: isCanary)
    }

    /// Whether items of its class can be canaries.
    fileprivate var canBeCanary: Bool { ItemKind(rawValue: kind)?.canBeCanary ?? false }

    /// Creates a used item without its name, which needs no key. Returns nil if the row is damaged.
    init?(unopened handle: RowHandle) {
        guard let binding = try? RowBinding(derBytes: handle.metadataBinding) else { return nil }
        self.init(item: binding.item, kind: binding.kind, owner: Self.clipped(binding.accessGroup), name: "")
    }
}

extension OpenedRow {
    var used: UsedItem { used(as: record) }

    /// Returns what the log says of the item under another name or owner.
    func used(as record: ItemRecord) -> UsedItem { UsedItem(record, item: binding.item, isCanary: isCanary) }
}

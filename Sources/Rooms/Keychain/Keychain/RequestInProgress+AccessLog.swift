// What requests put into the access log, and the request that reads it (Specs/access-log.md).

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
    /// What a refusal of the request was about.
    var action: AccessAction {
        switch self {
        case .update, .transfer, .move: .changed
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
        default: .read
        }
    }
}

extension RequestInProgress {
    private var accessLog: AccessLog { services.accessLogs.log(of: user) }

    /// Begins a series for the log if it needs one. Without one the request goes on; its changes are counted as unrecorded, and its reads
    /// are written later.
    func prepareLog() {
        do {
            try accessLog.prepare(for: database, using: enclave)
        } catch let refusal as Refusal where refusal.blame == .user {
            // Locked, and the log has no key pair yet.
        } catch {
            services.boundedLog.notice("the access log has no series", about: user, ["why": "\(error)"])
        }
    }

    /// Empties a database, and begins its log anew.
    func erasingLog(_ body: () throws -> Bool) throws -> Bool {
        let isErased = try accessLog.whileErasing(body)
        prepareLog()
        return isErased
    }

    /// Reports the end of the log to the enclave, if it is time for that.
    func anchorLog() {
        do { try accessLog.anchor(in: enclave, of: database) } catch {
            services.boundedLog.notice("the access log cannot be anchored", about: user, ["why": "\(error)"])
        }
    }

    // MARK: Noting

    /// Notes what was done to an item, without a change of the database.
    func note(_ action: AccessAction, _ opened: OpenedRow) {
        let isApproved = opened.asks(givenPassword: password != nil) || hasConsent(on: opened.binding.item)
        note(action, isApproved ? .approved : .done, opened.used)
    }

    /// Notes that the enclave, or the user, refused an item's value, or that the caller hung up while the user was prompted.
    func note(_ error: any Error, of opened: OpenedRow) {
        if let outcome = AccessOutcome(of: error) { note(action, outcome, opened.used) }
    }

    /// Notes that a prompt about another owner's item was refused, or could not be shown.
    func note(_ error: any Error, of consent: Consent) {
        guard let action = consent.purpose.action, let name = consent.item, let outcome = AccessOutcome(of: error) else { return }
        let owner = consent.owner ?? AccessGroup.commandLine
        note(action, outcome, UsedItem(item: [], kind: 0, owner: UsedItem.clipped(owner), name: UsedItem.clipped(name)))
    }

    private func note(_ action: AccessAction, _ outcome: AccessOutcome, _ item: UsedItem) {
        accessLog.note(AccessUse(caller: caller.logged, action: action, outcome: outcome, item: item, date: services.now()))
        services.accessLogs.schedule(user)
        // What cannot be written stays noted, as much as there is room for.
        if accessLog.isFull { try? accessLog.flush(to: database) }
    }

    /// Returns whether the user was prompted for this item, or for one that is not known by its identity.
    private func hasConsent(on item: [UInt8]) -> Bool {
        guard wasAsked else { return false }
        return consentAnswer?.item.map { $0 == item } ?? true
    }

    // MARK: Changes

    /// Calls `body`, which makes a change and appends its records to the access log in the same transaction. Returns what `body` does.
    func withLogRecords(
        of action: AccessAction, _ items: [UsedItem], _ body: (LogAddition?) throws -> WriteOutcome
    ) throws -> WriteOutcome {
        let isStored = { (outcome: WriteOutcome) in if case .written = outcome { true } else { false } }
        return try accessLog.withRecords(of: uses(of: items, action), in: database, isStored: isStored, body)
    }

    /// Does the same for a change that returns whether it was made.
    func withLogRecords(of action: AccessAction, _ items: [UsedItem], _ body: (LogAddition?) throws -> Bool) throws -> Bool {
        try accessLog.withRecords(of: uses(of: items, action), in: database, isStored: { $0 }, body)
    }

    private func uses(of items: [UsedItem], _ action: AccessAction) -> [AccessUse] {
        let (date, outcome) = (services.now(), wasAsked || mayHaveAsked ? AccessOutcome.approved : .done)
        return items.filter { $0.kind != ItemKind.permission.rawValue }.map {
            AccessUse(caller: caller.logged, action: action, outcome: outcome, item: $0, date: date)
        }
    }

    /// Returns what the log says of deleted rows: names as far as the rows can be opened.
    func used(_ handles: [RowHandle]) -> [UsedItem] {
        handles.enumerated().compactMap { index, handle in
            if index < AccessRecord.itemsMax, let row = try? database.row(handle.id), case .item(let opened, _)? = try? decode(row) {
                return opened.used
            }
            return UsedItem(unopened: handle)
        }
    }

    // MARK: Reading

    /// Sends a page of the log, the newest records first, as far as they are about the caller's own items, or the user consents.
    func readAccessLog(_ query: AccessLogQuery) throws {
        guard caller.isUserAtCommandLine else { throw Refusal(.notAllowedHere, "only the command line reads the access log: vauban log") }
        let rights = try rights()
        if query.ofAllOwners, !rights.ownsEverything, !caller.consents.toListOwners.withLock({ $0 }) {
            try ask(Consent(.listOwners, offered: .once))
            caller.consents.toListOwners.withLock { $0 = true }
        }
        let coversAll = query.ofAllOwners || rights.ownsEverything
        if query.before == nil { writePending() }
        let faults = query.verifies ? try verifyLog() : []
        var opener = LogOpener(database, enclave)
        let rows = try database.logRows(
            before: query.before, count: AccessLogPage.recordsMax, bytesMax: KeychainLimits.replyBytesMax - KeychainLimits.logRecordBytesMax
        )
        // Each key is computed from the one before.
        let records = try rows.reversed().map { row in
            let record = try opener.open(row)
            let shown = record.flatMap { coversAll ? $0 : $0.keeping { rights.owns($0.owner) } }
            return FoundRecord(number: row.number, isHidden: record != nil && shown == nil, record: shown)
        }
        let oldest = try database.logRows(after: 0, count: 1).first?.number ?? 0
        try sink.send(.accessLog(AccessLogPage(oldest: oldest, faults: faults, records: records.reversed())))
        try sink.send(.done)
    }

    /// Writes and anchors what is pending. On a full disk the log is read as it is.
    private func writePending() {
        do {
            try accessLog.flush(to: database)
        } catch {
            services.boundedLog.notice("the access log cannot be written", about: user, ["why": "\(error)"])
        }
    }

    /// Returns the first faults of the whole log, and anchors it if it has the record that the enclave knows.
    private func verifyLog() throws -> [AccessLogFault] {
        let known = try enclave.anchorLog([])
        var faults: [AccessLogFault] = []
        var last: AccessLogEnd?
        while faults.count < AccessLogPage.faultsMax {
            let rows = try database.logRows(after: last?.number ?? 0, count: AccessLogLink.countMax)
            guard !rows.isEmpty else { break }
            for row in rows {
                if let last {
                    if row.number != last.number + 1 {
                        faults.append(AccessLogFault(.missingBefore, row.number))
                    }
                    // After a gap the log goes on after the record that the enclave knew then.
                    else if last.adding(row.link).chain != row.chain {
                        faults.append(AccessLogFault(.broken, row.number))
                    }
                }
                last = AccessLogEnd(number: row.number, chain: row.chain)
                if row.number == known.number, row.chain != known.chain { faults.append(AccessLogFault(.replaced, row.number)) }
            }
        }
        faults = Array(faults.prefix(AccessLogPage.faultsMax - 1))
        if known.number > last?.number ?? 0 { faults.append(AccessLogFault(.missingAtEnd, known.number)) }
        if !faults.contains(where: { $0.kind == .replaced || $0.kind == .missingAtEnd }) {
            try accessLog.anchor(in: enclave, of: database, immediately: true)
        }
        return faults
    }
}

/// Opens records in the order of their numbers.
private struct LogOpener {
    private let database: KeychainDatabase
    private let enclave: any EnclaveOperations
    private var series: Int64 = 0
    /// The key of the record with this number; nil if the series does not open.
    private var key: SeriesKey?
    private var number: Int64 = 0

    init(_ database: KeychainDatabase, _ enclave: any EnclaveOperations) {
        self.database = database
        self.enclave = enclave
    }

    /// Returns a record; nil if it does not open. Throws while the keychain is locked.
    mutating func open(_ row: LogRow) throws -> AccessRecord? {
        guard (1...AccessLogEnd.numberMax).contains(row.series), row.number >= row.series,
            row.number - row.series < KeychainLimits.logSeriesNumbersMax
        else { return nil }
        if row.series != series || row.number < number {
            series = row.series
            number = row.series
            key = try firstKey(of: row.series)
        }
        while number < row.number, let known = key {
            key = known.successor()
            number += 1
        }
        return key?.open(row)
    }

    private func firstKey(of series: Int64) throws -> SeriesKey? {
        guard let sealed = try database.logKey(of: series), sealed.count == EnclaveRequest.sealedSeriesKeyBytes else { return nil }
        do {
            return SeriesKey(try enclave.openSeriesKey(sealed))
        } catch let refusal as Refusal where refusal.reason == .keyDestroyed {
            return nil
        }
    }
}

extension Consent.Purpose {
    /// What a prompt about an item is about; nil for other prompts.
    fileprivate var action: AccessAction? {
        switch self {
        case .readItem, .usePassword: .read
        case .changeItem, .savePassword, .changePassword: .changed
        case .deleteItem, .deletePassword: .deleted
        default: nil
        }
    }
}

extension AccessOutcome {
    /// The outcome that the log records for an error; nil for one that is no refusal.
    fileprivate init?(of error: any Error) {
        switch error {
        case is CallerHungUp: self = .declined
        case let refusal as Refusal where refusal.blame == .user:
            switch refusal.reason {
            case .cancelled, .authenticationFailed, .fallbackChosen, .userTimedOut: self = .declined
            default: self = .refused
            }
        default: return nil
        }
    }
}

extension AccessRecord {
    /// Returns the record with only these items; nil if there are none.
    fileprivate func keeping(_ isKept: (UsedItem) -> Bool) -> AccessRecord? {
        var kept = self
        kept.items = items.filter(isKept)
        return kept.items.isEmpty ? nil : kept
    }
}

extension UsedItem {
    static func clipped(_ text: String) -> String { PlainLine.bothEnds(text, bytesMax: textBytesMax) }

    init(_ record: ItemRecord, item: [UInt8]) {
        self.init(
            item: item, kind: record.kind.rawValue, owner: Self.clipped(record.accessGroup), name: Self.clipped(record.shownName))
    }

    /// Creates a used item without its name, which takes no key. Returns nil if the row is damaged.
    init?(unopened handle: RowHandle) {
        guard let binding = try? RowBinding(derBytes: handle.metadataBinding) else { return nil }
        self.init(item: binding.item, kind: binding.kind, owner: Self.clipped(binding.accessGroup), name: "")
    }
}

extension OpenedRow {
    var used: UsedItem { UsedItem(record, item: binding.item) }
}

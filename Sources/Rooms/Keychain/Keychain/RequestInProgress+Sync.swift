// Synchronized items (Specs/sync.md): rows go to other devices and come from them under keys that the enclave wraps for a circle. The
// command line decides which change is newer; here each write happens only if the row is still the one that the decision was about.

internal import Crypto
internal import EnclaveWire
internal import KeychainStore
internal import VaubanAccessPolicy
internal import VaubanDER
internal import VaubanKeychainModel
internal import VaubanKeychainWire
internal import VaubanLinuxHost
internal import VaubanPlainText
internal import VaubanRefusal
internal import VaubanSecretBytes
internal import VaubanSyncModel

extension RequestInProgress {
    func sync(_ request: SyncRequest, _ value: borrowing SecretBytes) throws {
        try Self.throwUnlessForSync(caller)
        switch request {
        case .circle(let request):
            // What the names of items mean is known here alone, and shown to the user.
            guard !request.namesItems else { throw Refusal(.notAllowedHere, "the items of a companion are named by their rows") }
            let secret: SecretBytes? = if request.takesSecret { value.duplicate() } else { nil }
            try circle(request, secret: secret)
        case .companion(let change, let rows): try circle(try companionRequest(change, rows), secret: nil)
        case .list: try listSynchronizable()
        case .copy(let rows): try copyForCircle(rows) { try enclave.sealForCircle($0.binding, wrapped: $0.row.halves.wrappedKey) }
        case .copyForCompanion(let device, let rows):
            let key = try memberNameKey()
            try copyForCircle(rows) { opened in
                try enclave.sealForCompanion(
                    opened.binding, wrapped: opened.row.halves.wrappedKey, device: device, name: Self.name(of: opened.record, key))
            }
        case .put(let item, let epoch, let name, let mark):
            try sink.send(.sync(.outcome(try put(Received(item, epoch: epoch, name: name), rest: value, replacing: mark))))
        case .delete(let item, let mark): try sink.send(.sync(.outcome(try deleteSynchronized(item, mark))))
        // Served elsewhere, without a database.
        case .changes: break
        case .fates(let questions): try sink.send(.sync(.fates(try questions.map(fate))))
        }
        try sink.send(.done)
    }

    static func throwUnlessForSync(_ caller: Caller) throws(Refusal) {
        guard caller.isUserAtCommandLine else {
            throw Refusal(.notAllowedHere, "Items are synchronized with the command vauban sync")
        }
    }

    private func circle(_ request: CircleRequest, secret: borrowing SecretBytes?) throws {
        let result = try enclave.circle(request, secret: secret)
        switch result.keys {
        case .none: try sink.send(.sync(.circle(result.reply)))
        case .some(let keys): try sink.send(.sync(.circle(result.reply)), value: keys)
        }
    }

    // MARK: Copying

    private func listSynchronizable() throws {
        let key = try nameKey()
        let number = try database.beginList()
        let own = try rights()
        var rows: [SyncRow] = []
        try forEachSynchronizable { row, opened in
            // In system mode other programs' items are not named, since any program can run the command.
            let shown =
                own.owns(opened.record.accessGroup)
                ? PlainLine.bothEnds(opened.record.shownName, bytesMax: SyncRow.shownNameBytesMax) : ""
            rows.append(
                SyncRow(
                    row: row.id,
                    name: !opened.maySynchronize ? nil : key.map { Self.name(of: opened.record, $0) } ?? opened.binding.item,
                    mark: Self.mark(of: row.halves.metadataBinding), item: opened.binding.item, changed: opened.record.changed,
                    shownName: shown))
            if rows.count == SyncReply.rowsMax {
                try sink.send(.sync(.rows(rows)))
                rows = []
            }
        }
        if !rows.isEmpty { try sink.send(.sync(.rows(rows))) }
        try sink.send(.sync(.listed(number: number)))
    }

    /// Calls `body` with each row of an item that has the attribute, of any owner.
    func forEachSynchronizable(_ body: (StoredRow, OpenedRow) throws -> Void) throws {
        for kind in [ItemKind.genericPassword, .internetPassword, .certificate, .key] {
            let terms = SearchTerms(kind: kind, attributes: ItemAttributes([.synchronizable: .number(1)]), protection: nil)
            let selection = try selection(terms, of: [])
            guard !selection.usesDeviceIndex else { throw Refusal(.beforeFirstUnlock) }
            try forEachRow(of: selection, batch: KeychainLimits.batchRowsMax) { row in
                if let opened = try open(row), opened.record.isSynchronizable { try body(row, opened) }
                return true
            }
        }
    }

    /// Returns what became of an item. One that is there was changed only if it opens and has a later date.
    private func fate(of question: ItemQuestion) throws -> ItemFate {
        switch try database.fate(of: question.item) {
        case .returned: return .returned
        case .deleted: return .deleted
        case .deletedElsewhere: return .deletedElsewhere
        case .gone: return .lost
        case .present(let row):
            do {
                guard let opened = try open(row) else { return .lost }
                return opened.record.changed > question.changed ? .changed : .lost
            } catch is RowHasChanged {
                return .lost
            }
        }
    }

    private func copyForCircle(_ rows: [Int64], _ seal: (OpenedRow) throws -> SealedItemKey) throws {
        var bytes = 0
        for id in rows where bytes < KeychainLimits.batchBytesMax {
            do {
                bytes += try copyForCircle(id, seal)
            } catch is RowHasChanged {
                try sink.send(.sync(.omitted(row: id)))
            }
        }
    }

    /// Copies a row, or reports that it is not there as an item that may leave this device, or not on the list of the companion. Returns
    /// the number of bytes sent.
    private func copyForCircle(_ id: Int64, _ seal: (OpenedRow) throws -> SealedItemKey) throws -> Int {
        guard let row = try database.row(id), let opened = try open(row), opened.record.isSynchronizable, opened.maySynchronize else {
            try sink.send(.sync(.omitted(row: id)))
            return 0
        }
        let sealed: SealedItemKey
        do {
            sealed = try seal(opened)
        } catch let refusal as Refusal {
            if refusal.reason != .notAllowedHere { try dispose(of: row, after: refusal) }
            try sink.send(.sync(.omitted(row: id)))
            return 0
        }
        let item = try Self.copied(opened, sealed)
        note(.synchronized, opened)
        try sink.send(.sync(.item(row: id, mark: Self.mark(of: row.halves.metadataBinding), item)), value: Self.rest(of: row))
        return row.halves.secret.count + item.attributes.count
    }

    // MARK: Receiving

    private func put(_ received: Received, rest: borrowing SecretBytes, replacing mark: [UInt8]?) throws -> SyncOutcome {
        let item = received.item
        guard let binding = try? RowBinding(derBytes: item.binding), let kind = ItemKind(rawValue: binding.kind), kind.isBackedUp,
            binding.accessControl == nil, !binding.protection.staysOnDevice
        else { throw Self.damagedItem }
        let secret = item.head + rest.withUnsafeBytes { Array($0) }
        let keys = try circleKeys(of: received, binding)
        let names = try nameKey()
        guard let record = try record(of: item, kind, binding, secret: secret, keys), record.isSynchronizable,
            names.map({ Self.name(of: record, $0) == received.name }) ?? true
        else { throw Self.damagedItem }
        // No change would ever be later.
        guard record.changed <= services.now() + SyncStamp.microsecondsAheadMax else {
            throw Refusal(.unsupported, "it is dated more than ten years ahead of this device's clock")
        }
        switch keys.item {
        case .none: throw Self.damagedItem
        case .some(let key):
            guard let value = try? RowCipher.open(secret, key: key, binding: try binding.itemBinding.encoded()) else {
                throw Self.damagedItem
            }
            return try put(record, item: binding.item, value: value, replacing: names == nil ? .any : .row(mark))
        }
    }

    private func put(
        _ record: ItemRecord, item: [UInt8], value: borrowing PaddedValue, replacing replaced: Replaced
    ) throws -> SyncOutcome {
        var outcome = SyncOutcome.changedMeanwhile
        try withRetries {
            do {
                guard let done = try putOnce(record, item: item, value: value, replacing: replaced) else { return false }
                outcome = done
                return true
            } catch is RowHasChanged { return false }
        }
        return outcome
    }

    /// Returns nil if a row has changed meanwhile in a way that leaves the decision as it is.
    private func putOnce(
        _ record: ItemRecord, item: [UInt8], value: borrowing PaddedValue, replacing replaced: Replaced
    ) throws -> SyncOutcome? {
        let blinds = try blinds(record)
        let generation = try keys.generationToWrite(record.protection)
        guard let row = try database.row(named: blinds.primary) else {
            guard replaced.allows(nil) else { return .changedMeanwhile }
            // An item that was renamed elsewhere may still be here under its earlier name.
            let identity = try database.row(ofItem: item) == nil ? item : try Entropy.bytes(16)
            let binding = try binding(record, item: identity, generation: generation)
            let new = try self.row(of: record, isCanary: false, binding: binding, secret: try seal(value, binding), blinds: blinds)
            let used = UsedItem(record, item: identity)
            return try isDone(withLogRecords(of: .added, [used]) { try database.insert(new, appending: $0) })
                ? Self.placed(new, record) : nil
        }
        guard let existing = try open(row) else { return nil }
        guard existing.record.isSynchronizable, existing.maySynchronize else { return .nameTaken }
        let mark = Self.mark(of: row.halves.metadataBinding)
        guard replaced.allows(mark) else { return .changedMeanwhile }
        if replaced == .any, existing.record.changed == record.changed {
            // It is in place already.
            return .placed(mark: mark, item: row.item, changed: record.changed)
        }
        let binding = try binding(record, item: existing.binding.item, generation: generation)
        let new = try self.row(
            of: record, isCanary: existing.isCanary, binding: binding, secret: try seal(value, binding), blinds: blinds)
        let change = RowChange(old: row.handle, row: new, changesBlinds: true, keeping: keptLabel(record))
        let isWritten = try isDone(withLogRecords(of: .changed, [existing.used]) { try database.update([change], appending: $0) })
        return isWritten ? Self.placed(new, record) : nil
    }

    private static func placed(_ row: StoredRow, _ record: ItemRecord) -> SyncOutcome {
        .placed(mark: mark(of: row.halves.metadataBinding), item: row.item, changed: record.changed)
    }

    private func deleteSynchronized(_ item: [UInt8], _ mark: [UInt8]) throws -> SyncOutcome {
        // Only a device of a circle deletes what another deleted. A companion keeps nothing of what is taken from it.
        let isCompanion = try nameKey() == nil
        guard let row = try database.row(ofItem: item), Self.mark(of: row.halves.metadataBinding) == mark else { return .changedMeanwhile }
        let opened: OpenedRow
        do {
            guard let found = try open(row) else { return .changedMeanwhile }
            opened = found
        } catch is RowHasChanged {
            return .changedMeanwhile
        }
        guard opened.record.isSynchronizable, opened.maySynchronize else { return .nameTaken }
        let removal = RowRemoval(row.handle, keeping: isCompanion ? nil : keptLabel(opened.record), cause: .otherDevice)
        let removals = try [removal] + grants(of: [row.handle]).map { RowRemoval($0) }
        guard try withLogRecords(of: .deleted, [opened.used], { try database.delete(removals, appending: $0) }) else {
            return .changedMeanwhile
        }
        services.leasedKeys.forget(opened.binding.item, user: user)
        return .deleted
    }

    private func circleKeys(of received: Received, _ binding: RowBinding) throws -> RestoredKeys {
        do {
            return try enclave.circleItemKeys(binding, wrapped: received.item.wrapped, epoch: received.epoch)
        } catch let refusal as Refusal where refusal.reason == .rowDamaged {
            throw Self.damagedItem
        }
    }

    // MARK: Parts

    /// What another device replaces or deletes is kept whatever the setting is, since its user may not have seen it (C-217).
    private func keptLabel(_ record: ItemRecord) -> HistoryLabel? {
        record.kind.hasHistory ? HistoryLabel(date: services.now(), owner: record.accessGroup) : nil
    }

    /// Returns the key that blinds the names of items; nil on a companion.
    private func nameKey() throws -> IndexKey? {
        switch try enclave.circleNames() {
        case .none: return nil
        case .some(let key): return IndexKey(key.withUnsafeBytes { SymmetricKey(data: $0) })
        }
    }

    func memberNameKey() throws -> IndexKey {
        guard let key = try nameKey() else {
            throw Refusal(.notAllowedHere, "This device is a companion: it receives items and changes nothing; run this on a member")
        }
        return key
    }

    /// Returns the name of an item that is equal on all devices of a circle.
    static func name(of record: ItemRecord, _ key: IndexKey) -> [UInt8] {
        AttributeBlinds.ofRow(record.attributes, kind: record.kind, key: key).primary
    }

    private static var damagedItem: Refusal { Refusal(.badParameter, "the item is damaged, or of another circle") }
}

/// What an item of another device may replace.
private enum Replaced: Equatable {
    /// The row with this mark, or none.
    case row([UInt8]?)
    /// Whatever is there: on a companion the members' items win, and what was made there is in its history.
    case any

    func allows(_ mark: [UInt8]?) -> Bool { self == .any || self == .row(mark) }
}

/// An item of another device, as the command line found it.
private struct Received {
    let item: BackupItem
    let epoch: Int64
    let name: [UInt8]

    init(_ item: BackupItem, epoch: Int64, name: [UInt8]) {
        self.item = item
        self.epoch = epoch
        self.name = name
    }
}

extension ItemRecord {
    var isSynchronizable: Bool { attributes[.synchronizable] == .number(1) }
}

extension OpenedRow {
    /// Whether the item may leave this device at all (C-064).
    var maySynchronize: Bool {
        record.kind.isBackedUp && !record.protection.staysOnDevice && binding.accessControl == nil
    }
}

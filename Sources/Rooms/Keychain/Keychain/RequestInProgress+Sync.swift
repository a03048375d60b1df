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
            // Only this room can resolve the names of items, and so show the user which items they are.
            guard !request.namesItems else { throw Refusal(.notAllowedHere, "The items of a companion are named by their rows") }
            let secret: SecretBytes? = if request.takesSecret { value.duplicate() } else { nil }
            try circle(request, secret: secret)
        case .companion(let change, let rows): try circle(try companionRequest(change, rows), secret: nil)
        case .list: try listSynchronizable()
        case .listItems(let items): try list(items)
        case .copy(let rows):
            try copyForCircle(rows, hasDigests: true) { try enclave.sealForCircle($0.binding, wrapped: $0.row.halves.wrappedKey) }
        case .copyForCompanion(let device, let rows):
            let key = try memberNameKey()
            try copyForCircle(rows, hasDigests: false) { opened in
                try enclave.sealForCompanion(
                    opened.binding, wrapped: opened.row.halves.wrappedKey, device: device, name: Self.name(of: opened.record, key))
            }
        case .parts(let rows): try listParts(of: rows)
        case .put(let item, let epoch, let name, let mark, let merge, let keeps):
            let received = SyncedItem(item: item, epoch: epoch, name: name, restBytes: value.count)
            let replaced = Replaced.row(mark, merge, isKept: keeps)
            try sink.send(.sync(.outcome(try put(received, rest: value, replacing: replaced))))
        case .putNew(let items):
            for outcome in try putNew(items, rests: value) ?? [.changedMeanwhile] { try sink.send(.sync(.outcome(outcome))) }
        case .delete(let item, let mark): try sink.send(.sync(.outcome(try deleteSynchronized(item, mark))))
        // Served elsewhere, without a database.
        case .changes: break
        case .itemStatuses(let queries): try sink.send(.sync(.itemStatuses(try queries.map(itemStatus))))
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
            rows.append(Self.listed(row, opened: opened, nameKey: key, rights: own))
            if rows.count == SyncReply.rowsMax {
                try sink.send(.sync(.rows(rows)))
                rows = []
            }
        }
        if !rows.isEmpty { try sink.send(.sync(.rows(rows))) }
        try sink.send(.sync(.listed(number: number)))
    }

    /// Lists those of the given items that exist here and are synchronizable.
    private func list(_ items: [[UInt8]]) throws {
        let (key, own) = (try nameKey(), try rights())
        let rows = try items.compactMap { item -> SyncRow? in
            do {
                guard let row = try database.row(ofItem: item), let opened = try open(row), opened.record.isSynchronizable else {
                    return nil
                }
                return Self.listed(row, opened: opened, nameKey: key, rights: own)
            } catch is RowHasChanged {
                // After this change the command line requests the list again.
                return nil
            }
        }
        try sink.send(.sync(.rows(rows)))
    }

    private static func listed(_ row: StoredRow, opened: OpenedRow, nameKey: IndexKey?, rights: CallerRights) -> SyncRow {
        // In system mode other programs' items are not named, since any program can run the command.
        let shown =
            rights.owns(opened.record.accessGroup)
            ? PlainLine.bothEnds(opened.record.shownName, bytesMax: SyncRow.shownNameBytesMax) : ""
        return SyncRow(
            row: row.id, name: !opened.maySynchronize ? nil : nameKey.map { name(of: opened.record, $0) } ?? opened.binding.item,
            mark: mark(of: row.halves.metadataBinding), item: opened.binding.item, changed: opened.record.changed, shownName: shown)
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

    /// Returns the status of an item. An item that exists counts as changed only if it opens and has a later date.
    private func itemStatus(of query: ItemStatusQuery) throws -> ItemStatus {
        switch try database.status(ofItem: query.item) {
        case .returned: return .returned
        case .deleted: return .deleted
        case .deletedElsewhere: return .deletedElsewhere
        case .gone: return .lost
        case .present(let row):
            do {
                guard let opened = try open(row) else { return .lost }
                return opened.record.changed > query.changed ? .changed : .lost
            } catch is RowHasChanged {
                return .lost
            }
        }
    }

    /// - Parameter hasDigests: Whether the digests of the items' parts are wanted.
    private func copyForCircle(_ rows: [Int64], hasDigests: Bool, _ seal: (OpenedRow) throws -> ItemKeyReply) throws {
        var bytes = 0
        var names: IndexKey?
        // A locked keychain is detected when the row is opened.
        func digests(_ opened: OpenedRow) throws -> PartDigests? {
            let key = try names ?? memberNameKey()
            names = key
            return try parts(of: opened, key)
        }
        for id in rows where bytes < KeychainLimits.batchBytesMax {
            do {
                bytes += try copyForCircle(id, digests: hasDigests ? digests : nil, seal)
            } catch is RowHasChanged {
                try sink.send(.sync(.omitted(row: id)))
            }
        }
    }

    /// Copies a row, or reports that it is omitted: it is not an item that may leave this device, or not on the companion's list. Returns
    /// the number of bytes sent.
    private func copyForCircle(
        _ id: Int64, digests: ((OpenedRow) throws -> PartDigests?)?, _ seal: (OpenedRow) throws -> ItemKeyReply
    ) throws -> Int {
        guard let row = try database.row(id), let opened = try open(row), opened.record.isSynchronizable, opened.maySynchronize else {
            try sink.send(.sync(.omitted(row: id)))
            return 0
        }
        let sealed: ItemKeyReply
        do {
            sealed = try seal(opened)
        } catch let refusal as Refusal {
            if refusal.reason != .notAllowedHere { try dispose(of: row, after: refusal) }
            try sink.send(.sync(.omitted(row: id)))
            return 0
        }
        let parts = try digests.flatMap { try $0(opened) }
        guard digests == nil || parts != nil else {
            // The value does not open.
            try sink.send(.sync(.omitted(row: id)))
            return 0
        }
        let item = try Self.copied(opened, sealed)
        note(.synchronized, opened)
        let reply = SyncReply.item(row: id, mark: Self.mark(of: row.halves.metadataBinding), item, parts: parts)
        try sink.send(.sync(reply), value: Self.rest(of: row))
        return row.halves.secret.count + item.attributes.count
    }

    // MARK: Digests

    /// Sends the digests of the parts of those rows that are here and may leave this device.
    private func listParts(of rows: [Int64]) throws {
        let key = try memberNameKey()
        for id in rows {
            do {
                guard let row = try database.row(id), let opened = try open(row), opened.record.isSynchronizable, opened.maySynchronize,
                    let parts = try parts(of: opened, key)
                else { continue }
                try sink.send(.sync(.parts(row: id, mark: Self.mark(of: row.halves.metadataBinding), parts)))
            } catch is RowHasChanged {
                continue
            }
        }
    }

    /// Returns the digests of the parts of an item; nil if the row counts as absent. Such an item has no access control, so this never
    /// prompts.
    private func parts(of opened: OpenedRow, _ key: IndexKey) throws -> PartDigests? {
        guard let value = try openValue(of: opened, reason: nil, mayPrompt: false) else { return nil }
        return PartDigester(key: key, name: Self.name(of: opened.record, key)).digests(of: opened.record, value)
    }

    // MARK: Keys

    /// Returns the key that blinds the names of items; nil on a companion.
    func nameKey() throws -> IndexKey? {
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
}

extension ItemRecord {
    var isSynchronizable: Bool { attributes[.synchronizable] == .number(1) }
}

extension OpenedRow {
    /// Whether the item may leave this device at all (C-064).
    var maySynchronize: Bool {
        record.kind.isSynchronized && !record.protection.staysOnDevice && binding.accessControl == nil
    }
}

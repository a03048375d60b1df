import VaubanKeychainClient
import VaubanKeychainWire
import VaubanLinuxHost
import VaubanRefusal
import VaubanSecretBytes
import VaubanSyncModel

/// One run of `vauban sync`: reads what the other devices wrote, merges it, and writes what changed here.
struct SyncRun {
    let circle: SyncSession
    let files: [FrameCipher]
    private let stateCipher: FrameCipher
    var state: SyncState
    /// The rows of this device as last listed, by name.
    var rows: [[UInt8]: SyncRow] = [:]
    var received = 0
    private(set) var sent = 0
    /// Synchronizable items that stay on this device; those of other programs have no name.
    private(set) var staying: [String] = []
    /// Whether items were lost or put back here, and are read again from the folder.
    private(set) var isRolledBack = false
    /// What could not be read or kept, and why.
    var faults: [String] = []
    /// Whether the folder lacks something without which this device must not write.
    var isBehind = false
    /// Whether a change is to be tried again by the next run, and which were reported.
    var triesAgain = false
    var reported: Set<[UInt8]> = []

    init(_ circle: SyncSession) throws {
        self.circle = circle
        (files, stateCipher) = try circle.open()
        state = try SyncState(circle.home.state(), of: circle.view, stateCipher, at: circle.home.statePath)
    }

    mutating func run() throws {
        do {
            try synchronize()
        } catch {
            // Otherwise the next run takes what was put in place or deleted here for changes of this device.
            try? save()
            throw error
        }
    }

    private mutating func synchronize() throws {
        state.forgetRemoved(circle.view.members)
        for _ in 0..<Self.attemptsMax {
            try stampChanges()
            (faults, isBehind, triesAgain, reported) = ([], false, false, [])
            let before = received
            guard try readAll() else { continue }
            // Lists once more after the writes, so that a copy of the database from before them is known as an earlier one.
            if received > before { try list() }
            noteReports()
            try save()
            if !isBehind { try writeAll() }
            return
        }
        throw Refusal(.unavailable, "The items are being changed by others; try again")
    }

    private mutating func stampChanges() throws {
        try list()
        let here = rows.map { SyncedRow(name: $0.key, mark: $0.value.mark, item: $0.value.item, changed: $0.value.changed) }
        let items = state.isEarlier ? [] : state.ledger.questions(here)
        var fates: [[UInt8]: ItemFate] = [:]
        for batch in stride(from: 0, to: items.count, by: Self.batchRows).map({ items[$0..<min($0 + Self.batchRows, items.count)] }) {
            for (item, fate) in zip(batch, try circle.session.keychain.fates(of: Array(batch))) { fates[item.item] = fate }
        }
        if state.ledger.stamp(here, fates, isEarlier: state.isEarlier, now: MachineClock.referenceMicroseconds) {
            state.rereads = true
            isRolledBack = true
        }
        state.isEarlier = false
        if state.repeatsAll {
            state.ledger.repeatAll()
            state.repeatsAll = false
        }
        try save()
    }

    /// Has the next run write everything again.
    mutating func repeatEverything() throws {
        state.repeatsAll = true
        try save()
    }

    /// The number of changes that earlier runs stamped and have not written.
    var pending: Int { state.ledger.pending.count }

    func save() throws { try circle.home.keepState(try state.sealed(stateCipher)) }

    mutating func list() throws {
        let (listed, number) = try circle.session.keychain.syncRows()
        state.isEarlier = state.isEarlier || number <= state.listed
        state.listed = number
        try save()
        staying = listed.filter { $0.name == nil }.map(\.shownName)
        rows = Dictionary(listed.compactMap { row in row.name.map { ($0, row) } }) { first, _ in first }
    }

    // MARK: Writing

    private mutating func writeAll() throws {
        let names = state.ledger.pending
        guard !names.isEmpty else { return }
        var records: [SyncRecord] = []
        var bytes = 0
        for batch in stride(from: 0, to: names.count, by: Self.batchRows).map({ names[$0..<min($0 + Self.batchRows, names.count)] }) {
            for record in try copied(Array(batch)) {
                records.append(record)
                bytes += Self.recordBytes
                if case .put(let item, let rest) = record.content { bytes += item.attributes.count + rest.count }
                if bytes >= SyncFile.segmentBytes {
                    try write(records)
                    (records, bytes) = ([], 0)
                }
            }
        }
        if !records.isEmpty { try write(records) }
    }

    /// Returns the changes of these names. One that has changed again is left for the next run.
    private func copied(_ names: [[UInt8]]) throws -> [SyncRecord] {
        var records: [SyncRecord] = []
        var wanted: [(name: [UInt8], entry: SyncLedger.Entry, row: Int64)] = []
        for name in names {
            guard let entry = state.ledger.entries[name] else { continue }
            if entry.mark == nil {
                records.append(SyncRecord(name: name, stamp: entry.stamp, changed: entry.changed, content: .deleted))
            } else if let row = rows[name], row.mark == entry.mark {
                wanted.append((name, entry, row.row))
            }
        }
        while !wanted.isEmpty {
            let entries = try circle.session.keychain.copyForCircle(wanted.map(\.row))
            guard !entries.isEmpty else { throw Refusal(.internalError, "the keychain copied nothing") }
            for reply in entries {
                guard !wanted.isEmpty else { throw Refusal(.internalError, "the keychain copied another row") }
                let (name, entry, row) = wanted.removeFirst()
                guard case .item(row, let mark, let item) = reply.reply, mark == entry.mark else { continue }
                records.append(
                    SyncRecord(name: name, stamp: entry.stamp, changed: entry.changed, content: .put(item, rest: reply.takeBytes())))
            }
        }
        return records
    }

    private mutating func write(_ records: [SyncRecord]) throws {
        let device = circle.view.device
        let position = state.seen[device]?.position ?? SyncPosition()
        guard position.number < SyncPosition.numberMax else {
            throw Refusal(.unsupported, "This device has written too many files; run vauban sync leave, then join again")
        }
        let name = SyncFolder.name(of: position.number + 1)
        guard try circle.folder.read(name, in: .device(device)) == nil else {
            throw Refusal(
                .badParameter, "The folder has a file of this device that it did not write; run vauban sync leave, then join again")
        }
        guard let cipher = files.last else { throw Refusal(.internalError) }
        let file = SyncFile(seen: state.seen.mapValues(\.position), records: records)
        let bytes = try file.sealed(at: position, in: circle.view, cipher) { try circle.sign($0) }
        try circle.folder.add(name, in: .device(device), bytes)
        state.seen[device, default: SyncTrail()].append(bytes)
        for record in records { state.ledger.wrote(record.name, record.stamp) }
        sent += records.count
        try save()
    }

    private static let attemptsMax = 5
    private static let batchRows = 100
    /// About what a record has besides its attributes and value.
    private static let recordBytes = 400
}

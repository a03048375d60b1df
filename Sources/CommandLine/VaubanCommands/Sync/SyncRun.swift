import VaubanKeychainClient
import VaubanKeychainWire
import VaubanLinuxHost
import VaubanRefusal
import VaubanSecretBytes
import VaubanSyncModel

/// One run of `vauban sync`: reads what the other devices wrote, merges it, and writes what changed here.
struct SyncRun {
    private let circle: SyncSession
    private let files: [FrameCipher]
    private let stateCipher: FrameCipher
    private var state: SyncState
    /// The rows of this device as last listed, by name.
    private var rows: [[UInt8]: SyncRow] = [:]
    private(set) var received = 0
    private(set) var sent = 0
    /// Synchronizable items that stay on this device.
    private(set) var staying: [String] = []
    /// What could not be read, and why.
    private(set) var faults: [String] = []

    init(_ circle: SyncSession) throws {
        self.circle = circle
        (files, stateCipher) = try circle.open()
        state = try SyncState(circle.home.state(), of: circle.view, stateCipher, at: circle.home.statePath)
    }

    mutating func run() throws {
        for _ in 0..<Self.attemptsMax {
            try list()
            let here = rows.map { SyncedRow(name: $0.key, mark: $0.value.mark, changed: $0.value.changed) }
            state.ledger.stamp(here, now: MachineClock.referenceMicroseconds)
            if state.repeatsAll {
                state.ledger.repeatAll()
                state.repeatsAll = false
            }
            try save()
            faults = []
            if try readAll() { return try writeAll() }
        }
        throw Refusal(.unavailable, "the items are being changed by others; try again")
    }

    /// Has the next run write everything again.
    mutating func repeatEverything() throws {
        state.repeatsAll = true
        try save()
    }

    /// The number of changes that the other devices have not been given.
    var pending: Int { state.ledger.pending.count }

    private func save() throws { try circle.home.keepState(try state.sealed(stateCipher)) }

    private mutating func list() throws {
        let listed = try circle.session.keychain.syncRows()
        staying = listed.filter { $0.name == nil }.map(\.shownName)
        rows = Dictionary(listed.compactMap { row in row.name.map { ($0, row) } }) { first, _ in first }
    }

    // MARK: Reading

    /// Reads every member, this device too: a run that was killed may have written more than it remembers. Returns false if an item was
    /// changed here meanwhile.
    private mutating func readAll() throws -> Bool {
        for member in circle.view.members {
            do {
                guard try read(member) else { return false }
            } catch let refusal as Refusal where refusal.reason == .badParameter || refusal.reason == .unsupported {
                faults.append(refusal.detail ?? refusal.message)
            }
        }
        return true
    }

    private mutating func read(_ member: CircleMember) throws -> Bool {
        let section = SyncFolder.Section.device(member.device)
        let numbers = try circle.folder.names(in: section).compactMap(SyncFolder.number(of:))
        let known = state.seen[member.device] ?? SyncPosition()
        let last = numbers.max() ?? 0
        let name = SafeText.visible(member.name)
        guard last >= known.number else {
            throw Refusal(
                .badParameter, "The folder lacks files of \(name) that were read before: it was rolled back, or is not copied completely")
        }
        if known.number > 0 {
            guard let bytes = try circle.folder.read(SyncFolder.name(of: known.number), in: section) else {
                throw Refusal(
                    .badParameter, "The folder lacks the file \(SyncFolder.name(of: known.number)) of \(name), which was read before")
            }
            guard SyncPosition().after(bytes).digest == known.digest else {
                throw Refusal(
                    .badParameter,
                    "The file \(SyncFolder.name(of: known.number)) of \(name) is not the one that was read: the folder was altered")
            }
        }
        while true {
            let position = state.seen[member.device] ?? SyncPosition()
            guard let bytes = try circle.folder.read(SyncFolder.name(of: position.number + 1), in: section) else {
                guard last <= position.number else {
                    throw Refusal(
                        .badParameter,
                        "The folder lacks the file \(SyncFolder.name(of: position.number + 1)) of \(name): it is not copied completely")
                }
                return true
            }
            let (file, epoch) = try SyncFile.opened(bytes, of: member, after: position, in: circle.view, files)
            for record in file.records { guard try merge(record, epoch: epoch) else { return false } }
            state.seen[member.device] = position.after(bytes)
            try save()
            try compare(file.seen, of: name)
        }
    }

    /// Compares how far another device read with what is here: whoever carries the folder might show it different files.
    private mutating func compare(_ seen: [[UInt8]: SyncPosition], of reader: String) throws(Refusal) {
        for member in circle.view.members {
            guard let theirs = seen[member.device], let ours = state.seen[member.device], theirs.number == ours.number else { continue }
            guard theirs.chain == ours.chain else {
                throw Refusal(
                    .badParameter,
                    "\(reader) has read other files of \(SafeText.visible(member.name)) than are here: the folder was forked or altered")
            }
        }
    }

    /// Merges one change. Returns false if the item was changed here meanwhile.
    private mutating func merge(_ record: SyncRecord, epoch: Int64) throws -> Bool {
        guard state.ledger.decision(on: record.name, record.stamp) == .take else { return true }
        let mark = state.ledger.entries[record.name]?.mark
        let outcome: SyncOutcome
        switch record.content {
        case .put(let item, let rest):
            let rest: SecretBytes? = SecretBytes(copying: rest)
            outcome = try circle.session.keychain.put(item, rest: rest, epoch: epoch, name: record.name, replacing: mark)
        case .deleted:
            if let mark {
                if rows[record.name]?.mark != mark { try list() }
                guard let row = rows[record.name], row.mark == mark else { return false }
                outcome = try circle.session.keychain.deleteSynchronized(row: row.row, mark: mark)
            } else {
                outcome = .done(mark: nil)
            }
        }
        guard case .done(let mark) = outcome else { return false }
        state.ledger.take(record.name, record.stamp, mark: mark, changed: record.changed)
        received += 1
        return true
    }

    // MARK: Writing

    private mutating func writeAll() throws {
        let names = state.ledger.pending
        guard !names.isEmpty else { return }
        try list()
        var records: [SyncRecord] = []
        var bytes = 0
        for batch in stride(from: 0, to: names.count, by: Self.batchRows).map({ names[$0..<min($0 + Self.batchRows, names.count)] }) {
            for record in try copied(Array(batch)) {
                records.append(record)
                if case .put(let item, let rest) = record.content { bytes += item.attributes.count + rest.count + Self.recordBytes }
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
        let position = state.seen[device] ?? SyncPosition()
        let name = SyncFolder.name(of: position.number + 1)
        guard try circle.folder.read(name, in: .device(device)) == nil else {
            throw Refusal(
                .badParameter, "The folder has a file of this device that it did not write; run vauban sync leave, then join again")
        }
        guard let cipher = files.last else { throw Refusal(.internalError) }
        let file = SyncFile(seen: state.seen, records: records)
        let bytes = try file.sealed(at: position, in: circle.view, cipher) { try circle.sign($0) }
        try circle.folder.write(name, in: .device(device), bytes)
        state.seen[device] = position.after(bytes)
        for record in records { state.ledger.wrote(record.name, record.stamp) }
        sent += records.count
        try save()
    }

    private static let attemptsMax = 5
    private static let batchRows = 100
    /// About what a record has besides its attributes and value.
    private static let recordBytes = 400
}

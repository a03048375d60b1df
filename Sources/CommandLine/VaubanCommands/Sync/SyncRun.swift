import Crypto
import VaubanKeychainClient
import VaubanKeychainWire
import VaubanLinuxHost
import VaubanRefusal
import VaubanSecretBytes
import VaubanSyncModel

/// One run of `vauban sync`: reads what the other devices wrote, merges it, and writes what changed here.
struct SyncRun {
    let circle: SyncCircle
    let files: [FrameCipher]
    let stateCipher: FrameCipher
    var state: SyncState
    /// The rows of this device, as last listed, by name.
    var rows: [[UInt8]: SyncRow] = [:]
    var received = 0
    var sent = 0
    /// Synchronizable items that stay on this device; those of other programs have no name.
    private(set) var staying: [String] = []
    /// When the rows were last listed, by this device's clock: what was added since is in no list.
    private(set) var listedAt: Int64 = .min
    /// A digest of those items, as last listed.
    private(set) var stayingDigest: [UInt8] = []
    static let version = Array(SHA256.hash(data: Array(Version.text.utf8)))
    /// On a companion, the items that were added or changed here and are not sent; those of other programs have no name.
    private(set) var own: [String] = []
    /// Whether items were lost here, or put back to an earlier state, and are read again from the folder.
    private(set) var hasLosses = false
    /// Sentences about what could not be read or applied, and why.
    var faults: [String] = []
    /// The number of files of removed devices that were removed. `clearingFault` says why others were not.
    var cleared = 0
    var clearingFault: String?
    /// The number of this device's files that were removed because they are no longer needed. `compactionFault` says why others were not.
    var compacted = 0
    var compactionFault: String?
    /// Sentences about what is wrong with the members' access logs.
    var logFaults: [String] = []
    /// Whether the folder is missing files that this device needs before it may write.
    var isBehind = false
    /// Whether nothing was written for companions, since a change of their lists may be missing.
    var skipsCompanions = false
    /// The members that kept writing each time this run had read them. If others have read more of them, that is not a fault yet.
    var growing: Set<[UInt8]> = []
    /// Whether a file that an earlier run wrote appeared only after this run had read this device's files.
    private var isLate = false
    /// The next statement about the circle, if files may be read and written only while it does not exist.
    var nextStatement: SyncFolder.File?
    /// Whether the state is saved only once, after everything is written.
    var savesAtEnd = false
    /// Whether the next run must try a change again. `reported` has the names of the changes that were reported.
    var triesAgain = false
    var reported: [[UInt8]: String] = [:]
    /// The conflicts that this run resolved, by the item's name.
    var conflicts: [[UInt8]: FoundConflict] = [:]
    /// Whether this run merged a change with one by this device, so that there is something to write.
    var hasMerged = false
    /// The digests of the parts of the items that were copied and are not written yet.
    private var copiedParts: [[UInt8]: PartDigests] = [:]

    init(_ circle: SyncCircle) throws {
        self.circle = circle
        (files, stateCipher) = try circle.open()
        state = try SyncState(circle.home.state(), of: circle.view, stateCipher, at: circle.home.statePath)
    }

    /// Synchronizes once, and admits devices that have a token.
    init(whole circle: SyncCircle) throws {
        try self.init(circle)
        try linkStatements()
        // A statement that is made while a later one is missing would fork the circle.
        if state.statements.isWhole {
            var changed = circle
            try changed.admitByTokens()
            if changed.view != circle.view { self = try SyncRun(changed) }
        }
        try run()
        circle.noteRevision()
    }

    /// Synchronizes once.
    /// - Parameter isReading: Whether to write nothing, and leave changes made here to the next run.
    mutating func run(isReading: Bool = false) throws {
        do {
            try synchronize(isReading: isReading)
        } catch {
            // Save; otherwise the next run takes what this one added or deleted for changes made on this device.
            try? save()
            // The next run does not find these conflicts again.
            for sentence in SyncOutcome(self).conflicts { say(sentence) }
            throw error
        }
    }

    private mutating func synchronize(isReading: Bool) throws {
        state.forgetRemoved(circle.view)
        try linkStatements()
        for _ in 0..<Self.attemptsMax {
            try stampChanges()
            state.retry(staying: stayingDigest, version: Self.version)
            // Changes that an earlier attempt could not apply are not read again, so keep their reports.
            (faults, isBehind, triesAgain) = (reported.values.sorted(), false, false)
            let before = received
            guard try readAll() else {
                if triesAgain { state.rereads = true }
                continue
            }
            // List again after the writes, so that a copy of the database from before them is recognized as an earlier one.
            if received > before { try list() }
            noteReports()
            try save()
            if circle.view.isCompanion { return try nameOwn() }
            if isReading {
                try readForCompanions()
                try save()
            } else if !isBehind {
                do {
                    try writeAll()
                    try writeForCompanions()
                } catch  where isLate {
                    isLate = false
                    continue
                }
            }
            if !isReading {
                try exchangeHeads(isWriting: !isBehind)
                if !isBehind {
                    removeFilesOfRemoved()
                    do { try compact() } catch  where isLate {
                        isLate = false
                        continue
                    }
                }
            }
            return
        }
        throw Refusal(.unavailable, "Other programs keep changing the items; try again")
    }

    private mutating func stampChanges() throws {
        try list()
        let here = rows.map { SyncedRow(name: $0.key, mark: $0.value.mark, item: $0.value.item, changed: $0.value.changed) }
        let isCompanion = circle.view.isCompanion
        let items = state.isEarlier ? [] : isCompanion ? state.ledger.companionStatusQueries(here) : state.ledger.statusQueries(here)
        var statuses: [[UInt8]: ItemStatus] = [:]
        for batch in stride(from: 0, to: items.count, by: Self.batchRows).map({ items[$0..<min($0 + Self.batchRows, items.count)] }) {
            for (item, status) in zip(batch, try circle.client.keychain.itemStatuses(of: Array(batch))) { statuses[item.item] = status }
        }
        let found =
            isCompanion
            ? state.ledger.reconcile(here, statuses, isEarlier: state.isEarlier).found
            : state.ledger.stamp(here, statuses, isEarlier: state.isEarlier, now: MachineClock.referenceMicroseconds)
        // A device that has joined, or has lost its state, does not know which changes of others its items were made after.
        if state.seen.isEmpty { state.ledger.forgetConflicts() }
        if found.mustReread { state.rereads = true }
        if found.hasLosses { hasLosses = true }
        if !isCompanion { try learnVersions() }
        state.isEarlier = false
        if state.repeatsAll {
            state.ledger.repeatAll()
            state.repeatsAll = false
        }
        try save()
    }

    /// Notes the versions of items that an earlier Vauban, or a run that was killed, has not noted.
    private mutating func learnVersions() throws {
        let read = state.seen.mapValues(\.position.number)
        var names: [Int64: [UInt8]] = [:]
        for name in state.ledger.unknownVersions(read: read) where names.count < Self.learnedRowsMax {
            guard let row = rows[name], row.mark == state.ledger.entries[name]?.mark else { continue }
            names[row.row] = name
        }
        let ids = names.keys.sorted()
        for batch in stride(from: 0, to: ids.count, by: Self.batchRows).map({ ids[$0..<min($0 + Self.batchRows, ids.count)] }) {
            for found in try circle.client.keychain.parts(of: Array(batch)) {
                if let name = names[found.row] { state.ledger.recordParts(name, mark: found.mark, found.parts, read: read) }
            }
        }
    }

    /// Finds the items on this companion that did not come from a member, or were changed here.
    private mutating func nameOwn() throws {
        try list()
        let here = rows.map { SyncedRow(name: $0.key, mark: $0.value.mark, item: $0.value.item, changed: $0.value.changed) }
        var ledger = state.ledger
        let items = ledger.reconcile(here, [:]).own
        own = rows.values.filter { items.contains($0.item) }.map(\.shownName).sorted()
    }

    /// Makes the next run write everything again.
    mutating func repeatEverything() throws {
        state.repeatsAll = true
        try save()
    }

    /// The number of changes that earlier runs stamped but did not write.
    var pending: Int { state.ledger.pending.count }

    private mutating func readAll() throws -> Bool { circle.view.isCompanion ? try receiveAll() : try readMembers() }

    func save() throws {
        if savesAtEnd { return }
        try circle.home.keepState(try state.sealed(stateCipher))
    }

    mutating func list() throws {
        listedAt = MachineClock.referenceMicroseconds
        let (listed, number) = try circle.client.keychain.syncRows()
        state.isEarlier = state.isEarlier || number <= state.listed
        state.listed = number
        try save()
        staying = listed.filter { $0.name == nil }.map(\.shownName)
        let kept = listed.filter { $0.name == nil }.map { $0.item + SyncFile.bytes(of: $0.changed) }
        stayingDigest = Array(SHA256.hash(data: Array(kept.sorted { $0.lexicographicallyPrecedes($1) }.joined())))
        rows = Dictionary(listed.compactMap { row in row.name.map { ($0, row) } }) { first, _ in first }
    }

    // MARK: Writing

    mutating func writeAll() throws { try write(state.ledger.pending) }

    /// Writes the changes of these names for the members.
    mutating func write(_ names: [[UInt8]]) throws {
        let changes = names.compactMap { name in
            state.ledger.entries[name].map { Change(name: name, stamp: $0.stamp, changed: $0.changed, isItem: $0.mark != nil) }
        }
        try write(changes) { try $0.write($1) }
    }

    /// A change to write, of an item as it is here.
    struct Change {
        let name: [UInt8]
        let stamp: SyncStamp
        /// As in `SyncRecord`.
        let changed: Int64
        let isItem: Bool
    }

    /// Writes changes, in as many files as needed, for the members or for one companion.
    mutating func write(_ changes: [Change], for companion: [UInt8]? = nil, _ write: (inout SyncRun, [SyncRecord]) throws -> Void) throws {
        var records: [SyncRecord] = []
        var bytes = 0
        let batches = stride(from: 0, to: changes.count, by: Self.batchRows)
        for batch in batches.map({ changes[$0..<min($0 + Self.batchRows, changes.count)] }) {
            for record in try copied(Array(batch), for: companion) {
                records.append(record)
                bytes += Self.recordBytes
                if case .put(let item, let rest) = record.content { bytes += item.attributes.count + rest.count }
                if bytes >= SyncFile.segmentBytes {
                    try write(&self, records)
                    (records, bytes) = ([], 0)
                }
            }
        }
        if !records.isEmpty { try write(&self, records) }
    }

    /// Returns the records of changes. An item that has changed again is left for the next run.
    private mutating func copied(_ changes: [Change], for companion: [UInt8]?) throws -> [SyncRecord] {
        var records: [SyncRecord] = []
        var wanted: [(change: Change, row: SyncRow)] = []
        for change in changes {
            if !change.isItem {
                records.append(SyncRecord(name: change.name, stamp: change.stamp, changed: change.changed, content: .deleted))
            } else if let row = rows[change.name], row.mark == state.ledger.entries[change.name]?.mark {
                wanted.append((change, row))
            }
        }
        while !wanted.isEmpty {
            let entries = try circle.client.keychain.copyForCircle(wanted.map(\.row.row), companion: companion)
            guard !entries.isEmpty else { throw Refusal(.internalError, "the keychain copied nothing") }
            for reply in entries {
                guard !wanted.isEmpty else { throw Refusal(.internalError, "the keychain copied another row") }
                let (change, row) = wanted.removeFirst()
                guard case .item(row.row, let mark, let item, let parts) = reply.reply, mark == row.mark else { continue }
                copiedParts[change.name] = parts
                records.append(
                    SyncRecord(
                        name: change.name, stamp: change.stamp, changed: change.changed, content: .put(item, rest: reply.takeBytes())))
            }
        }
        return records
    }

    mutating func write(_ records: [SyncRecord]) throws {
        guard let cipher = files.last else { throw Refusal(.internalError) }
        let position = state.seen[circle.view.device]?.position ?? SyncPosition()
        let file = SyncFile(seen: state.seen.mapValues(\.position), records: records)
        let bytes = try add(file, at: position, for: nil, cipher)
        let isCompacting = state.compaction?.end == 0
        if isCompacting { try CompactionLimits.current.didStep(.added) }
        state.noteWritten(bytes, file)
        let place = FilePlace(device: circle.view.device, number: position.number + 1)
        for record in records {
            let parts = copiedParts.removeValue(forKey: record.name)
            let version = parts.map { SyncedVersion(stamp: record.stamp, file: place, parts: $0) }
            state.ledger.markWritten(record.name, record.stamp, noting: version)
        }
        sent += records.count
        try save()
        if isCompacting { try CompactionLimits.current.didStep(.rewritten) }
    }

    /// Adds a file of this device to the folder, and returns its bytes.
    mutating func add(_ file: SyncFile, at position: SyncPosition, for companion: [UInt8]?, _ cipher: FrameCipher) throws -> [UInt8] {
        let device = circle.view.device
        let section = companion.map { SyncFolder.Section.companion($0, writer: device) } ?? .device(device)
        guard position.number < SyncPosition.numberMax else {
            throw Refusal(.unsupported, "This device has written too many files; run vauban sync leave, then join again")
        }
        let name = SyncFolder.name(of: position.number + 1)
        let bytes = try file.sealed(at: position, in: circle.view, for: companion, cipher) { try circle.sign($0) }
        do throws(Refusal) {
            if let nextStatement {
                try circle.folder.add(bytes, named: name, in: section, unless: nextStatement)
            } else {
                try circle.folder.add(bytes, named: name, in: section)
            }
        } catch {
            guard error.reason == .badParameter, let other = try circle.folder.read(name, in: section) else { throw error }
            isLate = try isOwn(other, at: position, for: companion)
            guard !isLate else {
                throw Refusal(.unavailable, "A file that an earlier run of vauban sync had sent was not there before; try again")
            }
            throw Refusal(
                .badParameter, "The folder has a file of this device that it did not write; run vauban sync leave, then join again")
        }
        return bytes
    }

    /// Returns whether this device made a file. It can appear late: a node of etcd that had stalled may carry out an earlier run's request
    /// after this run has looked.
    private func isOwn(_ bytes: [UInt8], at position: SyncPosition, for companion: [UInt8]?) throws -> Bool {
        guard let me = circle.view.members.first(where: { $0.device == circle.view.device }) else { return false }
        let ciphers = try companion.map { try circle.companionFiles($0) } ?? files
        return (try? SyncFile.opened(bytes, of: me, for: companion, after: position, in: circle.view, ciphers)) != nil
    }

    private static let attemptsMax = 5
    private static let batchRows = 100
    /// The keychain opens the value of each, so a run after an update does not ask about all items at once.
    private static let learnedRowsMax = 1000
    /// The approximate size of a record without its attributes and value.
    private static let recordBytes = 400
}

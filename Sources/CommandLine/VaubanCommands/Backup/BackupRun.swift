import VaubanKeychainClient
import VaubanKeychainWire
import VaubanLinuxHost
import VaubanRefusal
import VaubanSecretBytes

/// One run of `vauban backup`: lists the rows, copies those that the target lacks, and completes the backup.
struct BackupRun {
    private let client: ServiceClient
    let target: any BackupTarget
    private var progress = Progress()
    private(set) var written = 0
    private(set) var unchanged = 0
    /// Items that are not in the backup, by name.
    private(set) var omitted: [(item: [UInt8], name: String, why: BackupOmission)] = []
    /// Whether the keychain was still changing at the end.
    private(set) var isChanging = false
    private var copied: Set<[UInt8]> = []
    /// Rows that could not be copied, or changed meanwhile.
    private var unread: Set<[UInt8]> = []
    /// Those of them whose names are unknown too.
    private var nameless: Set<[UInt8]> = []
    /// The number of items that could not be copied, and whose names are unknown.
    private(set) var unreadable = 0
    /// The number of items that are only in the backup, since they disappeared from the keychain without a deletion.
    private(set) var gone = 0
    /// The number of items that were only in damaged parts.
    private(set) var lost = 0
    /// The altered parts that are kept, each with its items that are no longer in the keychain.
    private var rotted: [[UInt8]: [[UInt8]]] = [:]
    let path: String
    private let acceptsLoss: Bool

    /// - Parameters:
    ///   - path: The path of the target, for advice.
    ///   - acceptsLoss: Whether the run continues although many items have disappeared from the keychain.
    init(_ client: ServiceClient, _ target: any BackupTarget, path: String, acceptsLoss: Bool = false) {
        self.client = client
        self.target = target
        self.path = path
        self.acceptsLoss = acceptsLoss
    }

    /// Runs the backup.
    mutating func run(_ opener: BackupOpener) throws {
        let begun = try opener.begin(client, keybag: target.keybag, restores: false)
        guard case .begun(let keybag) = begun.reply, let key = begun.takeSecret() else { throw Refusal(.internalError) }
        let known = try target.begin(keybag, FrameCipher(key))
        // Starting with the first backup, the keychain records deletions.
        let last = try client.keychain.backupRun(isNext: false)
        var kept: Set<BackupMark> = []
        let rows = try rows()
        for row in rows where known.contains(BackupMark(row)) { kept.insert(BackupMark(row)) }
        let gone = try recordMissing(known, kept: kept, among: rows, since: last)
        unchanged = kept.count
        kept.subtract(target.worthRewriting(of: kept))
        let rewritten = unchanged - kept.count
        try target.noteDatabase(of: last)
        try copy(rows.filter { !kept.contains(BackupMark($0)) })
        written -= rewritten
        try copyChanges(since: rows)
        kept.formUnion(gone)
        if !unread.isEmpty {
            // Their earlier states stay in the backup, unless the items were deleted meanwhile.
            unread.subtract(try client.keychain.deletedItems(among: Array(unread)))
            unreadable = nameless.intersection(unread).count
            kept.formUnion(known.filter { unread.contains($0.item) })
        }
        try target.finish(keeping: kept, memory(gone, last))
        progress.clear()
    }

    /// Returns the items in the backup that disappeared from the keychain without a deletion. Throws if they are so many that the user must
    /// confirm.
    private mutating func recordMissing(
        _ known: Set<BackupMark>, kept: Set<BackupMark>, among rows: [BackupRow], since last: (database: Int64, number: Int64)
    ) throws -> Set<BackupMark> {
        let unmatched = known.count == kept.count ? [] : known.subtracting(kept)
        let damaged = target.damaged.flatMap(\.items).map(\.item)
        var altered = target.memory.rotted
        for part in target.damaged {
            if let digest = part.rotted { altered[digest] = part.items.map(\.item) }
        }
        let lostBefore = Set(target.memory.rotted.values.joined())
        var (marks, newlyGone, expected): (Set<BackupMark>, Int, Int) = ([], 0, 0)
        if !unmatched.isEmpty || !damaged.isEmpty || !altered.isEmpty {
            let absent = Set(unmatched.map(\.item)).union(damaged).union(lostBefore).subtracting(rows.map(\.item))
            let deleted = try client.keychain.deletedItems(among: Array(absent))
            let missing = absent.subtracting(deleted)
            marks = unmatched.filter { missing.contains($0.item) }
            let left = Set(marks.map(\.item))
            gone = left.count
            lost = missing.subtracting(lostBefore).subtracting(left).count
            rotted = altered.mapValues { $0.filter(missing.contains) }.filter { !$0.value.isEmpty }
            let earlier = target.memory.gone
            newlyGone = missing.count { earlier[$0] == nil && !lostBefore.contains($0) }
            if newlyGone > 0 {
                expected = Set(known.map(\.item)).union(damaged).count { !deleted.contains($0) && earlier[$0] == nil }
            }
        }
        // Without items of an earlier run there is nothing to lose.
        guard !acceptsLoss, !known.isEmpty || !damaged.isEmpty else { return marks }
        progress.clear()
        let database = BackupLoss.Database(last, in: target.memory, list: target.list)
        try BackupLoss(path: path, newlyGone: newlyGone, expected: expected, database: database).confirm(client.user)
        return marks
    }

    /// Returns the state to store after this run.
    private func memory(_ missing: Set<BackupMark>, _ last: (database: Int64, number: Int64)) throws -> BackupMemory {
        var memory = target.memory
        memory.date = MachineClock.referenceMicroseconds
        memory.rotted = rotted
        memory.gone = [:]
        for mark in missing { memory.gone[mark.item] = target.memory.gone[mark.item] ?? memory.date }
        var run = last
        // Count only runs that a folder records: otherwise an earlier copy of the database could reach the number that a folder records.
        if target.remembersRuns {
            // A full disk must not prevent the backup.
            do throws(Refusal) {
                run = try client.keychain.backupRun(isNext: true)
            } catch {
                guard error.reason == .storageFull else { throw error }
            }
        }
        // Another database lacks what this run adds, until the backup is restored there.
        memory.databases = [run.database: run.number]
        return memory
    }

    private func rows() throws -> [BackupRow] {
        var rows: [BackupRow] = []
        while true {
            let next = try client.keychain.backupRows(after: rows.last?.row ?? 0)
            if next.isEmpty { return rows }
            rows += next
        }
    }

    /// Copies what was added or changed since the rows were listed, until a listing has nothing new. Otherwise an item that a program
    /// deletes and adds again during the run would be in the backup in neither form.
    private mutating func copyChanges(since rows: [BackupRow]) throws {
        var seen = Set(rows.map { BackupMark($0) })
        for _ in 0..<Self.listingsMax {
            let new = try self.rows().filter { !seen.contains(BackupMark($0)) }
            if new.isEmpty { return }
            let items = Set(new.map(\.item))
            omitted.removeAll { items.contains($0.item) }
            unread.subtract(items)
            nameless.subtract(items)
            try copy(new)
            for row in new { seen.insert(BackupMark(row)) }
        }
        isChanging = true
    }

    private mutating func copy(_ missing: [BackupRow]) throws {
        var segment: [BackupRecord] = []
        var bytes = 0
        var next = 0
        while next < missing.count {
            progress.show("Backing up: \(next) of \(missing.count)")
            let batch = missing[next..<min(next + Self.batchRows, missing.count)]
            let entries = try client.keychain.copyRows(batch.map(\.row))
            guard !entries.isEmpty else { throw Refusal(.internalError, "the keychain copied nothing") }
            for (wanted, entry) in zip(batch, entries) {
                next += 1
                switch entry.reply {
                case .item(wanted.row, let item):
                    let rest = entry.takeBytes()
                    segment.append(BackupRecord(mark: BackupMark(wanted), item: item, rest: rest))
                    bytes += rest.count + item.attributes.count
                    if copied.insert(wanted.item).inserted { written += 1 }
                case .omitted(wanted.row, let name, let why):
                    if !name.isEmpty { omitted.append((wanted.item, name, why)) }
                    if why == .absent { unread.insert(wanted.item) }
                    if why == .absent, name.isEmpty { nameless.insert(wanted.item) }
                default: throw Refusal(.internalError, "the keychain copied another row")
                }
                if bytes >= BackupFormat.segmentBytes {
                    try target.write(segment)
                    (segment, bytes) = ([], 0)
                }
            }
        }
        if !segment.isEmpty { try target.write(segment) }
    }

    /// The number of rows in one request.
    private static let batchRows = 500
    /// How often a run lists again what has changed meanwhile.
    private static let listingsMax = 3
}

extension BackupMark {
    init(_ row: BackupRow) { self.init(item: row.item, mark: row.mark) }
}

// The request for the last uses of an item (Specs/access-log.md).

internal import EnclaveWire
internal import KeychainStore
internal import VaubanKeychainModel
internal import VaubanKeychainWire
internal import VaubanLinuxHost
internal import VaubanRefusal

extension RequestInProgress {
    /// Sends the last read, the last use as a private key, and the last change of an item of the caller's own, or of any owner's once the
    /// user has consented. Searches the log from its end, for about a second at most.
    func findLastUses(of item: [UInt8]) throws {
        guard caller.isUserAtCommandLine else { throw Refusal(.notAllowedHere, "Only the command line reads the access log: vauban log") }
        let rights = try rights()
        let coversAllOwners = rights.ownsEverything || caller.consents.toListOwners.withLock { $0 }
        // What cannot be written is not found.
        services.accessLogs.noteKeyUses(of: user, in: accessLog, database)
        try? accessLog.flush(to: database)
        services.accessLogs.schedulePending(of: user, in: accessLog)
        let isKey = try database.row(ofItem: item)?.kind == ItemKind.key.rawValue
        var search = LastUsesSearch(of: item, isKey: isKey, database, enclave) { coversAllOwners || rights.owns($0) }
        let coversAll = try search.run(until: MachineClock.monotonic + KeychainLimits.lastUsesTime)
        // Only the next search is slower without it.
        if !search.read.isEmpty { try? database.store(logUses: search.read) }
        let uses = LastUses(
            read: search.found[.read], changed: search.found[.changed], keyUsed: search.found[.keyUsed], coversAll: coversAll)
        try sink.finish(.lastUses(uses), value: nil)
    }
}

/// A search through the series of the log, the newest first. A series that has ended is read once; what it has of each item is kept, sealed
/// as its records are.
private struct LastUsesSearch {
    private let item: [UInt8]
    private let kinds: Set<LastUseKind>
    private let database: KeychainDatabase
    private let mayShow: (String) -> Bool
    private var opener: LogOpener
    /// Whether a series or record that was searched did not open: it may have other uses.
    private var hasUnreadable = false
    private(set) var found: [LastUseKind: FoundRecord] = [:]
    /// What was read of series that have ended, by the number of their first record.
    private(set) var read: [Int64: [UInt8]] = [:]

    init(
        of item: [UInt8], isKey: Bool, _ database: KeychainDatabase, _ enclave: any EnclaveOperations,
        mayShow: @escaping (String) -> Bool
    ) {
        self.item = item
        self.database = database
        self.mayShow = mayShow
        kinds = isKey ? [.read, .changed, .keyUsed] : [.read, .changed]
        opener = LogOpener(database, enclave)
    }

    /// Returns whether the log has no other uses, or all that are searched for were found, and all opened that was read for that.
    mutating func run(until deadline: UInt64) throws -> Bool {
        var before: Int64?
        var newest: Int64?
        // A series whose records do not lie together was tampered with: what is kept of it is of one part.
        var known: Set<Int64> = []
        repeat {
            guard let part = try database.logPart(before: before) else { return !hasUnreadable }
            newest = newest ?? part.series
            let hasEnded = known.insert(part.series).inserted && part.series != newest
            if let key = try opener.firstKey(of: part.series) {
                try look(into: part, hasEnded: hasEnded, key)
            } else {
                hasUnreadable = true
            }
            before = part.first
        } while !isComplete && MachineClock.monotonic < deadline
        return isComplete && !hasUnreadable
    }

    private var isComplete: Bool { kinds.isSubset(of: found.keys) }

    private mutating func look(into part: LogPart, hasEnded: Bool, _ key: SeriesKey) throws {
        guard hasEnded, let sealed = try database.logUses(of: part.series), let uses = key.openUses(sealed, of: part.series) else {
            return try readAll(of: part, hasEnded: hasEnded, key)
        }
        for kind in kinds.subtracting(found.keys) {
            guard let number = uses.number(of: kind, of: item) else { continue }
            // The record may be gone, or the item belonged to another owner then. An earlier record may still count, so read them all.
            guard let row = try database.logRows(after: number - 1, count: 1).first, row.number == number, row.series == part.series,
                let record = try opener.open(row), LastUseKind(record) == kind, let shown = shown(record, number: number)
            else { return try readAll(of: part, hasEnded: false, key) }
            found[kind] = shown
        }
    }

    /// Reads all of a series, in its own order, since each key is computed from the one before.
    private mutating func readAll(of part: LogPart, hasEnded: Bool, _ key: SeriesKey) throws {
        var later: [LastUseKind: FoundRecord] = [:]
        var uses = CollectedUses(of: part.series)
        var isWhole = hasEnded
        var after = part.first - 1
        while after < part.last {
            let rows = try database.logRows(after: after, count: KeychainLimits.lastUsesRowsMax).prefix { $0.number <= part.last }
            guard let last = rows.last else { break }
            for row in rows {
                guard let opened = try opener.opened(row) else {
                    hasUnreadable = true
                    isWhole = false
                    continue
                }
                // What is not kept need not be decoded.
                guard let record = isWhole ? opened.record : opened.record(with: item) else {
                    isWhole = false
                    continue
                }
                if isWhole { uses.add(record, number: row.number) }
                if let kind = LastUseKind(record), let shown = shown(record, number: row.number) { later[kind] = shown }
            }
            after = last.number
        }
        found.merge(later) { earlier, _ in earlier }
        if isWhole, let bytes = uses.bytes { read[part.series] = try key.sealUses(bytes, of: part.series) }
    }

    /// Returns the record with this item alone; nil if it is not in it, or another owner's.
    private func shown(_ record: AccessRecord, number: Int64) -> FoundRecord? {
        guard let used = record.items.first(where: { $0.item == item && mayShow($0.owner) }) else { return nil }
        var record = record
        record.items = [used]
        return FoundRecord(number: number, record: record)
    }
}

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
        // Uses that cannot be written are not found.
        services.accessLogs.noteKeyUses(of: user, in: accessLog, database)
        try? accessLog.flush(to: database)
        services.accessLogs.schedulePending(of: user, in: accessLog)
        let isKey = try database.row(ofItem: item)?.kind == ItemKind.key.rawValue
        var search = LastUsesSearch(of: item, isKey: isKey, database, enclave) { coversAllOwners || rights.owns($0) }
        let coversAll = try search.run(until: MachineClock.monotonic + KeychainLimits.lastUsesTime)
        // If this fails, only the next search is slower.
        if !search.read.isEmpty { try? database.store(logUses: search.read) }
        let uses = LastUses(
            read: search.found[.read], changed: search.found[.changed], keyUsed: search.found[.keyUsed], coversAll: coversAll)
        try sink.finish(.lastUses(uses), value: nil)
    }
}

/// A search through the series of the log, the newest first. A series that has ended is read once; the last uses of each item in it are
/// then kept, sealed as its records are.
private struct LastUsesSearch {
    private let item: [UInt8]
    private let kinds: Set<LastUseKind>
    private let database: KeychainDatabase
    private let mayShow: (String) -> Bool
    private var opener: LogOpener
    /// Whether a searched series or record did not open: it may contain other uses.
    private var hasUnreadable = false
    private(set) var found: [LastUseKind: FoundRecord] = [:]
    /// The sealed last uses in series that have ended and were read, by the number of their first record.
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

    /// Searches until the deadline. Returns whether the result is complete: everything that was read opened, and either all kinds of use
    /// were found or the whole log was searched.
    mutating func run(until deadline: UInt64) throws -> Bool {
        var before: Int64?
        var newest: Int64?
        // A series whose records are not contiguous was tampered with, and the kept uses are those of one part.
        var known: Set<Int64> = []
        repeat {
            guard let part = try database.logPart(before: before) else { return !hasUnreadable }
            newest = newest ?? part.series
            let hasEnded = known.insert(part.series).inserted && part.series != newest
            if let key = try opener.firstKey(of: part.series) {
                try searchPart(part, hasEnded: hasEnded, key)
            } else {
                hasUnreadable = true
            }
            before = part.first
        } while !isComplete && MachineClock.monotonic < deadline
        return isComplete && !hasUnreadable
    }

    private var isComplete: Bool { kinds.isSubset(of: found.keys) }

    private mutating func searchPart(_ part: LogPart, hasEnded: Bool, _ key: SeriesKey) throws {
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
                // If the uses are not kept, records without the item need not be decoded.
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

    /// Returns the record with this item alone; nil if the record does not contain it, or it was another owner's.
    private func shown(_ record: AccessRecord, number: Int64) -> FoundRecord? {
        guard let used = record.items.first(where: { $0.item == item && mayShow($0.owner) }) else { return nil }
        var record = record
        record.items = [used]
        return FoundRecord(number: number, record: record)
    }
}

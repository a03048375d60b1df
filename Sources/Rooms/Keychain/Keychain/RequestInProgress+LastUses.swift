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
        guard caller.isUserAtCommandLine else { throw Refusal(.notAllowedHere, "only the command line reads the access log: vauban log") }
        let rights = try rights()
        let coversAllOwners = rights.ownsEverything || caller.consents.toListOwners.withLock { $0 }
        // What cannot be written is not found.
        services.accessLogs.noteKeyUses(of: user, in: accessLog, database)
        try? accessLog.flush(to: database)
        let isKey = try database.row(ofItem: item)?.kind == ItemKind.key.rawValue
        var search = LastUsesSearch(item, isKey: isKey) { coversAllOwners || rights.owns($0) }
        var opener = LogOpener(database, enclave)
        var before: Int64?
        var coversAll = false
        let deadline = MachineClock.monotonic + KeychainLimits.lastUsesTime
        repeat {
            let rows = try database.logRows(before: before, count: KeychainLimits.lastUsesRowsMax)
            coversAll = rows.isEmpty
            // Each key is computed from the one before.
            for row in rows.reversed() { if let record = try opener.open(row, with: item) { search.add(record, number: row.number) } }
            search.endBatch()
            before = rows.last?.number
        } while !search.isComplete && !coversAll && MachineClock.monotonic < deadline
        let uses = LastUses(
            read: search.read, changed: search.changed, keyUsed: search.keyUsed, coversAll: coversAll || search.isComplete)
        try sink.finish(.lastUses(uses), value: nil)
    }
}

/// A search through batches of log records, the newest batch first, each in its own order.
private struct LastUsesSearch {
    private let item: [UInt8]
    private let isKey: Bool
    private let mayShow: (String) -> Bool
    private(set) var read: FoundRecord?
    private(set) var changed: FoundRecord?
    private(set) var keyUsed: FoundRecord?
    /// The last ones of the batch.
    private var laterRead: FoundRecord?
    private var laterChanged: FoundRecord?
    private var laterKeyUsed: FoundRecord?

    init(_ item: [UInt8], isKey: Bool, mayShow: @escaping (String) -> Bool) {
        self.item = item
        self.isKey = isKey
        self.mayShow = mayShow
    }

    var isComplete: Bool { read != nil && changed != nil && (keyUsed != nil || !isKey) }

    mutating func add(_ record: AccessRecord, number: Int64) {
        guard record.outcome == .done || record.outcome == .approved,
            let used = record.items.first(where: { $0.item == item && mayShow($0.owner) })
        else { return }
        var found = record
        found.items = [used]
        switch record.action {
        case .read: laterRead = FoundRecord(number: number, record: found)
        case .added, .changed: laterChanged = FoundRecord(number: number, record: found)
        case .signed, .decrypted: laterKeyUsed = FoundRecord(number: number, record: found)
        case .deleted, .backedUp, .synchronized: break
        }
    }

    mutating func endBatch() {
        if read == nil { read = laterRead }
        if changed == nil { changed = laterChanged }
        if keyUsed == nil { keyUsed = laterKeyUsed }
        (laterRead, laterChanged, laterKeyUsed) = (nil, nil, nil)
    }
}

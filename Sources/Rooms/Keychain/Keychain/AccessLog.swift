// One user's access log (Specs/access-log.md). A read only notes what it did; the records are sealed and written together with the next
// change, or about a second later.

internal import EnclaveWire
internal import KeychainStore
internal import VaubanKeychainWire
internal import VaubanLinuxHost
internal import VaubanRefusal
internal import VaubanSecretBytes

final class AccessLog: Sendable {
    /// What requests look at without waiting for a write.
    private struct Status {
        /// The number of the database for which there is a series; nil if there is none.
        var database: Int64?
        /// When the series began and the end was last reported, in nanoseconds since start.
        var began: UInt64 = 0
        var reported: UInt64 = 0
        /// The records of the series.
        var records = 0
        var end = AccessLogEnd.empty
        /// The number of the last record that the enclave knows.
        var anchored: Int64 = 0
    }

    /// Told each record that was written, for the journal.
    private let onWritten: @Sendable (AccessRecord) -> Void
    private let pending = ThreadMutex(PendingUses())
    /// Held while records are written.
    private let series = ThreadMutex<LogSeries?>(nil)
    private let status = ThreadMutex(Status())

    init(onWritten: @escaping @Sendable (AccessRecord) -> Void) { self.onWritten = onWritten }

    // MARK: Keys and the anchor

    /// Begins another series if one is needed. Throws the enclave's refusal, or a `StorageError`.
    func prepare(for database: KeychainDatabase, using enclave: any EnclaveOperations) throws {
        let now = MachineClock.boot
        let isReady = status.withLock { status in
            status.database == database.number && status.records < KeychainLimits.logSeriesRecordsMax
                && now - status.began < KeychainLimits.logSeriesNanosecondsMax
        }
        guard !isReady else { return }
        let made = try enclave.makeSeriesKey()
        let key = SeriesKey(made.key.duplicate())
        try series.withLock { series in
            let end = try Self.end(of: database, anchored: made.end)
            series = LogSeries(key, sealed: made.sealed, after: end)
            status.withLock { status in
                status.database = database.number
                status.began = now
                status.records = 0
                status.end = end
                status.anchored = made.end.number
            }
        }
    }

    /// Calls `body`, which empties the database, and ends the series: its keys belong to the erased keychain, as do the pending uses.
    func whileErasing<Value: Sendable>(_ body: () throws -> Value) rethrows -> Value {
        try series.withLock { series in
            let value = try body()
            series = nil
            status.withLock { $0.database = nil }
            pending.withLock { $0 = PendingUses() }
            return value
        }
    }

    /// Reports the records since the anchor to the enclave, if it is time for that or `immediately`. Returns the anchor, or nil if it was
    /// not time.
    @discardableResult
    func anchor(in enclave: any EnclaveOperations, of database: KeychainDatabase, immediately: Bool = false) throws -> AccessLogEnd? {
        let now = MachineClock.boot
        let isDue = status.withLock { status in
            guard immediately || (status.end.number > status.anchored && now - status.reported >= KeychainLimits.logAnchorNanoseconds)
            else { return false }
            status.reported = now
            return true
        }
        guard isDue else { return nil }
        var known = try enclave.anchorLog([])
        while true {
            let links = try database.logRows(after: known.number, count: AccessLogLink.countMax).map(\.link)
            guard !links.isEmpty else { break }
            known = try enclave.anchorLog(links)
        }
        status.withLock { $0.anchored = max($0.anchored, known.number) }
        return known
    }

    /// Returns the end of the log, after which the next record goes. If the anchor is not in the database, the next record goes after the
    /// anchor, and the log shows a gap or a broken link there.
    private static func end(of database: KeychainDatabase, anchored: AccessLogEnd) throws -> AccessLogEnd {
        let last = try database.lastLogRow().map { AccessLogEnd(number: $0.number, chain: $0.chain) } ?? .empty
        guard anchored.number > 0, try database.logChain(at: anchored.number) != anchored.chain else { return last }
        return AccessLogEnd(number: max(last.number, anchored.number), chain: anchored.chain)
    }

    // MARK: Writing

    func note(_ use: AccessUse) { pending.withLock { $0.add(use) } }

    var isFull: Bool { pending.withLock { $0.isFull } }
    var hasPending: Bool { pending.withLock { !$0.isEmpty } }

    /// Calls `body`, which makes a change and appends the records of the change, and of what was noted before, in the same transaction.
    /// Without a series it gets no records; the change is then counted as unrecorded. Returns and throws what `body` does.
    func withRecords<Value: Sendable>(
        of changes: [AccessUse], in database: KeychainDatabase, isStored: (Value) -> Bool, _ body: (LogAddition?) throws -> Value
    ) throws -> Value {
        try series.withLock { series in
            let earlier = pending.withLock { pending in
                defer { pending = PendingUses() }
                return pending
            }
            var uses = earlier
            for change in changes { uses.add(change) }
            let isReady = status.withLock { $0.database == database.number }
            let records = uses.records()
            /// Makes the change alone.
            func withoutRecords() throws -> Value {
                pending.withLock { $0.putBack(earlier) }
                let value = try body(nil)
                if !changes.isEmpty, isStored(value) { pending.withLock { $0.addUnrecorded(Int64(changes.count)) } }
                return value
            }
            guard isReady, var next = series, !records.isEmpty, let rows = try? records.map({ try next.seal($0) }) else {
                return try withoutRecords()
            }
            do {
                let anchored = status.withLock { $0.anchored }
                let value = try body(LogAddition(rows: rows, key: next.sealedKey, anchored: anchored))
                guard isStored(value) else {
                    pending.withLock { $0.putBack(earlier) }
                    return value
                }
                for record in records { onWritten(record) }
                next.sealedKey = nil
                series = next
                status.withLock { status in
                    status.records += rows.count
                    status.end = next.end
                }
                return value
            } catch StorageError.full where !changes.isEmpty {
                // A nearly full disk may have room for the change. Nothing was written.
                return try withoutRecords()
            } catch {
                // The transaction may or may not be on disk, so the series cannot go on.
                series = nil
                status.withLock { $0.database = nil }
                pending.withLock { $0.putBack(earlier) }
                throw error
            }
        }
    }

    /// Writes what was noted.
    func flush(to database: KeychainDatabase) throws {
        guard pending.withLock({ !$0.isEmpty }) else { return }
        try withRecords(of: [], in: database, isStored: { _ in true }) { if let addition = $0 { try database.append(addition) } }
    }
}

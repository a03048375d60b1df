// One user's access log (Specs/access-log.md). A read only notes what it did; the log records are sealed and written together with the next
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
        /// The series of the last write; nil if there is none.
        var series: SeriesStatus?
        /// The number of the last log record that the enclave knows, and when records were last reported to it, in nanoseconds since start.
        var anchored: Int64 = 0
        var reported: UInt64 = 0
        /// When a write left no room for further pending uses, in nanoseconds since start; nil if the last write succeeded.
        var failed: UInt64?
        /// Whether the last write left uses that wait for their second to end.
        var holdsUses = false
    }

    /// Receives each log record that was written, for the journal.
    private let onWritten: @Sendable (AccessRecord) -> Void
    private let pending = ThreadMutex(PendingUses())
    /// Held while log records are written.
    private let series = ThreadMutex<LogSeries?>(nil)
    private let status = ThreadMutex(Status())
    private let allowance = ThreadMutex(RecordAllowance())

    init(onWritten: @escaping @Sendable (AccessRecord) -> Void) { self.onWritten = onWritten }

    // MARK: Keys and the anchor

    /// Begins another series if one is needed. Throws the enclave's refusal, or a `StorageError`.
    func prepare(for database: KeychainDatabase, using enclave: any EnclaveOperations) throws {
        let now = MachineClock.boot
        guard needsSeries(for: database, at: now) else { return }
        let made = try enclave.makeSeriesKey()
        let key = SeriesKey(made.key.duplicate())
        try series.withLock { series in
            // Another request may have been faster.
            guard needsSeries(for: database, at: now) else { return }
            let end = try Self.end(of: database, anchored: made.end)
            publish(LogSeries(key, sealed: made.sealed, of: database.number, after: end, at: now), as: &series)
            status.withLock { status in
                status.anchored = made.end.number
                // The first report may wait, too.
                if status.reported == 0 { status.reported = now }
            }
        }
    }

    private func needsSeries(for database: KeychainDatabase, at now: UInt64) -> Bool {
        guard let series = status.withLock({ $0.series }) else { return true }
        return series.database != database.number || series.count >= KeychainLimits.logSeriesRecordsMax
            || now >= series.began + KeychainLimits.logSeriesNanosecondsMax
    }

    private func publish(_ next: LogSeries?, as series: inout LogSeries?) {
        series = next
        status.withLock { $0.series = next?.status }
    }

    /// Calls `body`, which empties the database, and ends the series: its keys belong to the erased keychain, as do the pending uses.
    /// Returns what `body` does: whether it emptied the database.
    func whileErasing(_ body: () throws -> Bool) rethrows -> Bool {
        try series.withLock { series in
            guard try body() else { return false }
            publish(nil, as: &series)
            pending.withLock { $0 = PendingUses() }
            return true
        }
    }

    /// Reports the log records since the anchor to the enclave, if it is time for that or `immediately`. Calls `report` between two
    /// requests to the enclave.
    func anchor(
        in enclave: any EnclaveOperations, of database: KeychainDatabase, immediately: Bool = false, report: () throws -> Void = {}
    ) throws {
        let now = MachineClock.boot
        let isDue = status.withLock { status in
            let hasMore = status.series.map { $0.end > status.anchored } ?? false
            guard immediately || (hasMore && now - status.reported >= KeychainLimits.logAnchorNanoseconds) else { return false }
            status.reported = now
            return true
        }
        guard isDue else { return }
        var known = try enclave.anchorLog([]).end
        var isFirst = true
        while true {
            let links = try database.logRows(after: known.number, count: AccessLogLink.countMax).map(\.link)
            // Sends a slow enclave only the first links and leaves the rest to later requests, since this caller's next request waits
            // meanwhile. Sends nothing if the enclave takes half of the time that a machine has to reply.
            let limit = isFirst ? ConnectionLimits.machineTime / 2 : KeychainLimits.silenceMax
            guard !links.isEmpty, immediately || MachineClock.boot - now < limit else { break }
            try report()
            known = try enclave.anchorLog(links).end
            isFirst = false
        }
        status.withLock { $0.anchored = max($0.anchored, known.number) }
    }

    /// Returns the end of the log, after which the next log record goes. If the anchor is not in the database, the next one goes after the
    /// anchor, and the log shows a gap or a broken link there.
    private static func end(of database: KeychainDatabase, anchored: AccessLogEnd) throws -> AccessLogEnd {
        let last = try database.lastLogRow().map { AccessLogEnd(number: $0.number, chain: $0.chain) } ?? .empty
        guard anchored.number > 0, try database.logChain(at: anchored.number) != anchored.chain else { return last }
        return AccessLogEnd(number: max(last.number, anchored.number), chain: anchored.chain)
    }

    // MARK: Noting

    /// Counts uses that have no log record.
    func noteUnrecorded(_ count: Int64) { if count > 0 { pending.withLock { $0.addUnrecorded(count) } } }

    /// Whether there is a series. Its database may be closed by now.
    var hasSeries: Bool { status.withLock { $0.series != nil } }

    /// Whether log records can be written without the enclave.
    func hasSeries(for database: KeychainDatabase) -> Bool { status.withLock { $0.series?.database == database.number } }

    func note(_ use: AccessUse) { pending.withLock { $0.add(use) } }

    var hasPending: Bool { pending.withLock { !$0.isEmpty } }

    /// The same, once a write in progress has ended: only then are the uses pending again that it cannot write or that must wait.
    var hasPendingAfterWrite: Bool { series.withLock { _ in hasPending } }

    /// Whether a thread is writing the log, perhaps with a change that takes long.
    var isBeingWritten: Bool { series.withLockIfAvailable { _ in false } ?? true }

    /// Whether the allowances of all programs are available in full.
    var hasWholeAllowance: Bool { allowance.withLock { $0.isWhole(at: MachineClock.boot) } }

    /// Whether the last write left uses of programs that have had their log record for this second.
    var holdsUses: Bool { status.withLock { $0.holdsUses } }

    /// The uses of canaries that are not in the database yet.
    var pendingAlerts: Int64 { pending.withLock { $0.alerts } }

    /// Writes what was noted if there is no room for more, unless that failed within the last second.
    func flushIfFull(to database: KeychainDatabase) {
        let now = MachineClock.boot
        guard pending.withLock({ $0.isFull }),
            status.withLock({ $0.failed.map { now - $0 >= UInt64(KeychainLimits.logPauseMilliseconds) * 1_000_000 } ?? true })
        else { return }
        // Another request may have written it meanwhile.
        guard series.withLock({ _ in pending.withLock { $0.isFull } }) else { return }
        try? flush(to: database)
    }

    // MARK: Writing

    /// Lets the next write include the uses that would otherwise wait.
    func endWaits() { series.withLock { _ in allowance.withLock { $0.endWaits() } } }

    /// Writes what was noted.
    func flush(to database: KeychainDatabase) throws {
        guard hasPendingAfterWrite else { return }
        // Other threads may have noted uses meanwhile, but not enough to fill the room again.
        defer { if pending.withLock({ $0.isFull }) { status.withLock { $0.failed = MachineClock.boot } } }
        try withRecords(of: [], in: database, isStored: { _ in true }) { if let addition = $0 { try database.append(addition) } }
    }

    /// Calls `body`, which makes a change and, in the same transaction, appends the log records of the change and of the uses noted before.
    /// `body` receives nil without a series, in which case the change is counted as unrecorded, and if the program has made so many changes
    /// that this one is only noted, as a read is. Returns and throws what `body` does.
    func withRecords<Value: Sendable>(
        of changes: [AccessUse], in database: KeychainDatabase, isStored: (Value) -> Bool, _ body: (LogAddition?) throws -> Value
    ) throws -> Value {
        let (value, written) = try series.withLock { series -> (Value, [AccessRecord]) in
            guard let next = series, next.database == database.number else {
                return (try withoutRecords(of: changes, isStored, body), [])
            }
            if let first = changes.first, !allowance.withLock({ $0.coversChange(of: first.caller.program, at: MachineClock.boot) }) {
                let value = try body(nil)
                if isStored(value) { pending.withLock { for change in changes { $0.add(change) } } }
                return (value, [])
            }
            return try append(changes, to: next, as: &series, isStored: isStored, body: body)
        }
        for record in written { onWritten(record) }
        return value
    }

    /// Makes a change without log records, and counts it as unrecorded.
    private func withoutRecords<Value>(
        of changes: [AccessUse], _ isStored: (Value) -> Bool, _ body: (LogAddition?) throws -> Value
    ) throws -> Value {
        let value = try body(nil)
        if !changes.isEmpty, isStored(value) { pending.withLock { $0.addUnrecorded(changes) } }
        return value
    }

    private func append<Value>(
        _ changes: [AccessUse], to current: LogSeries, as series: inout LogSeries?, isStored: (Value) -> Bool,
        body: (LogAddition?) throws -> Value
    ) throws -> (Value, [AccessRecord]) {
        let earlier = pending.withLock { pending in
            defer { pending = PendingUses() }
            return pending
        }
        var uses = earlier
        for change in changes { uses.add(change) }
        var next = current
        // Only stored log records count, so that no program can use up the allowances of others with changes that are not made.
        var allowed = allowance.withLock { $0 }
        let (records, held) = uses.records(within: &allowed, at: MachineClock.boot)
        guard !uses.isEmpty, let rows = try? records.map({ try next.seal($0) }) else {
            status.withLock { $0.holdsUses = false }
            pending.withLock { $0.putBack(earlier) }
            return (try withoutRecords(of: changes, isStored, body), [])
        }
        do {
            let anchored = status.withLock { $0.anchored }
            let alert = zip(records, rows).first { $0.0.causesAlert }?.1.number
            let addition = LogAddition(rows: rows, key: next.sealedKey, anchored: anchored, alerts: uses.alerts, firstAlert: alert)
            let value = try body(rows.isEmpty ? nil : addition)
            guard isStored(value) else {
                takeForAttempt(changes)
                pending.withLock { $0.putBack(earlier) }
                return (value, [])
            }
            let taken = allowed
            allowance.withLock { $0 = taken }
            if !rows.isEmpty { next.sealedKey = nil }
            publish(next, as: &series)
            status.withLock { status in
                status.failed = nil
                status.holdsUses = !held.isEmpty
            }
            if !held.isEmpty { pending.withLock { $0.putBack(held) } }
            return (value, records)
        } catch StorageError.full {
            // Nothing was written, so the series goes on. A nearly full disk may have room for the change alone.
            takeForAttempt(changes)
            status.withLock { $0.holdsUses = false }
            pending.withLock { $0.putBack(earlier) }
            guard !changes.isEmpty else { throw StorageError.full }
            return (try withoutRecords(of: changes, isStored, body), [])
        } catch {
            // The transaction may or may not be on disk, so the series cannot go on.
            publish(nil, as: &series)
            pending.withLock { $0.putBack(earlier) }
            throw error
        }
    }

    /// Takes one unit for changes whose log records were not written, since these were sealed all the same.
    private func takeForAttempt(_ changes: [AccessUse]) {
        guard let change = changes.first else { return }
        allowance.withLock { _ = $0.take(1, for: change.caller.program, at: MachineClock.boot) }
    }
}

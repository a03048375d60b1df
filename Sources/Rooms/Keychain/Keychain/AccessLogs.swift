// The access logs of all users, and the threads that write what reads have noted.

package import EnclaveWire
package import KeychainStore
package import Logging
internal import VaubanKeychainWire
internal import VaubanLinuxHost
internal import VaubanRoomHardening
internal import VaubanRoomLog

package final class AccessLogs: Sendable {
    private let databases: DatabaseRegistry
    /// Root's grants, for the names of programs; nil where programs are not distinguished.
    private let entitlements: EntitlementTable?
    /// Reads the names of items that keys belong to; nil if keys have none.
    let itemNames: ItemNames?
    /// Which items have which private keys, and how these were used.
    let keyItems = KeyItems()
    private let keyUses = ThreadMutex<[UInt32: KeyUseTally]>([:])
    private let journal: BoundedLog
    let knownCanaries = KnownCanaries()
    let canaryJournal: CanaryJournal
    /// The refused requests, which the writing thread looks up among canaries.
    let refused = RefusedRequests()
    /// The prompt agents of users, which wait for uses of canaries.
    let alertWaiters = WaiterTable(perUserMax: KeychainLimits.waitersMax, tooMany: "Too many programs wait for alerts already")
    /// How long uses are collected before they are written; nil if only changes write them.
    private let pauseMilliseconds: Int32?
    private let logs = ThreadMutex(Logs())
    private let waiting = ThreadMutex(Waiting())
    /// Signaled when the thread must not wait; nil if the process had no descriptors for it when it started.
    private let writeNow = try? Wakeup()

    private struct Logs {
        var all: [UInt32: AccessLog] = [:]
        /// The number of logs at which those that are no longer needed are removed.
        var forgetsFrom = KeychainLimits.logsMax
    }

    /// The users whose uses are to be written, and when, in nanoseconds since start.
    private struct Waiting {
        var writes: [(user: UInt32, due: UInt64)] = []
        /// Whether a thread writes them.
        var isServed = false
        /// The pauses of users whose last write failed.
        var pauses: [UInt32: Backoff] = [:]

        /// Adds a write, or moves the user's later one forward. Returns whether it is due before all others.
        mutating func add(_ user: UInt32, by due: UInt64) -> Bool {
            let isFirst = writes.allSatisfy { due < $0.due }
            guard let index = writes.firstIndex(where: { $0.user == user }) else {
                writes.append((user, due))
                return isFirst
            }
            writes[index].due = min(writes[index].due, due)
            return isFirst
        }
    }

    package init(
        databases: DatabaseRegistry, logger: Logger, pauseMilliseconds: Int32? = KeychainLimits.logPauseMilliseconds,
        entitlements: EntitlementTable? = nil, itemNames: ItemNames? = nil
    ) {
        self.entitlements = entitlements
        self.itemNames = itemNames
        self.databases = databases
        journal = BoundedLog(logger)
        canaryJournal = CanaryJournal(logger: logger)
        self.pauseMilliseconds = pauseMilliseconds
        databases.beforeClosing { [weak self] database, user in self?.writeBeforeClosing(database, of: user) }
    }

    func log(of user: UInt32) -> AccessLog {
        logs.withLock { logs in
            if let log = logs.all[user] { return log }
            if logs.all.count >= logs.forgetsFrom {
                Self.forgetIdle(&logs.all)
                logs.forgetsFrom = max(KeychainLimits.logsMax, 2 * logs.all.count)
            }
            let log = AccessLog { [journal] record in journal.info("items were used", about: user, record.journalLine) }
            logs.all[user] = log
            return log
        }
    }

    /// Forgets the logs that no request uses, that have nothing to write, and whose allowance is whole, so that nobody gains another
    /// allowance by using many subordinate uids.
    private static func forgetIdle(_ logs: inout [UInt32: AccessLog]) {
        for user in Array(logs.keys) {
            var log = logs.removeValue(forKey: user)
            if !isKnownUniquelyReferenced(&log) || log?.hasPending == true || log?.hasWholeAllowance == false { logs[user] = log }
        }
    }

    /// Schedules a write of the user's pending uses in about a second, by a thread that ends when there is no more to write. Without a
    /// thread it is written with the user's next change, and without a series after the next request that begins one.
    func schedule(_ user: UInt32) {
        guard let pauseMilliseconds else { return }
        let due = MachineClock.boot + UInt64(pauseMilliseconds) * 1_000_000
        let (mustStart, mustWake) = waiting.withLock { waiting in
            // The thread must be woken only if this write comes first; otherwise it already waits for an earlier one.
            let isFirst = waiting.add(user, by: due)
            defer { waiting.isServed = true }
            return (!waiting.isServed, waiting.isServed && isFirst)
        }
        if mustWake { writeNow?.signal() }
        guard mustStart else { return }
        do {
            try HostThread.start { [self] in writeAll() }
        } catch {
            // The scheduled writes stay for the next thread that starts.
            waiting.withLock { $0.isServed = false }
        }
    }

    /// Tells the user of the use of a canary at once, on the thread that writes pending uses. The caller's own thread only adds it to the
    /// queue.
    package func alert(_ user: UInt32, of use: AccessUse) {
        canaryJournal.add(use, of: user)
        schedule(user)
        let isServed = waiting.withLock { waiting in
            // Due now, but not before writes that are due already: a user whose canary is read all the time delays no other user's log.
            let now = MachineClock.boot
            for index in waiting.writes.indices where waiting.writes[index].user == user {
                waiting.writes[index].due = min(waiting.writes[index].due, now)
            }
            return waiting.isServed
        }
        if isServed, let writeNow { return writeNow.signal() }
        canaryJournal.report()
        alertWaiters.wake(of: user)
    }

    /// Schedules a write that failed again, after a pause that grows each time.
    private func scheduleAgain(_ user: UInt32) {
        guard let pauseMilliseconds else { return }
        waiting.withLock { waiting in
            let pauses = Backoff(from: pauseMilliseconds, to: KeychainLimits.logRetryMillisecondsMax)
            let pause = waiting.pauses[user, default: pauses].pause()
            _ = waiting.add(user, by: MachineClock.boot + UInt64(pause) * 1_000_000)
        }
    }

    /// Schedules the next turn of a user whose refused requests are not all looked up, after the writes that are due already: a user with
    /// many items must not keep the logs and alerts of others waiting.
    private func scheduleNextTurn(of user: UInt32) { waiting.withLock { _ = $0.add(user, by: MachineClock.boot) } }

    private func writeAll() {
        while let next = nextWrite() {
            canaryJournal.report()
            if wait(until: next.due) { continue }
            waiting.withLock { waiting in waiting.writes.removeAll { $0.user == next.user } }
            write(next.user)
            alertWaiters.wake(of: next.user)
            // Keys of log records were on this stack.
            ScratchMemory.scrubStack()
        }
    }

    /// Waits until a time, in nanoseconds since start. Returns whether the wait ended early, since another write may now be due first.
    private func wait(until due: UInt64) -> Bool {
        let now = MachineClock.boot
        guard due > now else { return false }
        if let writeNow { return writeNow.wait(until: MachineClock.monotonic + (due - now)) == .signaled }
        Pause.milliseconds(min(Int32(clamping: (due - now) / 1_000_000 + 1), KeychainLimits.logPauseMilliseconds))
        return MachineClock.boot < due
    }

    private func nextWrite() -> (user: UInt32, due: UInt64)? {
        waiting.withLock { waiting in
            if waiting.writes.isEmpty { waiting.isServed = false }
            return waiting.writes.min { $0.due < $1.due }
        }
    }

    private func write(_ user: UInt32) {
        let log = log(of: user)
        // A large change must not keep the logs and alerts of others waiting. It may write what is pending itself.
        let isBusy = log.isBeingWritten
        // A change may have written the uses, and the database may be closed by now.
        guard isBusy || log.hasPendingAfterWrite || refused.has(of: user) || log.hasSeries && hasKeyUses(of: user) else { return }
        do {
            let database = try databases.database(of: user)
            if isBusy {
                // Uses of keys stay counted until then. A refused request may be an alert, which must not wait.
                noteRefused(of: user, in: log, database, mayWait: false, rowsMax: KeychainLimits.refusedRowsOfTurn)
                return refused.isUnfinished(of: user) ? scheduleNextTurn(of: user) : schedule(user)
            }
            try write(log, of: user, to: database, refusedRowsMax: KeychainLimits.refusedRowsOfTurn)
            waiting.withLock { $0.pauses[user] = nil }
            if refused.isUnfinished(of: user) {
                scheduleNextTurn(of: user)
            } else if log.holdsUses, log.hasSeries(for: database) {
                schedule(user)
            }
        } catch {
            journal.notice("the access log cannot be written", about: user, ["why": "\(error)"])
            // If the error does not pass by itself, the uses wait for the user's next request.
            if let fault = error as? StorageError, fault == .full || fault == .busy { scheduleAgain(user) }
            // Alerts do not wait for the disk.
            if refused.isUnfinished(of: user) { scheduleNextTurn(of: user) }
        }
    }

    private func write(_ log: AccessLog, of user: UInt32, to database: KeychainDatabase, refusedRowsMax: Int = .max) throws {
        noteKeyUses(of: user, in: log, database)
        noteRefused(of: user, in: log, database, rowsMax: refusedRowsMax)
        try log.flush(to: database)
    }

    /// Writes the pending uses of a database that is about to close, including those that would otherwise wait: its series ends with it,
    /// and another one begins only with the user's next request. Uses that cannot be written now stay pending until then.
    private func writeBeforeClosing(_ database: KeychainDatabase, of user: UInt32) {
        guard let log = logs.withLock({ $0.all[user] }), log.hasSeries(for: database) else { return }
        log.endWaits()
        do { try write(log, of: user, to: database) } catch {
            journal.notice("the access log cannot be written", about: user, ["why": "\(error)"])
        }
    }

    // MARK: Uses of private keys

    /// Takes over the uses that the enclave counted. They are noted when the log is written.
    package func receive(_ notice: KeyUseNotice) {
        keyUses.withLock { $0[notice.user, default: KeyUseTally()].add(notice) }
        schedule(notice.user)
    }

    private func hasKeyUses(of user: UInt32) -> Bool { keyUses.withLock { $0[user] != nil } }

    /// Schedules a write of the pending uses, and of those that the enclave counted, once the log has a series again.
    func schedulePending(of user: UInt32, in log: AccessLog) { if log.hasPending || hasKeyUses(of: user) { schedule(user) } }

    /// Notes the uses that the enclave counted, if there is a series to write them to.
    func noteKeyUses(of user: UInt32, in log: AccessLog, _ database: KeychainDatabase) {
        guard log.hasSeries(for: database), var tally = keyUses.withLock({ $0.removeValue(forKey: user) }) else { return }
        for notice in tally.take() {
            log.noteUnrecorded(notice.unrecorded)
            let caller = caller(of: notice)
            for use in notice.uses {
                var item = keyItems.item(of: use.key, user: user, in: database, itemNames)
                item.count = use.count
                log.note(
                    AccessUse(
                        caller: caller, action: AccessAction(use.action), outcome: AccessOutcome(use.outcome), item: item,
                        date: MachineClock.referenceMicroseconds))
                log.flushIfFull(to: database)
            }
        }
    }

    private func caller(of notice: KeyUseNotice) -> AccessCaller {
        guard let identity = notice.identity, let entitlements else { return AccessCaller(nil) }
        let caller = Caller(user: notice.user, identity: identity, granted: entitlements)
        return caller.logged(asSigned: caller.signed?.nameByRoot != nil || notice.teamIsTrusted)
    }
}

extension AccessAction {
    fileprivate init(_ action: KeyUseAction) {
        switch action {
        case .signed: self = .signed
        case .decrypted: self = .decrypted
        }
    }
}

extension AccessOutcome {
    fileprivate init(_ outcome: KeyUseOutcome) {
        switch outcome {
        case .done: self = .done
        case .approved: self = .approved
        case .refused: self = .refused
        case .notApproved: self = .notApproved
        }
    }
}

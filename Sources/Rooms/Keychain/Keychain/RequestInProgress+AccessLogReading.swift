// The request that reads the access log (Specs/access-log.md).

internal import EnclaveWire
internal import KeychainStore
internal import Logging
internal import VaubanAccessPolicy
internal import VaubanKeychainWire
internal import VaubanLinuxHost
internal import VaubanRefusal
internal import VaubanRoomLog
internal import VaubanUserModel

extension RequestInProgress {
    /// Sends a page of the log, the newest records first, as far as they are about the caller's own items, or the user consents.
    func readAccessLog(_ query: AccessLogQuery) throws {
        guard caller.isUserAtCommandLine else { throw Refusal(.notAllowedHere, "Only the command line reads the access log: vauban log") }
        let rights = try rights()
        if query.coversAllOwners, !rights.ownsEverything, !caller.consents.toListOwners.withLock({ $0 }) {
            try ask(Consent(.listOwners, offered: .once))
            caller.consents.toListOwners.withLock { $0 = true }
        }
        let coversAll = query.coversAllOwners || rights.ownsEverything
        if query.before == nil { writePending() }
        let faults = query.verifies ? try verifyLog() : []
        var opener = LogOpener(database, enclave)
        let bytesMax = KeychainLimits.replyBytesMax - KeychainLimits.logRecordBytesMax - KeychainLimits.logFaultsBytesMax
        let rows = try database.logRows(before: query.before, count: AccessLogPage.recordsMax, bytesMax: bytesMax)
        // Each key is computed from the one before.
        let records = try rows.reversed().map { row in
            let record = try opener.open(row)
            let shown = record.flatMap { coversAll ? $0 : $0.keeping { rights.owns($0.owner) } }
            return FoundRecord(number: row.number, isHidden: record != nil && shown == nil, record: shown)
        }
        let oldest = try database.logRows(after: 0, count: 1).first?.number ?? 0
        try sink.send(.accessLog(AccessLogPage(oldest: oldest, faults: faults, records: records.reversed())))
        try sink.send(.done)
    }

    /// Writes the pending uses. If that fails, for example on a full disk, the log is read without them.
    func writePending() {
        services.accessLogs.noteKeyUses(of: user, in: accessLog, database)
        services.accessLogs.noteRefused(of: user, in: accessLog, database)
        defer { services.accessLogs.schedulePending(of: user, in: accessLog) }
        do {
            try accessLog.flush(to: database)
        } catch {
            services.boundedLog.notice("the access log cannot be written", about: user, ["why": "\(error)"])
        }
    }

    /// Returns the first faults of the whole log, and anchors it, unless that would hide one of them.
    private func verifyLog() throws -> [AccessLogFault] {
        let known = try enclave.anchorLog([])
        let atStart = try faultAtStart(began: known.began)
        let otherNumbers = try database.hasLogRowsOfOtherNumbers() ? AccessLogFault(.otherNumbers, number: 0) : nil
        let all = try [otherNumbers, atStart].compactMap(\.self) + faultsOfRecords(known: known.end)
        let faults = Array(all.prefix(AccessLogPage.faultsMax - 1))
        if let fault = try fault(at: known.end), !faults.contains(fault) { return (faults + [fault]).sorted { $0.number < $1.number } }
        try accessLog.anchor(in: enclave, of: database, immediately: true)
        return faults
    }

    /// Returns the fault at the last log record that the enclave knows; nil if that record is intact, or if the enclave knows none.
    func fault(at known: AccessLogEnd) throws -> AccessLogFault? {
        guard !known.isStart else { return nil }
        let following = try database.logRows(after: known.number - 1, count: 1).first
        guard let following else { return AccessLogFault(.missingAtEnd, number: known.number) }
        guard following.number == known.number else { return AccessLogFault(.missingBefore, number: following.number) }
        return following.chain == known.chain ? nil : AccessLogFault(.replaced, number: known.number)
    }

    /// Returns a fault if records are missing before the oldest one, unless it follows the last erasure, or the log is so long that its
    /// oldest records may have been removed. Nil if the enclave does not know where the log began.
    private func faultAtStart(began: Int64?) throws -> AccessLogFault? {
        guard let began, let oldest = try database.logRows(after: 0, count: 1).first?.number, oldest > began + 1,
            try !database.mayHaveRemovedLogRows(before: oldest)
        else { return nil }
        return AccessLogFault(.missingBefore, number: oldest)
    }

    /// Returns what is wrong with the log records, in their order, at least the first `AccessLogPage.faultsMax` faults.
    private func faultsOfRecords(known: AccessLogEnd) throws -> [AccessLogFault] {
        // A chain other than the one that the enclave knows proves nothing.
        let isKnown = try !known.isStart && database.logChain(at: known.number) == known.chain
        var verification = LogVerification(LogOpener(database, enclave), anchored: isKnown ? known.number : 0)
        while verification.faults.count < AccessLogPage.faultsMax {
            let rows = try database.logRows(after: verification.last?.number ?? 0, count: AccessLogLink.countMax)
            guard !rows.isEmpty else { break }
            for row in rows { try verification.take(row) }
            // The enclave opens the key of each series. For a log with many series, that takes longer than the caller waits without a
            // message.
            try reportProgress()
        }
        return verification.faults
    }
}

extension AccessRecord {
    /// Returns the log record with only these items, and the number of further ones; nil if there are none.
    fileprivate func keeping(_ isKept: (UsedItem) -> Bool) -> AccessRecord? {
        var kept = self
        kept.items = items.filter { $0.isFurther || isKept($0) }
        return kept.items.allSatisfy(\.isFurther) ? nil : kept
    }
}

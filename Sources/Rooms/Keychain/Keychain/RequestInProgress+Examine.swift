// A check of a user's whole database, for `vauban doctor`: every row, its indexes, and the file. Rows that a read would quarantine are
// quarantined, and what can be repaired without loss is repaired. The report contains numbers only.

internal import EnclaveWire
internal import KeychainStore
internal import Logging
internal import VaubanAccessPolicy
internal import VaubanDER
internal import VaubanKeychainModel
internal import VaubanKeychainWire
internal import VaubanRefusal

extension RequestInProgress {
    /// Checks the database. Covers the rows of all owners, since it never prompts and reveals no item.
    func examine() throws {
        guard caller.isUserAtCommandLine else { throw Refusal(.notAllowedHere, "The keychain is checked with the command vauban doctor") }
        var report = DoctorReport()
        report.rows = try database.rowCount()
        let verdict = try database.examineFile()
        switch verdict {
        case .whole: break
        case .indexesRebuilt: report.take(DoctorFinding(.fileIndexes, isRepaired: true))
        case .damaged:
            // The rows of a damaged file cannot be trusted, and nothing may be written to it.
            report.take(DoctorFinding(.filePages))
            return try finish(report)
        }
        try examineRows(&report)
        try examineHistory(&report)
        _ = try database.removeOrphanedHistory()
        for _ in 0..<(try database.removeOrphanedLookups()) { report.take(DoctorFinding(.orphanedLookup, isRepaired: true)) }
        try readmit(&report)
        report.quarantine = try database.quarantined().map {
            DoctorReport.Quarantined(reason: $0.reason.finding, count: $0.count, since: $0.since)
        }
        if report.found == 0, report.locked == 0 { report.copy = keepCopy() }
        try finish(report)
    }

    private func finish(_ report: DoctorReport) throws {
        var report = report
        if report.copy?.state != .kept {
            report.earlier = database.verifiedCopy().map { DoctorReport.Earlier(date: $0.date, rows: $0.rows) }
        }
        try sink.send(.examined(report))
        try sink.send(.done)
    }

    /// Reports after each batch, so that the caller sees progress.
    private func examineRows(_ report: inout DoctorReport) throws {
        var last: Int64 = 0
        while true {
            let rows = try database.rows(after: last, count: KeychainLimits.batchRowsMax, bytesMax: KeychainLimits.batchBytesMax)
            guard let end = rows.last?.id else { return }
            for row in rows { try examineCurrentRow(row, &report) }
            last = end
            try sink.send(.examined(report))
        }
    }

    private func examineCurrentRow(_ row: StoredRow, _ report: inout DoctorReport) throws {
        var row = row
        for _ in 0..<KeychainLimits.attemptsMax {
            do {
                return try examine(row, &report)
            } catch is RowHasChanged {
                // Earlier values and deleted items are checked in the next run.
                guard row.place == .item, let now = try database.row(row.id), now.item == row.item else { return }
                row = now
            } catch let refusal as Refusal where [.locked, .beforeFirstUnlock].contains(refusal.reason) {
                report.locked += 1
                return
            }
        }
        // A row that is rewritten again and again is verified by each write.
        report.locked += 1
    }

    private func examine(_ row: StoredRow, _ report: inout DoctorReport) throws {
        absence = nil
        guard row.place == .item else { return try examineKept(row, &report) }
        guard let opened = try examineMetadata(row, &report), try examineSecret(opened, &report) else {
            if let absence { report.take(DoctorFinding(absence.finding, row: row.id, protection: row.protection)) }
            return
        }
        report.checked += 1
    }

    /// Checks earlier values and deleted items like items, except for their missing indexes. They do not count as checked items.
    private func examineHistory(_ report: inout DoctorReport) throws {
        var last: Int64 = 0
        while true {
            let rows = try database.historyRows(after: last, count: KeychainLimits.batchRowsMax, bytesMax: KeychainLimits.batchBytesMax)
            guard let end = rows.last?.id else { return }
            for row in rows { try examineCurrentRow(row, &report) }
            last = end
            try sink.send(.examined(report))
        }
    }

    private func examineKept(_ row: StoredRow, _ report: inout DoctorReport) throws {
        let unopened = report.unopened
        defer { report.unopened = unopened }
        guard let opened = try open(row), try examineSecret(opened, &report) else {
            if let absence { report.take(DoctorFinding(absence.finding, row: row.id, protection: row.protection)) }
            return
        }
    }

    /// Checks the metadata half and all indexes. Returns nil if the row counts as absent from then on.
    private func examineMetadata(_ row: StoredRow, _ report: inout DoctorReport) throws -> OpenedRow? {
        switch try decode(row) {
        case .damaged(let reason): return try quarantine(row, reason)
        case .closed: return try explainClosed(row)
        case .item(let opened, let digest):
            let blinds = try blinds(opened.record)
            if opened.isAuthenticated(by: digest, blinds) {
                // The columns are correct, or can be repaired from verified content.
                let columnsFit =
                    row.blinds == RowBlinds(primary: blinds.primary, list: blinds.list, lookups: [], device: blinds.device?.columns)
                if columnsFit, try database.lookups(of: row.id) == blinds.allLookups { return opened }
                return try repair(opened, to: row.with(blinds), because: columnsFit ? .lookups : .indexColumns, in: &report)
            }
            guard opened.isAuthenticated(by: digest, row.blinds) else { return try quarantine(row, .digest) }
            // The row is intact, but was indexed by older rules.
            guard opened.binding.format == .generationSeparate else { return opened }
            let half = SecretHalf(binding: row.halves.secretBinding, wrappedKey: row.halves.wrappedKey, secret: row.halves.secret)
            let binding = try binding(opened.record, item: row.item, generation: row.generation)
            return try repair(
                opened, to: try self.row(of: opened, binding: binding, secret: half, blinds: blinds), because: .indexColumns, in: &report)
        }
    }

    /// Writes the row with the correct index columns. If another row has its name, the row stays unchanged: it is found by fewer
    /// attributes, but not lost.
    private func repair(_ opened: OpenedRow, to right: StoredRow, because reason: DoctorFinding.Reason, in report: inout DoctorReport)
        throws
        -> OpenedRow?
    {
        let outcome = try database.update([RowChange(old: opened.row.handle, row: right, changesBlinds: true)])
        if outcome == .stale || outcome == .retired { throw RowHasChanged() }
        report.take(DoctorFinding(reason, row: opened.row.id, protection: opened.row.protection, isRepaired: outcome == .written))
        services.logger.error("an item's indexes did not fit it", metadata: ["user": "\(user)", "row": "\(opened.row.id)"])
        return OpenedRow(
            row: try database.row(opened.row.id) ?? opened.row, binding: opened.binding, record: opened.record, isCanary: opened.isCanary)
    }

    /// Checks the secret half: opens it if that needs no prompt, and otherwise only the layer of the class key. Returns false if the row
    /// counts as absent.
    private func examineSecret(_ opened: OpenedRow, _ report: inout DoctorReport) throws -> Bool {
        if opened.requirement.isNone, opened.binding.accessControl?.needsApplicationPassword != true {
            return try openValue(of: opened, reason: nil, mayPrompt: false) != nil
        }
        if opened.binding.format == .generationSeparate, let current = try keys.currentGeneration(of: .metadata(opened.binding.protection))
        {
            do {
                // The result is discarded: this only checks that the layer of the class key opens.
                guard try rewrapped(opened, to: current) != nil else { return false }
            } catch let refusal as Refusal where [.keysChanged, .interactionNotAllowed].contains(refusal.reason) {
                // The layer of the class key opened. Moving the row to newer factor pairs only lacks a passcode.
            }
        }
        report.unopened += 1
        return true
    }

    /// Returns quarantined rows that open again to their places, since an older keybag or the disk may have been repaired.
    private func readmit(_ report: inout DoctorReport) throws {
        var last: Int64 = 0
        while true {
            let rows = try database.quarantinedRows(
                after: last, count: KeychainLimits.batchRowsMax, bytesMax: KeychainLimits.batchBytesMax)
            guard let end = rows.last?.id else { return }
            for row in rows { try readmit(row, &report) }
            last = end
            try sink.send(.examined(report))
        }
    }

    private func readmit(_ row: StoredRow, _ report: inout DoctorReport) throws {
        // `decode` suffices, since a row that does not open is in quarantine already.
        guard case .item(let opened, let digest) = try decode(row) else { return }
        do {
            let blinds = try blinds(opened.record)
            guard opened.isAuthenticated(by: digest, blinds), try opensWithoutAsking(opened),
                try database.readmit(row, blinds: blinds, as: HistoryLabel(date: services.now(), owner: opened.record.accessGroup))
            else {
                return
            }
            report.take(DoctorFinding(.readmitted, row: row.id, protection: row.protection, isRepaired: true))
        } catch is Refusal {}
    }

    /// Returns whether the secret half opens, as far as this can be checked without a prompt. Quarantines nothing.
    private func opensWithoutAsking(_ opened: OpenedRow) throws -> Bool {
        let halves = opened.row.halves
        guard opened.requirement.isNone, opened.binding.accessControl?.needsApplicationPassword != true else {
            guard opened.binding.format == .generationSeparate,
                let current = try keys.currentGeneration(of: .metadata(opened.binding.protection))
            else {
                return false
            }
            do {
                _ = try enclave.rewrap(opened.binding, wrapped: halves.wrappedKey, generation: current)
            } catch let refusal as Refusal where refusal.reason == .interactionNotAllowed {}
            return true
        }
        let key = try enclave.open(opened.binding, wrapped: halves.wrappedKey, reason: nil, mayPrompt: false, password: nil)
        return (try? RowCipher.open(halves.secret, key: key, binding: try opened.binding.itemBinding.encoded())) != nil
    }

    private func keepCopy() -> DoctorReport.Copy {
        let room = CopyRoom(bytesMax: KeychainLimits.verifiedBytesMax, bytesReserved: KeychainLimits.verifiedBytesReserved)
        return switch database.keepVerified(room) {
        case .kept(let generation): DoctorReport.Copy(.kept, date: generation.date, rows: generation.rows)
        case .tooLarge: DoctorReport.Copy(.tooLarge)
        case .noRoom(let bytesMissing): DoctorReport.Copy(.noRoom, bytesMissing: bytesMissing)
        case .failed: DoctorReport.Copy(.failed)
        }
    }
}

extension Caller {
    /// Whether the caller is the user at the command line; in user mode every program is.
    var isUserAtCommandLine: Bool { identity?.throughCommandLine ?? true }
}

extension RowBlinds {
    fileprivate var allLookups: Set<[UInt8]> { Set(lookups + (device?.lookups ?? [])) }
}

extension DeviceBlinds {
    /// The blinds as a row that was read has them.
    fileprivate var columns: DeviceBlinds { DeviceBlinds(primary: primary, list: list, lookups: []) }
}

extension StoredRow {
    /// Returns the same row with other index columns.
    fileprivate func with(_ blinds: RowBlinds) -> StoredRow {
        StoredRow(item: item, kind: kind, protection: protection, generation: generation, blinds: blinds, halves: halves)
    }
}

extension RowAbsence {
    fileprivate var finding: DoctorFinding.Reason {
        switch self {
        case .quarantined(let reason): reason.finding
        case .removed: .keyDestroyed
        }
    }
}

extension QuarantineReason {
    fileprivate var finding: DoctorFinding.Reason {
        switch self {
        case .binding: .binding
        case .metadata: .metadata
        case .content: .content
        case .digest: .digest
        case .secret: .secret
        case .wrappedKey: .wrappedKey
        case .keyUnknown: .keyUnknown
        }
    }
}

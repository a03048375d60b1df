// A whole look at a user's database, for `vauban doctor`: every row in turn, what it is found by, and the file. What a read
// would put aside is put aside; what can be made good without loss is made good; all of it is told in numbers alone.

internal import EnclaveWire
internal import KeychainStore
internal import Logging
internal import VaubanAccessPolicy
internal import VaubanDER
internal import VaubanKeychainModel
internal import VaubanKeychainWire
internal import VaubanRefusal

extension RequestInProgress {
    /// Asks nobody and shows no item, so that it covers the rows of all owners.
    func examine() throws {
        guard caller.isOwnHand else { throw Refusal(.notAllowedHere, "the keychain is examined with the program vauban") }
        var report = DoctorReport()
        report.rows = try database.rowCount()
        let verdict = try database.examineFile()
        switch verdict {
        case .whole: break
        case .indexesRebuilt: report.take(DoctorFinding(.fileIndexes, isRepaired: true))
        case .damaged:
            // Nothing that such a file says of its rows is worth anything, and nothing may be written to it.
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

    /// Each batch is told, so that whoever waits sees that it goes on.
    private func examineRows(_ report: inout DoctorReport) throws {
        var last: Int64 = 0
        while true {
            let rows = try database.rows(after: last, count: KeychainLimits.batchRowsMax, bytesMax: KeychainLimits.batchBytesMax)
            guard let end = rows.last?.id else { return }
            for row in rows { try examineAsItIsNow(row, &report) }
            last = end
            try sink.send(.examined(report))
        }
    }

    private func examineAsItIsNow(_ row: StoredRow, _ report: inout DoctorReport) throws {
        var row = row
        for _ in 0..<KeychainLimits.attemptsMax {
            do {
                return try examine(row, &report)
            } catch is RowHasChanged {
                // What becomes of an earlier value or a deleted item is seen at the next look.
                guard row.place == .item, let now = try database.row(row.id), now.item == row.item else { return }
                row = now
            } catch let refusal as Refusal where [.locked, .beforeFirstUnlock].contains(refusal.reason) {
                report.locked += 1
                return
            }
        }
        // Whoever writes it again and again verifies what they write.
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

    /// Earlier values and deleted items: as items, but found by nothing. They are not in the numbers of items that were checked.
    private func examineHistory(_ report: inout DoctorReport) throws {
        var last: Int64 = 0
        while true {
            let rows = try database.historyRows(after: last, count: KeychainLimits.batchRowsMax, bytesMax: KeychainLimits.batchBytesMax)
            guard let end = rows.last?.id else { return }
            for row in rows { try examineAsItIsNow(row, &report) }
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

    /// The metadata half and everything that the row is found by; nil when it behaves as absent from now on.
    private func examineMetadata(_ row: StoredRow, _ report: inout DoctorReport) throws -> OpenedRow? {
        switch try decode(row) {
        case .damaged(let reason): return try putAside(row, reason)
        case .closed: return try explainClosed(row)
        case .item(let opened, let digest):
            let blinds = try blinds(opened.record)
            if opened.isVouchedFor(by: digest, blinds) {
                // The columns are what they were, or can be made so from what is verified.
                let columnsFit =
                    row.blinds == RowBlinds(primary: blinds.primary, list: blinds.list, lookups: [], device: blinds.device?.columns)
                if columnsFit, try database.lookups(of: row.id) == blinds.allLookups { return opened }
                return try repair(opened, row.with(blinds), columnsFit ? .lookups : .indexColumns, &report)
            }
            guard opened.isVouchedFor(by: digest, row.blinds) else { return try putAside(row, .digest) }
            // Whole, and indexed by other rules than today's.
            guard opened.binding.format == .generationSeparate else { return opened }
            let half = SecretHalf(binding: row.halves.secretBinding, wrappedKey: row.halves.wrappedKey, secret: row.halves.secret)
            let binding = try binding(opened.record, item: row.item, generation: row.generation)
            return try repair(opened, try self.row(opened.record, binding, half, blinds), .indexColumns, &report)
        }
    }

    /// Writes the row with the right index columns. Where another row has its name, it stays as it is: found by less than
    /// it should be, and not lost.
    private func repair(_ opened: OpenedRow, _ right: StoredRow, _ reason: DoctorFinding.Reason, _ report: inout DoctorReport) throws
        -> OpenedRow?
    {
        let outcome = try database.update([RowChange(old: opened.row.handle, row: right, changesBlinds: true)])
        if outcome == .stale || outcome == .retired { throw RowHasChanged() }
        report.take(DoctorFinding(reason, row: opened.row.id, protection: opened.row.protection, isRepaired: outcome == .written))
        parts.logger.error("an item's indexes did not fit it", metadata: ["user": "\(user)", "row": "\(opened.row.id)"])
        return OpenedRow(row: try database.row(opened.row.id) ?? opened.row, binding: opened.binding, record: opened.record)
    }

    /// The secret half: opened where that asks nobody, else as far as the class key reaches. False when the row turns out to
    /// be absent.
    private func examineSecret(_ opened: OpenedRow, _ report: inout DoctorReport) throws -> Bool {
        if opened.requirement.isNone, opened.binding.accessControl?.needsApplicationPassword != true {
            return try openValue(of: opened, reason: nil, mayAsk: false) != nil
        }
        if opened.binding.format == .generationSeparate, let current = try keys.currentGeneration(of: .metadata(opened.binding.protection))
        {
            do {
                // What it gives is thrown away: that the class key's layer opens is all that is asked.
                guard try rewrapped(opened, to: current) != nil else { return false }
            } catch let refusal as Refusal where [.keysChanged, .interactionNotAllowed].contains(refusal.reason) {
                // The class key's layer opened, where only the passcode is missing to go to newer pairs.
            }
        }
        report.unopened += 1
        return true
    }

    /// What was put aside and opens now goes back to its place: an older keybag may have been put right, or the disk.
    private func readmit(_ report: inout DoctorReport) throws {
        for row in try database.quarantinedRows(after: 0, count: KeychainLimits.readmittedRowsMax) {
            // `decode` alone: what does not open is quarantined already.
            guard case .item(let opened, let digest) = try decode(row) else { continue }
            do {
                let blinds = try blinds(opened.record)
                guard opened.isVouchedFor(by: digest, blinds), try opensWithoutAsking(opened),
                    try database.readmit(row, blinds: blinds, as: HistoryLabel(date: parts.now(), owner: opened.record.accessGroup))
                else {
                    continue
                }
                report.take(DoctorFinding(.readmitted, row: row.id, protection: row.protection, isRepaired: true))
            } catch is Refusal {}
        }
    }

    /// Whether the secret half opens, as far as that asks nobody. Puts nothing aside.
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
        let key = try enclave.open(opened.binding, wrapped: halves.wrappedKey, reason: nil, mayAsk: false, password: nil)
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
    /// Whether it is the user's own hand; in user mode every program is.
    var isOwnHand: Bool { identity?.throughCommandLine ?? true }
}

extension RowBlinds {
    fileprivate var allLookups: Set<[UInt8]> { Set(lookups + (device?.lookups ?? [])) }
}

extension DeviceBlinds {
    /// As a row that was read has them.
    fileprivate var columns: DeviceBlinds { DeviceBlinds(primary: primary, list: list, lookups: []) }
}

extension StoredRow {
    /// The same row, to be found by these.
    fileprivate func with(_ blinds: RowBlinds) -> StoredRow {
        StoredRow(item: item, kind: kind, protection: protection, generation: generation, blinds: blinds, halves: halves)
    }
}

extension RowAbsence {
    fileprivate var finding: DoctorFinding.Reason {
        switch self {
        case .putAside(let reason): reason.finding
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

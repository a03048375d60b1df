import VaubanKeychainClient
import VaubanLinuxHost
import VaubanRefusal
import VaubanSyncModel

/// A run that compacts the files of this device (Specs/sync.md, "Compaction"): it rewrites the changes in them that are still the newest,
/// waits until every member has read those, puts a record in place of the first file, and removes the others that the record covers.
package protocol CompactingRun: ReadingRun {
    /// How many changes were written.
    var sent: Int { get set }
    /// The number of files removed because they are no longer needed. `compactionFault` says why others were not.
    var compacted: Int { get set }
    var compactionFault: String? { get set }

    func sign(_ digest: [UInt8]) throws -> [UInt8]
    /// Writes what is pending.
    mutating func writeAll() throws
    /// Writes a file with changes, or with none.
    mutating func write(_ records: [SyncRecord]) throws
}

extension CompactingRun {
    /// Reports what was read from the other devices, and takes every step that is possible now. To be called at the end of a run that may
    /// write.
    package mutating func compact(_ limits: CompactionLimits = .current) throws {
        if state.unreportedReads(among: view.members) >= limits.unreportedMax { try write([SyncRecord]()) }
        guard faults.isEmpty else { return }
        if state.planCompaction(among: view.members, limits) {
            try save()
            try limits.didStep(.planned)
            let before = sent
            try writeAll()
            // Rewriting a change does not count as sending it.
            sent = before
        }
        guard state.isSettled else { return }
        if state.isRewritten {
            if let compaction = state.compaction, state.own == compaction.last { try write([SyncRecord]()) }
            state.noteRewritten()
            try save()
            try limits.didStep(.ended)
        }
        do {
            if let compaction = state.compaction, state.awaited(among: view.members).isEmpty { try record(compaction, limits) }
            try restoreRecord()
            try removeCompacted(limits)
        } catch let refusal as Refusal {
            compactionFault = refusal.detail ?? refusal.message
        }
    }

    private func stream() throws(Refusal) -> SyncStream {
        guard let me = view.members.first(where: { $0.device == view.device }) else { throw Refusal(.internalError) }
        return SyncStream(folder: carrier, circle: view, ciphers: files, writer: me)
    }

    /// Puts the record in place of the first file.
    private mutating func record(_ compaction: SyncState.Compaction, _ limits: CompactionLimits) throws {
        let stream = try stream()
        guard let trail = state.seen[view.device], let cipher = files.last else { return }
        // Read the files with the rewritten changes once more: after this, only a device that needs them asks for them.
        var position = SyncPosition(number: compaction.last, chain: trail.chain(at: compaction.last) ?? [])
        while position.number < compaction.end {
            let name = SyncFolder.name(of: position.number + 1)
            guard let bytes = try carrier.read(name, in: stream.section),
                position.after(bytes).chain == trail.chain(at: position.number + 1)
            else {
                faults.append("The file \(name) of this device is missing in the folder, or was altered: its changes are written again")
                // The next plan covers this.
                state.compaction = nil
                try save()
                return
            }
            position = position.after(bytes)
        }
        let record: CompactionRecord
        if let later = try earlierRecord(stream), later.last >= compaction.last {
            // It was written before this device was rolled back or killed.
            record = later
        } else {
            record = CompactionRecord(
                last: compaction.last, end: compaction.end,
                chains: trail.chains(through: compaction.last, max: CompactionLimits.chainsMax))
            let bytes = try record.sealed(in: view, cipher) { try sign($0) }
            try carrier.replace(bytes, named: SyncFolder.name(of: 1), in: stream.section)
        }
        try limits.didStep(.recorded)
        state.noteRecord(record)
        try save()
        try limits.didStep(.noted)
    }

    /// Restores the record if it is missing or was replaced by an earlier one: without it, a device that joins cannot read the files after
    /// it.
    private mutating func restoreRecord() throws {
        guard let recorded = state.recorded, let trail = state.seen[view.device], trail.chain(at: recorded.last) != nil,
            let cipher = files.last
        else { return }
        let stream = try stream()
        guard try earlierRecord(stream).map({ $0.last < recorded.last }) ?? true else { return }
        let record = CompactionRecord(
            last: recorded.last, end: recorded.end, chains: trail.chains(through: recorded.last, max: CompactionLimits.chainsMax))
        try carrier.replace(try record.sealed(in: view, cipher) { try sign($0) }, named: SyncFolder.name(of: 1), in: stream.section)
    }

    /// Returns the record in the folder; nil if there is none that this device signed.
    private func earlierRecord(_ stream: SyncStream) throws(Refusal) -> CompactionRecord? {
        do throws(Refusal) { return try stream.record() } catch {
            guard error.reason == .badParameter else { throw error }
            return nil
        }
    }

    /// Removes the files that the record covers, if the record is in the folder as this device wrote it. A run removes what an earlier,
    /// killed one left.
    private mutating func removeCompacted(_ limits: CompactionLimits) throws {
        guard let recorded = state.recorded, recorded.last > 1 else { return }
        let stream = try stream()
        let numbers = try carrier.names(in: stream.section).compactMap(SyncFolder.number(of:)).filter { (2...recorded.last).contains($0) }
        guard !numbers.isEmpty, let record = try earlierRecord(stream), record.last >= recorded.last,
            record.chain(at: recorded.last) == state.seen[view.device]?.chain(at: recorded.last)
        else { return }
        let until = MachineClock.monotonic + limits.removingTime
        for number in numbers.prefix(limits.removedMax) where MachineClock.monotonic < until {
            try carrier.erase(SyncFolder.name(of: number), in: stream.section)
            compacted += 1
            try limits.didStep(.removed)
        }
    }
}

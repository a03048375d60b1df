package import VaubanSyncModel

/// What the state remembers of the compaction of this device's files (Specs/sync.md, "Compaction").
extension SyncState {
    /// The files of this device to remove, and where the changes in them that are still needed were rewritten.
    package struct Compaction: Hashable {
        /// The last file to remove.
        package let last: Int64
        /// The last file with rewritten changes; 0 until all are rewritten.
        package fileprivate(set) var end: Int64

        init(last: Int64, end: Int64) {
            self.last = last
            self.end = end
        }
    }

    /// The last file of this device.
    package var own: Int64 { seen[ledger.device]?.position.number ?? 0 }

    /// Whether nothing is left to read again or to write, and no device has read other or more files than this one.
    package var isSettled: Bool {
        !rereads && !repeatsAll && !isEarlier && reports.isEmpty && forks.isEmpty && ledger.pending.isEmpty
    }

    /// If compaction is worthwhile, notes which files to remove and marks what to rewrite. Returns whether it did.
    package mutating func planCompaction(among members: [CircleMember], _ limits: CompactionLimits) -> Bool {
        guard compaction == nil, isSettled else { return false }
        let others = Set(members.map(\.device)).subtracting([ledger.device])
        // Another member's changes are in that member's files.
        let changes = ledger.entries.values.count { !others.contains($0.stamp.device) }
        let files = own - (recorded?.last ?? 0)
        guard files >= limits.filesMin, files > Int64(changes / 2) else { return false }
        compaction = Compaction(last: own, end: 0)
        ledger.repeatChanges(ofOthersThan: others)
        return true
    }

    /// Whether everything is rewritten, but the last file of that is not noted yet.
    package var isRewritten: Bool { compaction?.end == 0 && ledger.pending.isEmpty }

    /// Notes the last file with rewritten changes. At least one file must follow those to remove.
    package mutating func noteRewritten() {
        let end = own
        guard isRewritten, let last = compaction?.last, end > last else { return }
        compaction?.end = end
    }

    /// Returns the members for which files are kept, because they have not yet reported that they read the rewritten changes.
    package func awaited(among members: [CircleMember]) -> [CircleMember] {
        guard let compaction, compaction.end > 0 else { return [] }
        return members.filter { $0.device != ledger.device && acknowledged[$0.device] ?? 0 < compaction.end }
    }

    /// Notes that a record is in place.
    package mutating func noteRecord(_ record: CompactionRecord) {
        recorded = Compaction(last: record.last, end: record.end)
        compaction = nil
    }

    /// Returns the most files that this device has read of any other member since it last reported how many.
    package func unreportedReads(among members: [CircleMember]) -> Int64 {
        members.filter { $0.device != ledger.device }.map { (seen[$0.device]?.position.number ?? 0) - (reportedReads[$0.device] ?? 0) }
            .max() ?? 0
    }

    /// Notes a file that this device wrote.
    package mutating func noteWritten(_ bytes: [UInt8], _ file: SyncFile) {
        seen[ledger.device, default: SyncTrail()].append(bytes)
        noteReportedReads(in: file)
    }

    /// Notes what this device reports as read in one of its files.
    mutating func noteReportedReads(in file: SyncFile) { reportedReads = file.seen.mapValues(\.number) }
}

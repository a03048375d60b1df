package import VaubanSyncModel

/// The compaction of this device's files, as far as it is remembered (Specs/sync.md, "Compaction").
extension SyncState {
    /// Files of this device that go, and where what is still needed of them is written again.
    package struct Compaction: Hashable {
        /// The last file that goes.
        package let last: Int64
        /// The last file with what was written again; 0 until all of it is.
        package fileprivate(set) var end: Int64

        init(last: Int64, end: Int64) {
            self.last = last
            self.end = end
        }
    }

    /// The last file of this device.
    package var own: Int64 { seen[ledger.device]?.position.number ?? 0 }

    /// Whether nothing is left to read again or to write, and nobody has read other or more files than this device.
    package var isSettled: Bool {
        !rereads && !repeatsAll && !isEarlier && reports.isEmpty && forks.isEmpty && ledger.pending.isEmpty
    }

    /// Notes which files are to go, and marks what is to be written again, if it is worth it. Returns whether it did.
    package mutating func planCompaction(among members: [CircleMember], _ limits: CompactionLimits) -> Bool {
        guard compaction == nil, isSettled else { return false }
        let others = Set(members.map(\.device)).subtracting([ledger.device])
        // What another member changed is in the files of that member.
        let changes = ledger.entries.values.count { !others.contains($0.stamp.device) }
        let files = own - (recorded?.last ?? 0)
        guard files >= limits.filesMin, files > Int64(changes / 2) else { return false }
        compaction = Compaction(last: own, end: 0)
        ledger.repeatChanges(ofOthersThan: others)
        return true
    }

    /// Whether everything is written again, and it is not noted yet where that ends.
    package var isRewritten: Bool { compaction?.end == 0 && ledger.pending.isEmpty }

    /// Notes where what was written again ends. At least one file must follow those that go.
    package mutating func noteRewritten() {
        let end = own
        guard isRewritten, let last = compaction?.last, end > last else { return }
        compaction?.end = end
    }

    /// The members for which files are kept: they have not said yet that they have read what was written again.
    package func awaited(among members: [CircleMember]) -> [CircleMember] {
        guard let compaction, compaction.end > 0 else { return [] }
        return members.filter { $0.device != ledger.device && acknowledged[$0.device] ?? 0 < compaction.end }
    }

    /// Notes that a record is in place.
    package mutating func noteRecord(_ record: CompactionRecord) {
        recorded = Compaction(last: record.last, end: record.end)
        compaction = nil
    }

    /// The greatest number of files of another member that were read since this device said how many.
    package func unsaid(among members: [CircleMember]) -> Int64 {
        members.filter { $0.device != ledger.device }.map { (seen[$0.device]?.position.number ?? 0) - (said[$0.device] ?? 0) }.max() ?? 0
    }

    /// Notes a file that this device wrote.
    package mutating func noteWritten(_ bytes: [UInt8], _ file: SyncFile) {
        seen[ledger.device, default: SyncTrail()].append(bytes)
        noteSaid(by: file)
    }

    /// Notes what a file of this device says that was read.
    mutating func noteSaid(by file: SyncFile) { said = file.seen.mapValues(\.number) }
}

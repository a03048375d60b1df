// The ledger of a companion, which has no stamps of its own: what members write always replaces what is here (Specs/sync.md).

extension SyncLedger {
    /// On a companion: the items that were applied here and have disappeared from the rows. The rows' names are not used.
    package func companionStatusQueries(_ rows: [SyncedRow]) -> [ItemStatusQuery] {
        let there = Set(rows.map(\.item))
        return entries.values.compactMap { entry in
            guard entry.mark != nil, let item = entry.item, !there.contains(item) else { return nil }
            return ItemStatusQuery(item: item, changed: entry.changed)
        }
    }

    /// On a companion: compares the rows with what was applied. Lost and rolled-back items are forgotten; what the user deleted or made not
    /// synchronizable stays so until the members' next change. Returns whether everything must be read again, and the identities of the
    /// items that were added or changed here, which are sent to no device.
    package mutating func reconcile(
        _ rows: [SyncedRow], _ statuses: [[UInt8]: ItemStatus], isEarlier: Bool = false
    ) -> (found: Findings, own: Set<[UInt8]>) {
        let there = Dictionary(rows.map { ($0.item, $0) }) { first, _ in first }
        var own = Set(there.keys)
        var found = Findings(isEarlier: isEarlier)
        for (name, entry) in entries {
            guard let item = entry.item else { continue }
            guard let row = there[item] else {
                guard entry.mark != nil else { continue }
                let status = statuses[item] ?? .lost
                if isEarlier || status == .lost || status == .deletedElsewhere {
                    found.noteLoss(status, isEarlier: isEarlier)
                    entries[name] = nil
                } else {
                    // A later deletion by a member then finds nothing to delete.
                    entries[name]?.mark = nil
                }
                continue
            }
            if entry.mark == nil || row.changed < entry.changed || (isEarlier && row.changed != entry.changed) {
                found.noteEarlierRow()
                entries[name] = nil
            } else {
                entries[name]?.mark = row.mark
                if row.changed == entry.changed { own.remove(item) }
            }
        }
        return (found, own)
    }
}

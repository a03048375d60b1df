// The ledger of a companion, which has no stamps of its own: what members wrote always replaces what is here (Specs/sync.md).

extension SyncLedger {
    /// On a companion: the items that were in place and are not among the rows any more. The names of the rows are not used.
    package func companionFateQueries(_ rows: [SyncedRow]) -> [ItemFateQuery] {
        let there = Set(rows.map(\.item))
        return entries.values.compactMap { entry in
            guard entry.mark != nil, let item = entry.item, !there.contains(item) else { return nil }
            return ItemFateQuery(item: item, changed: entry.changed)
        }
    }

    /// On a companion: compares the rows with what was put in place. What is lost, or as it was earlier, is forgotten; what the user
    /// deleted or took out of the synchronized items stays so until the members' next change. Returns whether everything must be read
    /// again, and the identities of the items that were made or changed here, which nobody else gets.
    package mutating func reconcile(
        _ rows: [SyncedRow], _ fates: [[UInt8]: ItemFate], isEarlier: Bool = false
    ) -> (found: Findings, own: Set<[UInt8]>) {
        let there = Dictionary(rows.map { ($0.item, $0) }) { first, _ in first }
        var own = Set(there.keys)
        var found = Findings(isEarlier: isEarlier)
        for (name, entry) in entries {
            guard let item = entry.item else { continue }
            guard let row = there[item] else {
                guard entry.mark != nil else { continue }
                let fate = fates[item] ?? .lost
                if isEarlier || fate == .lost || fate == .deletedElsewhere {
                    found.noteLoss(fate, isEarlier: isEarlier)
                    entries[name] = nil
                } else {
                    // A deletion by a member finds nothing to delete then.
                    entries[name]?.mark = nil
                }
                continue
            }
            if entry.mark == nil || row.changed < entry.changed || (isEarlier && row.changed != entry.changed) {
                found.noteRollback()
                entries[name] = nil
            } else {
                entries[name]?.mark = row.mark
                if row.changed == entry.changed { own.remove(item) }
            }
        }
        return (found, own)
    }
}

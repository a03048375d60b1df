// What a device knows of the synchronized items, and how it merges what others wrote: a pure function, without files, keys or clocks
// (Specs/sync.md, "Merging").

/// An item on this device, as the ledger compares it.
package struct SyncedRow: Hashable, Sendable {
    /// The blinded name, equal on all devices of a circle.
    package let name: [UInt8]
    /// Changes with every write of the row.
    package let mark: [UInt8]
    /// The item's identity on this device, which stays the same.
    package let item: [UInt8]
    /// When the item was changed; microseconds since the reference date. It grows with every change of the item.
    package let changed: Int64

    package init(name: [UInt8], mark: [UInt8], item: [UInt8], changed: Int64) {
        self.name = name
        self.mark = mark
        self.item = item
        self.changed = changed
    }
}

/// What became of an item, as the keychain knows it.
package enum ItemFate: Int64, CaseIterable, Hashable, Sendable {
    /// It is there, with a later date: under another name, or not synchronizable any more.
    case changed = 1
    /// It is there again after it was deleted.
    case returned = 2
    case deleted = 3
    /// It was deleted because another device had deleted it.
    case deletedElsewhere = 4
    /// Nobody changed or deleted it: it was damaged, or the database is an earlier one.
    case lost = 5
}

/// An item whose fate the ledger needs to know.
package struct ItemFateQuery: Hashable, Sendable {
    package let item: [UInt8]
    /// When it was changed, as the ledger knows it.
    package let changed: Int64

    package init(item: [UInt8], changed: Int64) {
        self.item = item
        self.changed = changed
    }
}

/// The newest change of every item that the device knows of, deletions included.
package struct SyncLedger: Hashable, Sendable {
    package struct Entry: Hashable, Sendable {
        package var stamp: SyncStamp
        /// The mark of the item's row here; nil if the item is deleted.
        package var mark: [UInt8]?
        /// The identity of the item here; nil if it never was.
        package var item: [UInt8]?
        /// When the item was changed, as its row here says or last said. A row with this date but another mark was only encrypted again.
        package var changed: Int64
        /// Whether the change must still be written for the other devices.
        package var isPending: Bool

        package init(stamp: SyncStamp, mark: [UInt8]?, item: [UInt8]?, changed: Int64, isPending: Bool) {
            self.stamp = stamp
            self.mark = mark
            self.item = item
            self.changed = changed
            self.isPending = isPending
        }
    }

    package enum Decision: Hashable, Sendable {
        /// The change is newer than what is here, and replaces it.
        case take
        /// What is here is newer. The writer of the older change has its value in the history as soon as it reads the newer one.
        case keep
        /// The change is known already.
        case known
    }

    package let device: [UInt8]
    package internal(set) var entries: [[UInt8]: Entry]

    package init(device: [UInt8], entries: [[UInt8]: Entry] = [:]) {
        self.device = device
        self.entries = entries
    }

    // MARK: What changed here

    /// What a look at the rows found besides changes.
    package struct Findings: Hashable, Sendable {
        /// Whether what the others wrote must be read again.
        package internal(set) var mustReread: Bool
        /// Whether items were lost or put back here.
        package internal(set) var isRolledBack: Bool

        init(isEarlier: Bool) { (mustReread, isRolledBack) = (isEarlier, isEarlier) }

        mutating func noteRollback() { (mustReread, isRolledBack) = (true, true) }

        /// Notes that an item is gone.
        mutating func noteLoss(_ fate: ItemFate, isEarlier: Bool) {
            mustReread = true
            // What a run that was killed deleted for another device is not lost.
            if isEarlier || fate == .lost { isRolledBack = true }
        }
    }

    /// The items whose fate `stamp` needs to know: those that are not among the rows any more, and those that are again.
    package func fateQueries(_ rows: [SyncedRow]) -> [ItemFateQuery] {
        let there = Dictionary(rows.map { ($0.item, $0.name) }) { first, _ in first }
        return entries.compactMap { name, entry in
            guard let item = entry.item, (there[item] == name) == (entry.mark == nil) else { return nil }
            return ItemFateQuery(item: item, changed: entry.changed)
        }
    }

    /// Stamps what this device changed since it last did this: rows that are new or were changed, and items that were deleted. An item that
    /// is lost, or as it was earlier, was not changed: the ledger forgets what it knew, so that the circle's value is taken again. Returns
    /// whether everything must be read again for that, and whether the user lost something.
    /// - Parameter isEarlier: Whether the keychain's database is known to be an earlier one, in which nothing was deleted since.
    package mutating func stamp(_ rows: [SyncedRow], _ fates: [[UInt8]: ItemFate], isEarlier: Bool = false, now: Int64) -> Findings {
        var found = Findings(isEarlier: isEarlier)
        var gone = Set(entries.filter { $0.value.mark != nil }.keys)
        for row in rows {
            gone.remove(row.name)
            switch state(of: row, fates, isEarlier: isEarlier) {
            case .same: entries[row.name]?.mark = row.mark
            case .earlier:
                found.noteRollback()
                forget(row.name, as: row)
            case .changed:
                entries[row.name] = Entry(
                    stamp: .change(at: row.changed, after: entries[row.name]?.stamp, by: device), mark: row.mark, item: row.item,
                    changed: row.changed, isPending: true)
            }
        }
        for name in gone {
            guard let entry = entries[name] else { continue }
            let fate = entry.item.flatMap { fates[$0] } ?? .lost
            if isEarlier || fate == .lost || fate == .deletedElsewhere {
                // A run that ended after another device's deletion was done did not note it.
                found.noteLoss(fate, isEarlier: isEarlier)
                entries[name] = nil
            } else {
                entries[name] = Entry(
                    stamp: .change(at: now, after: entry.stamp, by: device), mark: nil, item: entry.item, changed: entry.changed,
                    isPending: true)
            }
        }
        return found
    }

    /// Stamps what this device added or changed among some items, and returns their names. Returns nil, and stamps nothing, where all rows
    /// must be looked at: one of the items was deleted, renamed or put back, or its stamp is ahead of its date.
    /// - Parameter rows: The rows of those items that are here.
    package mutating func stamp(only rows: [SyncedRow], of items: [[UInt8]]) -> [[UInt8]]? {
        let rest = Set(items).subtracting(rows.filter { entries[$0.name]?.item == $0.item }.map(\.item))
        // Nothing else is known under another name, or was.
        guard rest.isEmpty || !entries.values.contains(where: { $0.item.map(rest.contains) == true }) else { return nil }
        let states = rows.map { (row: $0, state: state(of: $0, [:], isEarlier: false)) }
        // A stamp that the row's date alone decides is found again by a run that does not know of this one.
        let isSimple = states.allSatisfy { row, state in
            guard let entry = entries[row.name] else { return state == .changed }
            return entry.mark != nil && (state == .same || (state == .changed && entry.stamp.time < row.changed))
        }
        guard isSimple else { return nil }
        for (row, state) in states {
            if state == .changed {
                entries[row.name] = Entry(
                    stamp: .change(at: row.changed, after: entries[row.name]?.stamp, by: device), mark: row.mark, item: row.item,
                    changed: row.changed, isPending: true)
            } else {
                entries[row.name]?.mark = row.mark
            }
        }
        return states.filter { $0.state == .changed }.map(\.row.name)
    }

    private enum RowState { case same, changed, earlier }

    private func state(of row: SyncedRow, _ fates: [[UInt8]: ItemFate], isEarlier: Bool) -> RowState {
        guard let entry = entries[row.name] else { return .changed }
        if entry.mark == row.mark { return .same }
        // Dates do not tell what was changed since the copy was put back, as clocks differ. The history has what is replaced.
        if isEarlier { return .earlier }
        let isOfSameItem = entry.item == row.item
        let isLater = row.changed > entry.changed
        guard entry.mark != nil else { return isOfSameItem && fates[row.item] != .returned && !isLater ? .earlier : .changed }
        guard isOfSameItem else { return entry.item.map { fates[$0] == .lost } == true && !isLater ? .earlier : .changed }
        if entry.changed == row.changed { return .same }
        return isLater ? .changed : .earlier
    }

    /// Has an earlier row lose against what the circle knows. It is sent if what it was before never was.
    private mutating func forget(_ name: [UInt8], as row: SyncedRow) {
        guard let entry = entries[name] else { return }
        let time = max(min(row.changed, entry.stamp.time - 1), SyncStamp.times.lowerBound)
        entries[name] = Entry(
            stamp: SyncStamp(time: time, device: device), mark: row.mark, item: row.item, changed: row.changed, isPending: entry.isPending)
    }

    // MARK: What others changed

    /// Decides about a change that another device wrote.
    package func decision(on name: [UInt8], _ incoming: SyncStamp) -> Decision {
        guard let known = entries[name]?.stamp else { return .take }
        return known == incoming ? .known : known < incoming ? .take : .keep
    }

    /// Records that a change of another device is in place here as a row.
    package mutating func take(_ row: SyncedRow, _ incoming: SyncStamp) {
        entries[row.name] = Entry(stamp: incoming, mark: row.mark, item: row.item, changed: row.changed, isPending: false)
    }

    /// Records that a deletion of another device is done here.
    package mutating func takeDeletion(of name: [UInt8], _ incoming: SyncStamp) {
        let known = entries[name]
        entries[name] = Entry(stamp: incoming, mark: nil, item: known?.item, changed: known?.changed ?? .min, isPending: false)
    }

    // MARK: What is written for others

    /// The names of changes to write, in the order of their stamps.
    package var pending: [[UInt8]] {
        entries.filter(\.value.isPending).sorted { first, second in
            let (one, other) = (first.value.stamp, second.value.stamp)
            return one == other ? first.key.lexicographicallyPrecedes(second.key) : one < other
        }.map(\.key)
    }

    /// Records that a change was written for the others, unless the item has changed since.
    package mutating func wrote(_ name: [UInt8], _ stamp: SyncStamp) {
        if entries[name]?.stamp == stamp { entries[name]?.isPending = false }
    }

    /// Marks everything to be written again with its own stamps, for devices that will not read those who wrote it.
    package mutating func repeatAll() { for name in entries.keys { entries[name]?.isPending = true } }

    /// Marks what removed devices changed to be written again, since some members may not have read it. A change of a device that was
    /// removed earlier may have been written again by the one that is removed now alone.
    package mutating func repeatChanges(ofOthersThan members: Set<[UInt8]>) {
        for (name, entry) in entries where !members.contains(entry.stamp.device) { entries[name]?.isPending = true }
    }
}

// What a device knows about the synchronized items, and how it merges what others wrote: a pure function, without files, keys or clocks
// (Specs/sync.md, "Merging").

/// An item on this device, as the ledger compares it.
package struct SyncedRow: Hashable, Sendable {
    /// The blinded name, which is the same on all devices of a circle.
    package let name: [UInt8]
    /// Changes with every write of the row.
    package let mark: [UInt8]
    /// The item's identity on this device, which never changes.
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

/// The status of an item, as the keychain knows it.
package enum ItemStatus: Int64, CaseIterable, Hashable, Sendable {
    /// It exists with a later date: under another name, or no longer synchronizable.
    case changed = 1
    /// It exists again after it was deleted.
    case returned = 2
    case deleted = 3
    /// It was deleted here because another device deleted it.
    case deletedElsewhere = 4
    /// It was neither changed nor deleted: it was damaged, or the database is an earlier one.
    case lost = 5
}

/// An item whose status the ledger needs to know.
package struct ItemStatusQuery: Hashable, Sendable {
    package let item: [UInt8]
    /// When the item was changed, as far as the ledger knows.
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
        /// The identity of the item here; nil if it never existed here.
        package var item: [UInt8]?
        /// When the item was changed, as its row here says or last said. A row with this date but another mark was only encrypted again.
        /// For a deleted item that never existed here, when this device learned of the deletion.
        package var changed: Int64
        /// Whether the change must still be written for the other devices.
        package var isPending: Bool
        /// Whether this device made the change and has not written it yet. A change that is only written again is pending, and not unsent.
        package var isUnsent: Bool
        /// Of a change by this device: the latest change of the item by another device that this one had read before, or has reported as a
        /// conflict since; the change's own stamp, or a later one, if this device no longer knows. Nil if there is none.
        package var base: SyncStamp?
        /// The last versions of the item that this device took or sent; none if it does not know them any more.
        package var versions: [SyncedVersion]

        package init(
            stamp: SyncStamp, mark: [UInt8]?, item: [UInt8]?, changed: Int64, isPending: Bool, isUnsent: Bool = false,
            base: SyncStamp? = nil, versions: [SyncedVersion] = []
        ) {
            self.stamp = stamp
            self.mark = mark
            self.item = item
            self.changed = changed
            self.isPending = isPending
            self.isUnsent = isUnsent
            self.base = base
            self.versions = versions
        }
    }

    package enum Decision: Hashable, Sendable {
        /// The change is newer than the item here, and replaces it.
        case take
        /// The item here is newer. The writer of the older change keeps its value in the history once it reads the newer one.
        case keep
        /// The change is already known.
        case known
    }

    package let device: [UInt8]
    package internal(set) var entries: [[UInt8]: Entry]

    package init(device: [UInt8], entries: [[UInt8]: Entry] = [:]) {
        self.device = device
        self.entries = entries
    }

    // MARK: What changed here

    /// What an examination of the rows found, apart from changes.
    package struct Findings: Hashable, Sendable {
        /// Whether the other devices' files must be read again.
        package internal(set) var mustReread: Bool
        /// Whether items were lost here, or put back to an earlier state.
        package internal(set) var hasLosses: Bool

        init(isEarlier: Bool) { (mustReread, hasLosses) = (isEarlier, isEarlier) }

        mutating func noteEarlierRow() { (mustReread, hasLosses) = (true, true) }

        /// Notes that an item is gone.
        mutating func noteLoss(_ status: ItemStatus, isEarlier: Bool) {
            mustReread = true
            // An item that a killed run deleted on another device's behalf is not lost.
            if isEarlier || status == .lost { hasLosses = true }
        }
    }

    /// The items whose status `stamp` needs to know: items that have disappeared from the rows, or reappeared.
    package func statusQueries(_ rows: [SyncedRow]) -> [ItemStatusQuery] {
        let there = Dictionary(rows.map { ($0.item, $0.name) }) { first, _ in first }
        return entries.compactMap { name, entry in
            guard let item = entry.item, (there[item] == name) == (entry.mark == nil) else { return nil }
            return ItemStatusQuery(item: item, changed: entry.changed)
        }
    }

    /// Stamps what has changed on this device since the last call: rows that are new or changed, and deleted items. An item that was lost,
    /// or put back to an earlier state, does not count as changed: the ledger forgets what it knew about it, so that the circle's value is
    /// taken again. Returns whether everything must be read again for that, and whether the user lost something.
    /// - Parameter isEarlier: Whether the keychain's database is known to be an earlier one, so that missing items do not count as deleted.
    package mutating func stamp(_ rows: [SyncedRow], _ statuses: [[UInt8]: ItemStatus], isEarlier: Bool = false, now: Int64) -> Findings {
        var found = Findings(isEarlier: isEarlier)
        var gone = Set(entries.filter { $0.value.mark != nil }.keys)
        for row in rows {
            gone.remove(row.name)
            switch state(of: row, statuses, isEarlier: isEarlier) {
            case .same: entries[row.name]?.mark = row.mark
            case .earlier:
                found.noteEarlierRow()
                forget(row.name, as: row)
            case .changed:
                entries[row.name] = Entry(
                    stamp: .change(at: row.changed, after: entries[row.name]?.stamp, by: device), mark: row.mark, item: row.item,
                    changed: row.changed, isPending: true, isUnsent: true, base: base(of: row.name), versions: versions(of: row.name))
            }
        }
        for name in gone {
            guard let entry = entries[name] else { continue }
            let status = entry.item.flatMap { statuses[$0] } ?? .lost
            if isEarlier || status == .lost || status == .deletedElsewhere {
                // A run that ended after it carried out another device's deletion may not have noted that.
                found.noteLoss(status, isEarlier: isEarlier)
                entries[name] = nil
            } else {
                entries[name] = Entry(
                    stamp: .change(at: now, after: entry.stamp, by: device), mark: nil, item: entry.item, changed: entry.changed,
                    isPending: true, isUnsent: true, base: base(of: name))
            }
        }
        return found
    }

    /// Stamps which of some items this device added or changed, and returns their names. Stamps nothing and returns nil if all rows must be
    /// examined: an item was deleted, renamed or put back to an earlier state, or its stamp is ahead of its date.
    /// - Parameter rows: The rows of those items that exist here.
    package mutating func stamp(only rows: [SyncedRow], of items: [[UInt8]]) -> [[UInt8]]? {
        let rest = Set(items).subtracting(rows.filter { entries[$0.name]?.item == $0.item }.map(\.item))
        // None of the other items may be known, or have been known, under another name.
        guard rest.isEmpty || !entries.values.contains(where: { $0.item.map(rest.contains) == true }) else { return nil }
        let states = rows.map { (row: $0, state: state(of: $0, [:], isEarlier: false)) }
        // If the row's date alone decides the stamp, a run that does not know of this one computes the same stamp.
        let isSimple = states.allSatisfy { row, state in
            guard let entry = entries[row.name] else { return state == .changed }
            return entry.mark != nil && (state == .same || (state == .changed && entry.stamp.time < row.changed))
        }
        guard isSimple else { return nil }
        for (row, state) in states {
            if state == .changed {
                entries[row.name] = Entry(
                    stamp: .change(at: row.changed, after: entries[row.name]?.stamp, by: device), mark: row.mark, item: row.item,
                    changed: row.changed, isPending: true, isUnsent: true, base: base(of: row.name), versions: versions(of: row.name))
            } else {
                entries[row.name]?.mark = row.mark
            }
        }
        return states.filter { $0.state == .changed }.map(\.row.name)
    }

    private enum RowState { case same, changed, earlier }

    private func state(of row: SyncedRow, _ statuses: [[UInt8]: ItemStatus], isEarlier: Bool) -> RowState {
        guard let entry = entries[row.name] else { return .changed }
        if entry.mark == row.mark { return .same }
        // Dates cannot show what was changed after the copy was put back, since clocks differ. The history keeps what is replaced.
        if isEarlier { return .earlier }
        let isOfSameItem = entry.item == row.item
        let isLater = row.changed > entry.changed
        // A deleted item that never was here: a row with an earlier date came from a backup.
        if entry.item == nil { return isLater ? .changed : .earlier }
        guard entry.mark != nil else { return isOfSameItem && statuses[row.item] != .returned && !isLater ? .earlier : .changed }
        guard isOfSameItem else { return entry.item.map { statuses[$0] == .lost } == true && !isLater ? .earlier : .changed }
        if entry.changed == row.changed { return .same }
        return isLater ? .changed : .earlier
    }

    /// Lets the circle's newer value win over a row that was put back to an earlier state. The row is still sent if its earlier value was
    /// never sent.
    private mutating func forget(_ name: [UInt8], as row: SyncedRow) {
        guard let entry = entries[name] else { return }
        let time = max(min(row.changed, entry.stamp.time - 1), SyncStamp.times.lowerBound)
        entries[name] = Entry(
            stamp: SyncStamp(time: time, device: device), mark: row.mark, item: row.item, changed: row.changed, isPending: entry.isPending,
            base: entry.stamp)
    }

    /// Returns the stamp of the last change of an item by another device, as far as this device knows.
    private func base(of name: [UInt8]) -> SyncStamp? {
        entries[name].flatMap { $0.stamp.device == device ? $0.base : $0.stamp }
    }

    // MARK: What others changed

    /// Returns what to do with a change that another device wrote.
    package func decision(on name: [UInt8], _ incoming: SyncStamp) -> Decision {
        guard let known = entries[name]?.stamp else { return .take }
        return known == incoming ? .known : known < incoming ? .take : .keep
    }

    /// Records that a change by another device is now in a row here.
    /// - Parameter version: The version of the item that it is; nil if that is not known.
    package mutating func take(_ row: SyncedRow, _ incoming: SyncStamp, noting version: SyncedVersion? = nil) {
        let known = entries[row.name].flatMap { $0.mark == nil ? nil : $0.versions(with: version) }
        entries[row.name] = Entry(
            stamp: incoming, mark: row.mark, item: row.item, changed: row.changed, isPending: false, base: forgottenBase(incoming),
            versions: known ?? version.map { [$0] } ?? [])
    }

    /// Records that a deletion by another device was carried out here. An item added under this name from now on has a later date than
    /// `now`, and an item restored from a backup does not; both dates are by this device's clock.
    /// - Parameter changed: When the deleted item was changed, as the device that deleted it says.
    package mutating func takeDeletion(of name: [UInt8], _ incoming: SyncStamp, changed: Int64 = .min, now: Int64) {
        let known = entries[name].flatMap { entry in entry.item.map { (item: $0, changed: max(entry.changed, changed)) } }
        entries[name] = Entry(
            stamp: incoming, mark: nil, item: known?.item, changed: known?.changed ?? now, isPending: false, base: forgottenBase(incoming))
    }

    /// Returns the base of a change by this device that it reads back from its own files, since it no longer knows what it had read before;
    /// nil for other changes.
    private func forgottenBase(_ incoming: SyncStamp) -> SyncStamp? { incoming.device == device ? incoming : nil }

    // MARK: What is written for others

    /// The names of the changes to write, ordered by stamp.
    package var pending: [[UInt8]] {
        entries.filter(\.value.isPending).sorted { first, second in
            let (one, other) = (first.value.stamp, second.value.stamp)
            return one == other ? first.key.lexicographicallyPrecedes(second.key) : one < other
        }.map(\.key)
    }

    /// Records that a change was written for the other devices, unless the item has changed since.
    /// - Parameter version: The version of the item that was written; nil if that is not known.
    package mutating func markWritten(_ name: [UInt8], _ stamp: SyncStamp, noting version: SyncedVersion? = nil) {
        guard let entry = entries[name], entry.stamp == stamp else { return }
        entries[name]?.isPending = false
        entries[name]?.isUnsent = false
        // A change of another device, or one that is written again, is noted already, with the file that had it first.
        guard stamp.device == device, !entry.versions.contains(where: { $0.stamp == stamp }) else { return }
        entries[name]?.versions = entry.mark == nil ? [] : entry.versions(with: version)
    }

    /// Marks everything to be written again with its original stamps, for devices that will not read the original writers.
    package mutating func repeatAll() { for name in entries.keys { entries[name]?.isPending = true } }

    /// Marks the changes of removed devices to be written again, since some members may not have read them. This includes devices removed
    /// earlier: perhaps only the device that is removed now had written their changes again.
    package mutating func repeatChanges(ofOthersThan members: Set<[UInt8]>) {
        for (name, entry) in entries where !members.contains(entry.stamp.device) { entries[name]?.isPending = true }
    }
}

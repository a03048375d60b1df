// A member's record of the files that the members write for one companion, from which the changes that it must write itself follow by a
// pure function (Specs/sync.md, "A companion"). Names and stamps are the circle's, until an item that was taken off the list returns to it.

/// The newest change of every item in one companion's files.
package struct CompanionLedger: Hashable, Sendable {
    package struct Entry: Hashable, Sendable {
        package let stamp: SyncStamp
        /// The time of the item's stamp in the circle, as the writer recorded it. `stamp` may be later if the item was disallowed before.
        package let circleTime: Int64
        /// Whether the change adds or replaces the item; false if it deletes it.
        package let isItem: Bool
        /// The member that wrote the change.
        package let writer: [UInt8]

        package init(stamp: SyncStamp, circleTime: Int64, isItem: Bool, writer: [UInt8]) {
            self.stamp = stamp
            self.circleTime = circleTime
            self.isItem = isItem
            self.writer = writer
        }
    }

    package private(set) var entries: [[UInt8]: Entry]

    package init(entries: [[UInt8]: Entry] = [:]) { self.entries = entries }

    /// Adds a change from the files. Returns false and ignores the change if its date is too far in the future, since no change could then
    /// be later.
    @discardableResult package mutating func note(_ name: [UInt8], _ entry: Entry, now: Int64) -> Bool {
        guard !SyncStamp.isTooFarAhead(max(entry.stamp.time, entry.circleTime), now: now) else { return false }
        if let known = entries[name], !(known.stamp < entry.stamp) { return true }
        entries[name] = entry
        return true
    }

    /// Returns the changes that `device` must write, ordered by stamp: items on the list that differ in the files or are missing there,
    /// items that must no longer be there, and whatever only removed members have written.
    package func due(
        for list: BlindedNames, from ledger: SyncLedger, by device: [UInt8], members: Set<[UInt8]>, now: Int64
    ) -> [(name: [UInt8], entry: Entry)] {
        var due: [(name: [UInt8], entry: Entry)] = []
        // No device accepts a change whose date is too far in the future, so postpone it.
        let items = ledger.entries.filter { !SyncStamp.isTooFarAhead($0.value.stamp.time, now: now) }
        for name in list.all {
            // An item without an entry in the ledger was lost here, not deleted.
            guard let item = items[name], item.mark != nil else { continue }
            if let known = entries[name], members.contains(known.writer) {
                // A later time belongs to a change that this member has not read yet. The items' own dates do not show this: an item that
                // was deleted and added again, or restored, may have an earlier one.
                if known.circleTime > item.stamp.time { continue }
                if known.isItem, known.circleTime == item.stamp.time, !(known.stamp < item.stamp) { continue }
            }
            due.append((name, change(of: name, to: item, isItem: true, by: device, now: now)))
        }
        for (name, known) in entries {
            let item = items[name]
            guard !list.contains(name) || item.map({ $0.mark == nil }) ?? false else { continue }
            if members.contains(known.writer) {
                if !known.isItem { continue }
                // A change that this member has not read yet added the item again.
                if list.contains(name), let item, known.circleTime > item.stamp.time { continue }
            }
            due.append((name, change(of: name, to: item, isItem: false, by: device, now: now)))
        }
        return due.sorted { first, second in
            let (one, other) = (first.entry.stamp, second.entry.stamp)
            return one == other ? first.name.lexicographicallyPrecedes(second.name) : one < other
        }
    }

    /// Returns the change with the circle's stamp if the companion will accept that, and otherwise with a stamp after the last one.
    private func change(
        of name: [UInt8], to item: SyncLedger.Entry?, isItem: Bool, by device: [UInt8], now: Int64
    ) -> Entry {
        let known = entries[name]
        let circleTime = item?.stamp.time ?? known?.circleTime ?? .min
        let isOfCircle = item.map { ($0.mark != nil) == isItem } ?? false
        if let item, isOfCircle, known.map({ $0.stamp < item.stamp }) ?? true {
            return Entry(stamp: item.stamp, circleTime: circleTime, isItem: isItem, writer: device)
        }
        let stamp = SyncStamp.change(at: now, after: known?.stamp, by: device)
        return Entry(stamp: stamp, circleTime: circleTime, isItem: isItem, writer: device)
    }
}

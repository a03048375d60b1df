// What a member knows of the files that the members write for one companion, and what it must write itself: a pure function (Specs/sync.md,
// "A companion"). The names and the stamps are those of the circle, until an item that was taken off the list comes back.

/// The newest change of every item in the files for one companion.
package struct CompanionLedger: Hashable, Sendable {
    package struct Entry: Hashable, Sendable {
        package let stamp: SyncStamp
        /// The time of the circle's stamp that the item has for the writer. `stamp` may be later, after an item was disallowed.
        package let circleTime: Int64
        /// Whether the change puts the item there; false if it deletes it.
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

    /// Notes a change that is in the files. Returns false if it is dated too far ahead: it is ignored, since no change would be later.
    @discardableResult package mutating func note(_ name: [UInt8], _ entry: Entry, now: Int64) -> Bool {
        guard !SyncStamp.isTooFarAhead(max(entry.stamp.time, entry.circleTime), now: now) else { return false }
        if let known = entries[name], !(known.stamp < entry.stamp) { return true }
        entries[name] = entry
        return true
    }

    /// Returns the changes that `device` must write, in the order of their stamps: items of the list that are not there as they are here,
    /// items that must not be there any more, and what only members that were removed have written.
    package func due(
        for list: BlindedNames, from ledger: SyncLedger, by device: [UInt8], members: Set<[UInt8]>, now: Int64
    ) -> [(name: [UInt8], entry: Entry)] {
        var due: [(name: [UInt8], entry: Entry)] = []
        // A change here that is dated too far ahead is taken by nobody, and waits.
        let items = ledger.entries.filter { !SyncStamp.isTooFarAhead($0.value.stamp.time, now: now) }
        for name in list.all {
            // An item that the ledger does not know was lost here, and is no deletion.
            guard let item = items[name], item.mark != nil else { continue }
            if let known = entries[name], members.contains(known.writer) {
                // A later time is that of a change which this member has not read yet. Dates of items do not tell: an item that was deleted
                // and made again, or restored, may have an earlier one.
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
                // The item was made again by a change which this member has not read yet.
                if list.contains(name), let item, known.circleTime > item.stamp.time { continue }
            }
            due.append((name, change(of: name, to: item, isItem: false, by: device, now: now)))
        }
        return due.sorted { first, second in
            let (one, other) = (first.entry.stamp, second.entry.stamp)
            return one == other ? first.name.lexicographicallyPrecedes(second.name) : one < other
        }
    }

    /// Returns the change with the circle's stamp if the companion takes it with that, and otherwise with one after the last.
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

// What a device knows of the synchronized items, and how it merges what others wrote: a pure function, without files, keys or clocks
// (Specs/sync.md, "Merging").

/// An item on this device, as the ledger compares it.
package struct SyncedRow: Hashable, Sendable {
    /// The blinded name, equal on all devices of a circle.
    package let name: [UInt8]
    /// Changes with every write of the row.
    package let mark: [UInt8]
    /// When the item was changed; microseconds since the reference date.
    package let changed: Int64

    package init(name: [UInt8], mark: [UInt8], changed: Int64) {
        self.name = name
        self.mark = mark
        self.changed = changed
    }
}

/// The newest change of every item that the device knows of, deletions included.
package struct SyncLedger: Hashable, Sendable {
    package struct Entry: Hashable, Sendable {
        package var stamp: SyncStamp
        /// The mark of the item's row here; nil if the item is deleted.
        package var mark: [UInt8]?
        /// When the item was changed, as its row says. A row with this date but another mark was only encrypted again.
        package var changed: Int64
        /// Whether the change must still be written for the other devices.
        package var isPending: Bool

        package init(stamp: SyncStamp, mark: [UInt8]?, changed: Int64, isPending: Bool) {
            self.stamp = stamp
            self.mark = mark
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
    package private(set) var entries: [[UInt8]: Entry]

    package init(device: [UInt8], entries: [[UInt8]: Entry] = [:]) {
        self.device = device
        self.entries = entries
    }

    /// Stamps what this device changed since it last did this: rows that are new or have another mark, and items that are gone.
    package mutating func stamp(_ rows: [SyncedRow], now: Int64) {
        var gone = Set(entries.filter { $0.value.mark != nil }.keys)
        for row in rows {
            gone.remove(row.name)
            let entry = entries[row.name]
            if let entry, entry.mark != nil, entry.mark == row.mark || entry.changed == row.changed {
                entries[row.name]?.mark = row.mark
                continue
            }
            entries[row.name] = Entry(
                stamp: .change(at: row.changed, after: entry?.stamp, by: device), mark: row.mark, changed: row.changed, isPending: true)
        }
        for name in gone {
            entries[name] = Entry(
                stamp: .change(at: now, after: entries[name]?.stamp, by: device), mark: nil, changed: now, isPending: true)
        }
    }

    /// Decides about a change that another device wrote.
    package func decision(on name: [UInt8], _ incoming: SyncStamp) -> Decision {
        guard let known = entries[name]?.stamp else { return .take }
        return known == incoming ? .known : known < incoming ? .take : .keep
    }

    /// Records that a change of another device is in place here.
    package mutating func take(_ name: [UInt8], _ incoming: SyncStamp, mark: [UInt8]?, changed: Int64) {
        entries[name] = Entry(stamp: incoming, mark: mark, changed: changed, isPending: false)
    }

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
}

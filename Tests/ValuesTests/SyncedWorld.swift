// Three devices whose clocks disagree, and what they deliver to each other.

import Testing
import VaubanSyncModel

/// One change as written for the other devices.
struct SyncedChange {
    let name: [UInt8]
    let stamp: SyncStamp
    let changed: Int64
    let value: Int?
}

/// The values that a device keeps of items as they were, as many as the product keeps: the last ten of an item, and the last ten deleted
/// ones of a name.
struct SyncedHistory {
    private var earlier: [[UInt8]: [Int]] = [:]
    private var deleted: [[UInt8]: [Int]] = [:]
    /// The values that ten later ones have displaced.
    private(set) var displaced: Set<Int> = []

    var values: Set<Int> { Set(earlier.values.joined()).union(deleted.values.joined()) }

    mutating func keep(_ value: Int, of item: [UInt8]) {
        if let old = Self.add(value, to: &earlier[item, default: []]) { displaced.insert(old) }
    }

    mutating func keepDeleted(_ value: Int, named name: [UInt8]) {
        if let old = Self.add(value, to: &deleted[name, default: []]) { displaced.insert(old) }
    }

    /// Returns the value that is displaced.
    private static func add(_ value: Int, to kept: inout [Int]) -> Int? {
        kept.append(value)
        return kept.count > valuesMax ? kept.removeFirst() : nil
    }

    private static let valuesMax = 10
}

/// One device: its ledger, its items, and the values in its history.
struct SyncedDevice {
    struct Item {
        var value: Int
        var mark: [UInt8]
        var item: [UInt8]
        var changed: Int64
    }

    enum Tombstone { case deleted, returned, deletedElsewhere }

    /// The contents of the keychain, which a rollback restores.
    struct Keychain {
        var items: [[UInt8]: Item] = [:]
        var tombstones: [[UInt8]: Tombstone] = [:]
        /// How many times the items were listed.
        var lists = 0
        var deleted: [[UInt8]: Item] = [:]
    }

    var ledger: SyncLedger
    var keychain = Keychain()
    var history = SyncedHistory()
    /// What the user was told.
    private(set) var conflicts: [SyncConflict] = []
    var lists = 0
    private var isSilent = false
    /// Whether a change made here with knowledge of another change was stamped as the earlier one.
    private(set) var losesToKnown = false
    var log: [SyncedChange] = []
    /// The error of the device's clock, in microseconds.
    let skew: Int64
    private var writes: UInt16 = 0

    init(_ number: UInt8, skew: Int64) { self.init(device: [UInt8](repeating: number, count: 16), skew: skew) }

    /// - Parameter device: 16 bytes, whose first 14 are unique.
    init(device: [UInt8], skew: Int64) {
        ledger = SyncLedger(device: device)
        self.skew = skew
    }

    private mutating func nextMark() -> [UInt8] {
        writes += 1
        return ledger.device.prefix(14) + [UInt8(writes >> 8), UInt8(writes & 255)]
    }

    var items: [[UInt8]: Item] { keychain.items }

    mutating func write(_ name: [UInt8], _ value: Int, at time: Int64) {
        let before = items[name]
        if let before { history.keep(before.value, of: before.item) }
        let mark = nextMark()
        let changed = max(time + skew, (before?.changed ?? .min) + 1)
        keychain.items[name] = Item(value: value, mark: mark, item: before?.item ?? mark, changed: changed)
    }

    /// Changes only attributes.
    mutating func edit(_ name: [UInt8], at time: Int64) {
        guard let before = items[name] else { return }
        let mark = nextMark()
        let changed = max(time + skew, before.changed + 1)
        keychain.items[name] = Item(value: before.value, mark: mark, item: before.item, changed: changed)
    }

    mutating func delete(_ name: [UInt8]) {
        guard let before = keychain.items.removeValue(forKey: name) else { return }
        history.keepDeleted(before.value, named: name)
        keychain.tombstones[before.item] = isSilent ? .deletedElsewhere : .deleted
        keychain.deleted[name] = before
    }

    /// Brings a deleted item back from the history, unchanged.
    mutating func undelete(_ name: [UInt8]) {
        guard items[name] == nil, let before = keychain.deleted.removeValue(forKey: name) else { return }
        keychain.items[name] = before
        keychain.tombstones[before.item] = .returned
    }

    /// Restores an item from a backup, unless one with this name exists.
    mutating func restore(_ name: [UInt8], _ copy: Item) {
        guard items[name] == nil else { return }
        let mark = nextMark()
        // Items have one identity on all devices, unlike here.
        let item = ledger.entries[name]?.item ?? mark
        keychain.items[name] = Item(value: copy.value, mark: mark, item: item, changed: copy.changed)
        keychain.tombstones[item] = keychain.tombstones[item].map { $0 == .deletedElsewhere ? $0 : .returned }
    }

    /// Loses an item to a damaged page.
    mutating func lose(_ name: [UInt8]) { keychain.items[name] = nil }

    /// Encrypts every row again, as happens with new class keys.
    mutating func rewrap() {
        for name in items.keys {
            let mark = nextMark()
            keychain.items[name]?.mark = mark
        }
    }

    private func itemStatus(_ query: ItemStatusQuery) -> ItemStatus {
        let tombstone = keychain.tombstones[query.item]
        if let there = items.values.first(where: { $0.item == query.item }) {
            return tombstone == .returned ? .returned : there.changed > query.changed ? .changed : .lost
        }
        switch tombstone {
        case .deleted: return .deleted
        case .deletedElsewhere: return .deletedElsewhere
        case .returned, nil: return .lost
        }
    }

    mutating func stamp(at time: Int64) {
        let isEarlier = keychain.lists < lists
        keychain.lists += 1
        lists = keychain.lists
        let rows = items.map { SyncedRow(name: $0.key, mark: $0.value.mark, item: $0.value.item, changed: $0.value.changed) }
        let statuses = Dictionary(ledger.statusQueries(rows).map { ($0.item, itemStatus($0)) }) { first, _ in first }
        let known = ledger.entries
        guard !ledger.stamp(rows, statuses, isEarlier: isEarlier, now: time + skew).mustReread else { return }
        if known.contains(where: { name, before in ledger.entries[name].map { $0.stamp < before.stamp } ?? true }) { losesToKnown = true }
    }

    mutating func rename(_ name: [UInt8], to other: [UInt8], at time: Int64) {
        guard items[other] == nil, var item = keychain.items.removeValue(forKey: name) else { return }
        item.mark = nextMark()
        item.changed = max(time + skew, item.changed + 1)
        keychain.items[other] = item
    }

    /// Whether the next run would write something, judging by the items.
    var hasNews: Bool {
        var copy = self
        copy.stamp(at: 0)
        return !copy.ledger.pending.isEmpty
    }

    /// One run of a device: it lists and stamps once, reads what was delivered, lists again if that changed anything here, and writes what
    /// is pending.
    mutating func run(reading changes: [SyncedChange], at time: Int64) {
        stamp(at: time)
        let taken = changes.count { takes($0, at: time) }
        if taken > 0 {
            keychain.lists += 1
            lists = keychain.lists
        }
        writePending()
    }

    mutating func publish(at time: Int64) {
        stamp(at: time)
        writePending()
    }

    private mutating func writePending() {
        for name in ledger.pending {
            guard let entry = ledger.entries[name] else { continue }
            log.append(SyncedChange(name: name, stamp: entry.stamp, changed: entry.changed, value: items[name]?.value))
            ledger.markWritten(name, entry.stamp)
        }
    }

    mutating func read(_ change: SyncedChange, at time: Int64, isKilled: Bool = false) {
        stamp(at: time)
        takes(change, at: time, isKilled: isKilled)
    }

    /// Merges a change. Returns whether it was newer than the item here.
    @discardableResult
    private mutating func takes(_ change: SyncedChange, at time: Int64, isKilled: Bool = false) -> Bool {
        let conflict = ledger.noteConflict(on: change.name, change.stamp, changed: change.changed, isItem: change.value != nil)
        if let conflict { conflicts.append(conflict) }
        guard ledger.decision(on: change.name, change.stamp) == .take else { return false }
        let before = items[change.name]
        guard let value = change.value else {
            isSilent = true
            delete(change.name)
            isSilent = false
            // A run that is killed here has not noted the change.
            if !isKilled { ledger.takeDeletion(of: change.name, change.stamp, changed: change.changed, now: time + skew) }
            return true
        }
        // As in keychaind, a change of attributes alone keeps nothing.
        if let before, before.value != value { history.keep(before.value, of: before.item) }
        let mark = nextMark()
        let item = Item(value: value, mark: mark, item: before?.item ?? mark, changed: change.changed)
        keychain.items[change.name] = item
        keychain.tombstones[item.item] = keychain.tombstones[item.item].map { _ in .returned }
        if !isKilled { ledger.take(SyncedRow(name: change.name, mark: mark, item: item.item, changed: change.changed), change.stamp) }
        return true
    }
}

struct SyncedWorld {
    var devices = [SyncedDevice(3, skew: 0), SyncedDevice(1, skew: 31_536_000_000_000), SyncedDevice(2, skew: -1_000_000)]
    var time: Int64 = 1000
    var values = 0

    enum Step: CaseIterable { case write, delete, undelete, rename, exchange }

    mutating func take(_ step: Step, by number: Int, on name: [UInt8] = [1]) {
        time += 10
        switch step {
        case .write:
            values += 1
            devices[number].write(name, values, at: time)
        case .delete: devices[number].delete(name)
        case .undelete: devices[number].undelete(name)
        case .rename: devices[number].rename(name, to: Self.newName(of: name), at: time)
        case .exchange: devices[number].run(reading: logs(besides: number).flatMap { $0 }, at: time)
        }
    }

    static func newName(of name: [UInt8]) -> [UInt8] { [name[0] % 4 + 1] }

    /// What the other devices wrote.
    func logs(besides number: Int) -> [[SyncedChange]] { devices.indices.filter { $0 != number }.map { devices[$0].log } }

    /// Delivers everything to every device, in the order of `arrange`, until nothing is left to write.
    mutating func exchangeAll(_ arrange: ([SyncedChange]) -> [SyncedChange]) {
        for _ in 0..<3 {
            for number in devices.indices { devices[number].publish(at: time) }
            let all = devices.flatMap(\.log)
            for number in devices.indices { devices[number].run(reading: arrange(all), at: time) }
        }
    }

    func check(_ what: String) { if let fault { Issue.record("\(what): \(fault)") } }

    /// A description of how the devices differ or which values are lost; nil if all is well.
    var fault: String? {
        let newest = Dictionary(grouping: devices.flatMap(\.log), by: \.name).compactMapValues { $0.max { $0.stamp < $1.stamp } }
        for device in devices {
            if device.losesToKnown { return "device \(device.ledger.device[0]) stamped a change before one that it knew" }
            for (name, change) in newest where device.items[name]?.value != change.value {
                return "device \(device.ledger.device[0]) has another value of \(name)"
            }
            if device.items.keys.contains(where: { newest[$0] == nil }) {
                return "device \(device.ledger.device[0]) has more than the newest"
            }
        }
        let known = devices.reduce(into: Set<Int>()) {
            $0.formUnion($1.history.values); $0.formUnion($1.history.displaced); $0.formUnion($1.items.values.map(\.value))
        }
        return known == Set(1..<(values + 1)) ? nil : "a value is lost"
    }
}

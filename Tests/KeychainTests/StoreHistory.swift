// A sequence of operations on a store, made from a seed, with a model of it: after each operation the model determines what must exist, and
// what an unacknowledged operation may have left.

import Foundation
import KeychainStore
import SimulatedHost
import Testing
import VaubanLinuxHost

/// Everything that a store contains, without SQLite's row numbers.
struct StoreContent: Hashable {
    struct Entry: Hashable {
        let row: StoredRow
        let lookups: Set<[UInt8]>
    }

    /// An earlier value or a deleted item.
    struct Past: Hashable {
        let place: RowPlace
        let row: StoredRow
    }

    var rows: [[UInt8]: Entry] = [:]
    /// The oldest first.
    var past: [Past] = []
    var aside: [[UInt8]: StoredRow] = [:]
    var indexKeys: [Int64: [UInt8]] = [:]

    init() {}

    init(of database: KeychainDatabase) throws {
        for row in try database.rows(after: 0, count: .max, bytesMax: .max) {
            rows[row.item] = Entry(row: row.plain, lookups: try database.lookups(of: row.id))
        }
        for row in try database.quarantinedRows(after: 0, count: .max, bytesMax: .max) { aside[row.item] = row.plain }
        past = try database.historyRows(after: 0, count: .max, bytesMax: .max).map { Past(place: $0.place, row: $0.plain) }
        indexKeys = try database.indexKeyGenerations()
    }

    fileprivate mutating func forgetEarlier(of item: [UInt8]) { past.removeAll { $0.place == .earlier && $0.row.item == item } }

    /// Returns whether an item is kept as a deleted one, in a row of another generation.
    fileprivate func keepsDeleted(_ item: [UInt8], besides gone: (protection: Int64, generation: [UInt8])) -> Bool {
        past.contains {
            $0.place == .deleted && $0.row.item == item && ($0.row.protection, $0.row.generation) != (gone.protection, gone.generation)
        }
    }

    fileprivate mutating func keepEarlier(_ row: StoredRow) {
        past.append(Past(place: .earlier, row: row.plain))
        while past.count(where: { $0.place == .earlier && $0.row.item == row.item }) > HistoryLimits.valuesMax {
            guard let oldest = past.firstIndex(where: { $0.place == .earlier && $0.row.item == row.item }) else { return }
            past.remove(at: oldest)
        }
    }
}

extension StoredRow {
    /// The row without its number.
    fileprivate var plain: StoredRow {
        let device = blinds.device.map { DeviceBlinds(primary: $0.primary, list: $0.list, lookups: []) }
        return StoredRow(
            item: item, kind: kind, protection: protection, generation: generation,
            blinds: RowBlinds(primary: blinds.primary, list: blinds.list, lookups: [], device: device), halves: halves)
    }

    fileprivate var entry: StoreContent.Entry {
        StoreContent.Entry(row: plain, lookups: Set(blinds.lookups + (blinds.device?.lookups ?? [])))
    }
}

final class StoreHistory {
    struct Step {
        let name: String
        /// The disk's operations that belong to this step.
        let range: Range<Int>
        let before: StoreContent
        let after: StoreContent
        let isAcknowledged: Bool
    }

    let disk: RecordedDisk
    private(set) var steps: [Step] = []
    private var database: KeychainDatabase
    private var content = StoreContent()
    private var chance: SplitMix64

    /// - Parameter fullDisk: Whether the disk occasionally refuses writes.
    init(seed: UInt64, steps count: Int, fullDisk: Bool) throws {
        chance = SplitMix64(seed: seed)
        let folder = try RecordedDisk.makeFolder()
        let made = try KeychainDatabase(folder: folder)
        try made.close()
        disk = try RecordedDisk(folder)
        database = try KeychainDatabase(folder: folder)
        for _ in 0..<count {
            if fullDisk, chance.below(4) == 0 { disk.fail(after: chance.below(12), for: 1 + chance.below(3)) }
            try step()
            disk.fail(after: 0, for: 0)
        }
    }

    deinit {
        try? database.close()
        try? FileManager.default.removeItem(atPath: disk.folder.path)
    }

    /// Returns the contents that may exist after an end at this moment.
    func allowed(after count: Int) -> [StoreContent] {
        let acknowledged = steps.lastIndex { $0.isAcknowledged && $0.range.upperBound <= count }
        let begun = steps[(acknowledged.map { $0 + 1 } ?? 0)...].prefix { $0.range.lowerBound < count }
        return [acknowledged.map { steps[$0].after } ?? StoreContent()] + begun.map(\.after)
    }

    // MARK: Steps

    private func step() throws {
        let start = disk.count
        let before = content
        var after = before
        let (name, action) = try plan(&after)
        do {
            try action()
            content = after
        } catch is StorageError {
            // Refused: either later requests see nothing of it, or it took effect and something after it failed.
            disk.fail(after: 0, for: 0)
            if try StoreContent(of: database) == after { content = after }
        }
        let isAcknowledged = content == after
        steps.append(Step(name: name, range: start..<disk.count, before: before, after: after, isAcknowledged: isAcknowledged))
        disk.fail(after: 0, for: 0)
        let isAsTheModelSays = try StoreContent(of: database) == content
        #expect(isAsTheModelSays, "\(name), acknowledged: \(isAcknowledged)")
    }

    /// Chooses the next operation and applies it to the model's content.
    private func plan(_ after: inout StoreContent) throws -> (String, () throws -> Void) {
        let database = database
        let rows = try database.rows(after: 0, count: .max, bytesMax: .max)
        if chance.below(8) == 0, let deleted = try database.deletedRows(after: 0, count: 1).first?.row {
            let blinds = row(item: deleted.item).blinds
            let back = StoredRow(
                item: deleted.item, kind: deleted.kind, protection: deleted.protection, generation: deleted.generation, blinds: blinds,
                halves: deleted.halves)
            after.past.removeAll { $0.place == .deleted && $0.row == deleted.plain }
            after.rows[back.item] = back.entry
            return ("undelete", { guard try database.undelete(deleted, blinds: blinds) == .written else { throw Unexpected() } })
        }
        switch rows.isEmpty ? 0 : chance.below(20) {
        case 0..<6:
            let row = row(item: bytes(16))
            after.rows[row.item] = row.entry
            return ("insert", { guard try database.insert(row) == .written else { throw Unexpected() } })
        case 6..<10:
            let old = some(of: rows)
            let changesBlinds = chance.below(2) == 0
            let isUpdate = chance.below(2) == 0
            let keeps = isUpdate && chance.below(3) > 0
            let past = try database.historyRows(after: 0, count: .max, bytesMax: .max)
            let changes = old.map { old in
                let new = row(item: old.item, like: changesBlinds ? nil : old)
                // As undo does: the earlier value leaves the history.
                let consumed = keeps && chance.below(2) == 0 ? past.last { $0.place == .earlier && $0.item == old.item } : nil
                if let consumed { after.past.removeAll { $0.place == .earlier && $0.row == consumed.plain } }
                if keeps { after.keepEarlier(old) }
                return RowChange(
                    old: old.handle, row: new, changesBlinds: changesBlinds, keeping: keeps ? Self.label : nil, consuming: consumed?.handle)
            }
            for change in changes {
                let lookups = changesBlinds ? change.row.entry.lookups : after.rows[change.row.item]?.lookups ?? []
                after.rows[change.row.item] = StoreContent.Entry(row: change.row.entry.row, lookups: lookups)
            }
            if isUpdate {
                return (
                    keeps ? "update that keeps" : "update", { guard try database.update(changes) == .written else { throw Unexpected() } }
                )
            }
            return ("move", { guard try database.move(changes) == changes.count else { throw Unexpected() } })
        case 10..<13:
            let gone = some(of: rows)
            let keeps = chance.below(2) == 0
            let cause: RowRemoval.Cause = chance.below(2) == 0 ? .user : .otherDevice
            for row in gone {
                after.rows[row.item] = nil
                if !keeps { after.forgetEarlier(of: row.item) }
                if keeps { after.past.append(StoreContent.Past(place: .deleted, row: row.plain)) }
            }
            let removals = gone.map { RowRemoval($0.handle, keeping: keeps ? Self.label : nil, cause: cause) }
            return (keeps ? "delete that keeps" : "delete", { guard try database.delete(removals) else { throw Unexpected() } })
        case 13:
            let row = rows[chance.below(rows.count)]
            after.aside[row.item] = after.rows.removeValue(forKey: row.item)?.row
            return ("quarantine", { guard try database.quarantine(row, .secret, date: 1) else { throw Unexpected() } })
        case 14:
            let generation = bytes(8)
            if after.indexKeys[100] == nil { after.indexKeys[100] = generation }
            return ("index key", { try database.record(indexKey: 100, generation: generation) })
        case 15:
            let (protection, generation) = (rows[0].protection, rows[0].generation)
            after.rows = after.rows.filter { $0.value.row.protection != protection || $0.value.row.generation != generation }
            after.aside = after.aside.filter { $0.value.protection != protection || $0.value.generation != generation }
            let left = after
            after.past = after.past.filter { past in
                (past.row.protection != protection || past.row.generation != generation)
                    && (past.place == .deleted || left.rows[past.row.item] != nil || left.aside[past.row.item] != nil
                        || left.keepsDeleted(past.row.item, besides: (protection, generation)))
            }
            return ("remove a generation", { try database.remove(RowGeneration(protection: protection, generation: generation)) })
        case 16:
            guard let generation = after.indexKeys[100], chance.below(3) == 0 else { fallthrough }
            after = StoreContent()
            return ("empty", { _ = try database.empty(ifIndexKey: 100, is: generation) })
        case 17: return ("move the log", { try database.forgetOldPages() })
        case 18: return ("large insert", try largeInsert(&after))
        default:
            // A restart of keychaind: what is closed is in the file.
            return (
                "reopen",
                {
                    try? database.close()
                    self.disk.fail(after: 0, for: 0)
                    self.database = try KeychainDatabase(folder: self.disk.folder)
                }
            )
        }
    }

    struct Unexpected: Error {}
    private static let label = HistoryLabel(date: 1, owner: "an owner")

    private func largeInsert(_ after: inout StoreContent) throws -> () throws -> Void {
        let row = row(item: bytes(16), secretBytes: 60_000)
        after.rows[row.item] = row.entry
        let database = database
        return { guard try database.insert(row) == .written else { throw Unexpected() } }
    }

    private func some(of rows: [StoredRow]) -> [StoredRow] { Array(rows.shuffled(using: &chance).prefix(1 + chance.below(4))) }

    private func row(item: [UInt8], like old: StoredRow? = nil, secretBytes: Int? = nil) -> StoredRow {
        let isOnDevice = chance.below(3) == 0
        let blinds =
            old?.blinds
            ?? RowBlinds(
                primary: bytes(16), list: bytes(36), lookups: [bytes(16), bytes(16)],
                device: isOnDevice ? DeviceBlinds(primary: bytes(16), list: bytes(36), lookups: [bytes(16)]) : nil)
        let halves = RowHalves(
            secretBinding: bytes(90), wrappedKey: bytes(100), secret: bytes(secretBytes ?? 60 + chance.below(3000)),
            metadataBinding: bytes(90),
            metadata: bytes(120 + chance.below(300)))
        return StoredRow(
            item: item, kind: old?.kind ?? Int64(1 + chance.below(2)), protection: old?.protection ?? 6,
            generation: old?.generation ?? [UInt8](repeating: UInt8(chance.below(3)), count: 8), blinds: blinds, halves: halves)
    }

    private func bytes(_ count: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count + 8)
        while bytes.count < count { withUnsafeBytes(of: chance.next()) { bytes.append(contentsOf: $0) } }
        bytes.removeLast(bytes.count - count)
        return bytes
    }
}

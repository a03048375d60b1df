import Testing
import VaubanSyncModel

/// Stamping the changes of only some items, as light runs do (Specs/sync.md, "Following").
@Suite struct SyncLedgerPartTests {
    private let device = [UInt8](repeating: 1, count: 16)

    private func octets(_ byte: Int) -> [UInt8] { [UInt8](repeating: UInt8(byte), count: 16) }

    private func row(_ item: Int, name: Int? = nil, mark: Int, changed: Int64) -> SyncedRow {
        SyncedRow(name: octets(name ?? item), mark: octets(mark), item: octets(item), changed: changed)
    }

    /// A ledger that knows items 1 and 2, and that item 3 is deleted.
    private func ledger() -> SyncLedger {
        var ledger = SyncLedger(device: device)
        _ = ledger.stamp([row(1, mark: 11, changed: 10), row(2, mark: 12, changed: 10), row(3, mark: 13, changed: 10)], [:], now: 20)
        _ = ledger.stamp([row(1, mark: 11, changed: 10), row(2, mark: 12, changed: 10)], [octets(3): .deleted], now: 20)
        for name in ledger.pending { ledger.markWritten(name, ledger.entries[name]?.stamp ?? SyncStamp(time: 0, device: device)) }
        return ledger
    }

    @Test("Additions and changes get the same stamps as when all rows are examined") func same() {
        let rows = [row(1, mark: 21, changed: 30), row(2, mark: 12, changed: 10), row(4, mark: 24, changed: 31)]
        var (part, whole) = (ledger(), ledger())
        let names = part.stamp(only: [rows[0], rows[2]], of: [octets(1), octets(4)])
        #expect(names.map { Set($0) } == [octets(1), octets(4)])
        let found = whole.stamp(rows, [:], now: 40)
        #expect(!found.mustReread && !found.hasLosses)
        #expect(part == whole)
        #expect(part.pending == [octets(1), octets(4)])
    }

    @Test("An item that a killed run deleted on another device's behalf is read again and not reported as lost") func killedDeletion() {
        var whole = ledger()
        let rest = [row(2, mark: 12, changed: 10)]
        let killed = whole.stamp(rest, [octets(1): .deletedElsewhere], now: 40)
        #expect(killed.mustReread && !killed.hasLosses)
        #expect(whole.entries[octets(1)] == nil && whole.pending.isEmpty)
        var other = ledger()
        let lost = other.stamp(rest, [octets(1): .lost], now: 40)
        #expect(lost.mustReread && lost.hasLosses)
    }

    @Test("A row that was only encrypted again, and an item that is not the circle's, do not count as changes") func nothing() {
        var (part, whole) = (ledger(), ledger())
        let encrypted = row(1, mark: 21, changed: 10)
        let names = part.stamp(only: [encrypted], of: [octets(1), octets(9)])
        #expect(names == [])
        _ = whole.stamp([encrypted, row(2, mark: 12, changed: 10)], [:], now: 40)
        #expect(part == whole)
    }

    @Test(
        "If an item was deleted, renamed, rolled back or added again, nothing is stamped until all rows are examined",
        arguments: [
            ([], [1]),  // deleted
            ([(1, 5, 21, 30)], [1]),  // renamed
            ([(1, 1, 21, 5)], [1]),  // rolled back
            ([(3, 3, 23, 30)], [3]),  // returned
            ([(6, 3, 23, 30)], [6]),  // added again under the name of a deleted one
            ([(6, 1, 21, 30)], [1, 6]),  // another item under the name of one deleted in the meantime
            ([(1, 1, 21, 30)], [1, 2]),  // one changed, another deleted
        ] as [([(item: Int, name: Int, mark: Int, changed: Int64)], [Int])])
    func whole(_ rows: [(item: Int, name: Int, mark: Int, changed: Int64)], _ items: [Int]) {
        var ledger = ledger()
        let before = ledger
        let rows = rows.map { row($0.item, name: $0.name, mark: $0.mark, changed: $0.changed) }
        let names = ledger.stamp(only: rows, of: items.map(octets))
        #expect(names == nil)
        #expect(ledger == before)
    }

    @Test("If a stamp is ahead of its row's date, all rows are examined, since the date does not determine the next stamp") func ahead() {
        var ledger = ledger()
        ledger.take(row(1, mark: 11, changed: 10), SyncStamp(time: 100, device: octets(2)))
        let names = ledger.stamp(only: [row(1, mark: 21, changed: 30)], of: [octets(1)])
        #expect(names == nil)
    }
}

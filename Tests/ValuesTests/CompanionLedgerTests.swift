// What members write for a companion, and what the companion does with it: with changing lists, lost files, and members that write at the
// same time.

import TestSupport
import Testing
import VaubanSyncModel

@Suite("The ledger of a companion")
struct CompanionLedgerTests {
    private static let (one, two) = ([UInt8](repeating: 1, count: 16), [UInt8](repeating: 2, count: 16))
    private static let (bank, mail) = ([UInt8](repeating: 0xB, count: 16), [UInt8](repeating: 0xC, count: 16))
    private static let members: Set<[UInt8]> = [one, two]

    private func list(_ names: [UInt8]...) -> BlindedNames { BlindedNames(names) ?? .empty }

    private func row(_ name: [UInt8], _ changed: Int64) -> SyncedRow {
        let mark = (0..<16).map { $0 < 8 ? UInt8(truncatingIfNeeded: changed >> (8 * $0)) : 0 }
        return SyncedRow(name: name, mark: mark, item: name, changed: changed)
    }

    /// Returns a member's ledger with items that it added at these times.
    private func ledger(_ device: [UInt8], _ items: [[UInt8]: Int64]) -> SyncLedger {
        var ledger = SyncLedger(device: device)
        _ = ledger.stamp(items.map { row($0, $1) }, [:], now: 1000)
        return ledger
    }

    /// Writes the due changes, and has the companion read them.
    @discardableResult private func write(
        _ files: inout CompanionLedger, allowed: BlindedNames, from ledger: SyncLedger, now: Int64, to companion: inout SyncLedger,
        members: Set<[UInt8]> = CompanionLedgerTests.members
    ) -> Int {
        let due = files.due(for: allowed, from: ledger, by: ledger.device, members: members, now: now)
        for (name, entry) in due {
            files.note(name, entry, now: now)
            guard companion.decision(on: name, entry.stamp) == .take else { continue }
            if entry.isItem, let changed = ledger.entries[name]?.changed {
                companion.take(row(name, changed), entry.stamp)
            } else {
                companion.takeDeletion(of: name, entry.stamp, now: now)
            }
        }
        return due.count
    }

    private func items(_ companion: SyncLedger) -> [[UInt8]: Int64] {
        companion.entries.compactMapValues { $0.mark == nil ? nil : $0.changed }
    }

    @Test("A companion has exactly the items on its list, through changes, disallowing, allowing again, and deletions")
    func followsTheList() {
        var (files, companion) = (CompanionLedger(), SyncLedger(device: [9]))
        var here = ledger(Self.one, [Self.bank: 100, Self.mail: 100])
        write(&files, allowed: .empty, from: here, now: 110, to: &companion)
        #expect(items(companion).isEmpty)
        write(&files, allowed: list(Self.bank), from: here, now: 120, to: &companion)
        #expect(items(companion) == [Self.bank: 100])
        #expect(write(&files, allowed: list(Self.bank), from: here, now: 121, to: &companion) == 0)
        _ = here.stamp([row(Self.bank, 130), row(Self.mail, 100)], [:], now: 130)
        write(&files, allowed: list(Self.bank), from: here, now: 130, to: &companion)
        #expect(items(companion) == [Self.bank: 130])
        // The clock of the member that takes it off the list is behind.
        write(&files, allowed: .empty, from: here, now: 5, to: &companion)
        #expect(items(companion).isEmpty)
        write(&files, allowed: list(Self.bank), from: here, now: 6, to: &companion)
        #expect(items(companion) == [Self.bank: 130])
        _ = here.stamp([row(Self.bank, 131), row(Self.mail, 100)], [:], now: 131)
        write(&files, allowed: list(Self.bank), from: here, now: 7, to: &companion)
        #expect(items(companion) == [Self.bank: 131])
        _ = here.stamp([row(Self.mail, 100)], [Self.bank: .deleted], now: 140)
        write(&files, allowed: list(Self.bank), from: here, now: 140, to: &companion)
        #expect(items(companion).isEmpty)
        #expect(write(&files, allowed: list(Self.bank), from: here, now: 141, to: &companion) == 0)
    }

    @Test("An item lost on a member is not deleted on a companion") func lostIsNotDeleted() {
        var (files, companion) = (CompanionLedger(), SyncLedger(device: [9]))
        var here = ledger(Self.one, [Self.bank: 100])
        write(&files, allowed: list(Self.bank), from: here, now: 110, to: &companion)
        _ = here.stamp([], [Self.bank: .lost], now: 120)
        #expect(write(&files, allowed: list(Self.bank), from: here, now: 120, to: &companion) == 0)
        #expect(items(companion) == [Self.bank: 100])
    }

    @Test("A member that has not read another's change does not restore the earlier value") func behindMember() {
        var (files, companion) = (CompanionLedger(), SyncLedger(device: [9]))
        let behind = ledger(Self.one, [Self.bank: 100])
        let ahead = ledger(Self.two, [Self.bank: 200])
        write(&files, allowed: list(Self.bank), from: behind, now: 110, to: &companion)
        write(&files, allowed: list(Self.bank), from: ahead, now: 210, to: &companion)
        #expect(write(&files, allowed: list(Self.bank), from: behind, now: 220, to: &companion) == 0)
        #expect(items(companion) == [Self.bank: 200])
    }

    @Test("An item that was deleted and added again with an earlier date is written, even by a member that had disallowed it")
    func madeAgainEarlier() {
        var (files, companion) = (CompanionLedger(), SyncLedger(device: [9]))
        var here = ledger(Self.one, [Self.bank: 500])
        write(&files, allowed: list(Self.bank), from: here, now: 510, to: &companion)
        _ = here.stamp([], [Self.bank: .deleted], now: 520)
        _ = here.stamp([row(Self.bank, 300)], [Self.bank: .returned], now: 530)
        #expect(write(&files, allowed: list(Self.bank), from: here, now: 530, to: &companion) == 1)
        #expect(items(companion) == [Self.bank: 300])
        #expect(write(&files, allowed: list(Self.bank), from: here, now: 531, to: &companion) == 0)
        // The stamp of an item that is allowed again is ahead of the circle's.
        write(&files, allowed: .empty, from: here, now: 9000, to: &companion)
        write(&files, allowed: list(Self.bank), from: here, now: 9001, to: &companion)
        #expect(items(companion) == [Self.bank: 300])
        _ = here.stamp([], [Self.bank: .deleted], now: 540)
        _ = here.stamp([row(Self.bank, 200)], [Self.bank: .returned], now: 550)
        #expect(write(&files, allowed: list(Self.bank), from: here, now: 551, to: &companion) == 1)
        #expect(items(companion) == [Self.bank: 200])
        #expect(write(&files, allowed: list(Self.bank), from: here, now: 552, to: &companion) == 0)
    }

    /// Reads what another member has read of an item.
    private func read(_ name: [UInt8], of other: SyncLedger, by ledger: inout SyncLedger) {
        guard let entry = other.entries[name], ledger.decision(on: name, entry.stamp) == .take else { return }
        if entry.mark == nil {
            ledger.takeDeletion(of: name, entry.stamp, now: entry.stamp.time)
        } else {
            ledger.take(row(name, entry.changed), entry.stamp)
        }
    }

    @Test("A member that has not read a deletion, or an addition after it, restores nothing, and writes nothing once it has read it")
    func lagsBehind() {
        var (files, companion) = (CompanionLedger(), SyncLedger(device: [9]))
        var ahead = ledger(Self.one, [Self.bank: 500])
        var behind = SyncLedger(device: Self.two)
        read(Self.bank, of: ahead, by: &behind)
        write(&files, allowed: list(Self.bank), from: ahead, now: 510, to: &companion)
        func both(at now: Int64, _ expected: [[UInt8]: Int64], _ comment: Comment) {
            #expect(write(&files, allowed: list(Self.bank), from: ahead, now: now, to: &companion) == 1, comment)
            for _ in 0..<2 {
                #expect(write(&files, allowed: list(Self.bank), from: behind, now: 9000, to: &companion) == 0, comment)
                #expect(write(&files, allowed: list(Self.bank), from: ahead, now: now, to: &companion) == 0, comment)
            }
            #expect(items(companion) == expected, comment)
        }
        _ = ahead.stamp([], [Self.bank: .deleted], now: 520)
        both(at: 520, [:], "deleted")
        let deleted = ahead
        _ = ahead.stamp([row(Self.bank, 300)], [Self.bank: .returned], now: 530)
        both(at: 530, [Self.bank: 300], "made again")
        read(Self.bank, of: deleted, by: &behind)
        #expect(write(&files, allowed: list(Self.bank), from: behind, now: 9000, to: &companion) == 0)
        read(Self.bank, of: ahead, by: &behind)
        for ledger in [ahead, behind] { #expect(write(&files, allowed: list(Self.bank), from: ledger, now: 9000, to: &companion) == 0) }
        #expect(items(companion) == [Self.bank: 300])
    }

    @Test("A companion has the circle's items once all members have read everything, whatever they wrote and had read before")
    func converges() {
        for seed in 0..<1000 {
            var random = SeededGenerator(UInt64(seed))
            var (files, companion) = (CompanionLedger(), SyncLedger(device: [9]))
            var members = [SyncLedger(device: Self.one), SyncLedger(device: Self.two)]
            var now: Int64 = 1000
            for _ in 0..<20 {
                now += 10
                let who = Int(random.next() % 2)
                switch random.next() % 4 {
                case 0:
                    // Dates jump back and forth, as with clocks that differ and items that were restored.
                    let isThere = members[who].entries[Self.bank]?.mark != nil
                    let known = members[who].entries[Self.bank]?.changed ?? 0
                    let date = isThere ? known + 1 + Int64(random.next() % 50) : Int64(random.next() % 2000)
                    _ = members[who].stamp([row(Self.bank, date)], [Self.bank: .returned], now: now)
                case 1: _ = members[who].stamp([], [Self.bank: .deleted], now: now)
                case 2: read(Self.bank, of: members[1 - who], by: &members[who])
                default:
                    let allowed = random.next() % 3 == 0 ? BlindedNames.empty : list(Self.bank)
                    write(&files, allowed: allowed, from: members[who], now: now, to: &companion)
                }
            }
            for who in 0..<2 { read(Self.bank, of: members[1 - who], by: &members[who]) }
            write(&files, allowed: list(Self.bank), from: members[0], now: now, to: &companion)
            for ledger in members {
                #expect(write(&files, allowed: list(Self.bank), from: ledger, now: now, to: &companion) == 0, "seed \(seed)")
            }
            let item = members[0].entries[Self.bank]
            #expect(items(companion)[Self.bank] == (item?.mark == nil ? nil : item?.changed), "seed \(seed)")
        }
    }

    @Test("A change with either time more than ten years ahead is ignored, and does not keep an item from being written")
    func farAhead() {
        let far = 1000 + SyncStamp.microsecondsAheadMax + 1
        let times: [(Int64, Int64)] = [(far, far), (far, 0), (2000, far), (far, .min), (SyncStamp.times.upperBound, .max)]
        for (stamp, circleTime) in times {
            for isItem in [true, false] {
                var (files, companion) = (CompanionLedger(), SyncLedger(device: [9]))
                let entry = CompanionLedger.Entry(
                    stamp: SyncStamp(time: stamp, device: Self.two), circleTime: circleTime, isItem: isItem, writer: Self.two)
                #expect(!files.note(Self.bank, entry, now: 1000) && files.entries.isEmpty)
                write(&files, allowed: list(Self.bank), from: ledger(Self.one, [Self.bank: 100]), now: 1000, to: &companion)
                #expect(items(companion) == [Self.bank: 100])
            }
        }
        // Nor is an item written whose own date is so far ahead, after a clock was wrong: every run would write it again.
        var (files, companion) = (CompanionLedger(), SyncLedger(device: [9]))
        write(&files, allowed: list(Self.bank), from: ledger(Self.one, [Self.bank: 100]), now: 1000, to: &companion)
        #expect(write(&files, allowed: list(Self.bank), from: ledger(Self.one, [Self.bank: far]), now: 1000, to: &companion) == 0)
        #expect(write(&files, allowed: .empty, from: ledger(Self.one, [Self.bank: far]), now: 1000, to: &companion) == 1)
        #expect(write(&files, allowed: .empty, from: ledger(Self.one, [Self.bank: far]), now: 1000, to: &companion) == 0)
        #expect(items(companion).isEmpty)
    }

    @Test("Changes that only a removed member wrote, including deletions, are written again") func removedMember() {
        var (files, companion) = (CompanionLedger(), SyncLedger(device: [9]))
        let removed = ledger(Self.two, [Self.bank: 100, Self.mail: 100])
        write(&files, allowed: list(Self.bank, Self.mail), from: removed, now: 110, to: &companion)
        write(&files, allowed: list(Self.bank), from: removed, now: 120, to: &companion)
        let here = ledger(Self.one, [Self.bank: 100, Self.mail: 100])
        var unread = SyncLedger(device: [9])
        #expect(write(&files, allowed: list(Self.bank), from: here, now: 130, to: &unread, members: [Self.one]) == 2)
        #expect(items(unread) == [Self.bank: 100])
        #expect(write(&files, allowed: list(Self.bank), from: here, now: 131, to: &unread, members: [Self.one]) == 0)
    }

    @Test("The members' changes replace a companion's own, which are reported, and lost items are read again") func ownChanges() {
        var companion = SyncLedger(device: [9])
        companion.take(row(Self.bank, 100), SyncStamp(time: 100, device: Self.one))
        var outcome = companion.reconcile([row(Self.bank, 100), row(Self.mail, 50)], [:])
        #expect(!outcome.found.hasLosses && outcome.own == [Self.mail])
        outcome = companion.reconcile([row(Self.bank, 500)], [:])
        #expect(!outcome.found.hasLosses && outcome.own == [Self.bank])
        #expect(companion.decision(on: Self.bank, SyncStamp(time: 200, device: Self.one)) == .take)
        #expect(companion.decision(on: Self.bank, SyncStamp(time: 100, device: Self.one)) == .known)
        // An item that was deleted here is not taken again; one that was lost is.
        #expect(companion.companionStatusQueries([]).map(\.item) == [Self.bank])
        var deleted = companion
        #expect(!deleted.reconcile([], [Self.bank: .deleted]).found.mustReread)
        #expect(deleted.decision(on: Self.bank, SyncStamp(time: 100, device: Self.one)) == .known)
        // An item that a killed run had removed is read again and not reported as lost.
        var killed = companion
        let found = killed.reconcile([], [Self.bank: .deletedElsewhere]).found
        #expect(found.mustReread && !found.hasLosses)
        #expect(companion.reconcile([], [Self.bank: .lost]).found.hasLosses)
        #expect(companion.decision(on: Self.bank, SyncStamp(time: 100, device: Self.one)) == .take)
        // A database that was rolled back has items that were removed since.
        companion.takeDeletion(of: Self.mail, SyncStamp(time: 300, device: Self.one), now: 300)
        companion.take(row(Self.mail, 100), SyncStamp(time: 310, device: Self.one))
        companion.takeDeletion(of: Self.mail, SyncStamp(time: 320, device: Self.one), now: 320)
        #expect(companion.reconcile([row(Self.mail, 100)], [:], isEarlier: true).found.hasLosses)
        #expect(companion.decision(on: Self.mail, SyncStamp(time: 320, device: Self.one)) == .take)
    }

    @Test(
        "The members' next deletion finds no row if the item was deleted, or is no longer synchronized, on a companion",
        arguments: [ItemStatus.deleted, .changed, .returned]) func goneOnCompanion(_ status: ItemStatus) throws
    {
        var (files, companion) = (CompanionLedger(), SyncLedger(device: [9]))
        let here = ledger(Self.one, [Self.bank: 100])
        write(&files, allowed: list(Self.bank), from: here, now: 110, to: &companion)
        for _ in 0..<2 {
            let outcome = companion.reconcile([], [Self.bank: status])
            #expect(!outcome.found.hasLosses && outcome.own.isEmpty)
            let entry = try #require(companion.entries[Self.bank])
            #expect(entry.mark == nil && companion.companionStatusQueries([]).isEmpty)
            // Reading the change again does not bring it back.
            #expect(companion.decision(on: Self.bank, entry.stamp) == .known)
        }
        #expect(write(&files, allowed: .empty, from: here, now: 120, to: &companion) == 1)
        #expect(items(companion).isEmpty && companion.entries[Self.bank]?.mark == nil)
        write(&files, allowed: list(Self.bank), from: here, now: 130, to: &companion)
        #expect(items(companion) == [Self.bank: 100])
    }
}

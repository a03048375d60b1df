// Which statements about the circle a device knows, and what others name in their files (Specs/sync.md, "Statements that are held back").

import Testing
import VaubanSyncModel

@Suite("Statements of the circle that are held back")
struct StatementTests {
    private static let (own, other, third) = (device(1), device(2), device(3))

    private static func device(_ byte: UInt8) -> [UInt8] { [UInt8](repeating: byte, count: 16) }

    private static let members = [own, other, third].map { CircleMember(device: $0, name: "", verification: []) }

    /// The statement of this number, or another one of it.
    private static func mark(_ number: Int64, _ branch: UInt8 = 0) -> StatementMark {
        StatementMark(number: number, digest: [branch, UInt8(truncatingIfNeeded: number)] + [UInt8](repeating: 9, count: 30))
    }

    private static func ledger(at number: Int64, _ branch: UInt8 = 0) -> StatementLedger {
        var ledger = StatementLedger(device: own)
        ledger.follow(mark(number, branch))
        return ledger
    }

    /// As a run does it: each statement names the digest of the one before.
    private static func link(_ ledger: inout StatementLedger, lacking: Set<Int64> = []) {
        var number = ledger.last
        while let next = ledger.unlinked(from: number), !lacking.contains(next.number) {
            ledger.link(next, to: mark(next.number - 1, next.digest[0]).digest)
            number = next.number - 1
        }
        ledger.compare(among: members)
    }

    @Test("A later statement in a member's file is reported until this device has followed it")
    func laterStatement() {
        var ledger = Self.ledger(at: 4)
        ledger.note(Self.mark(4), by: Self.other)
        #expect(ledger.isWhole)
        ledger.note(Self.mark(5), by: Self.other)
        #expect(ledger.reports == [Self.other: Self.mark(5)] && ledger.fresh == [Self.other] && !ledger.isWhole)
        // Its earlier files do not take that back.
        ledger.note(Self.mark(3), by: Self.other)
        ledger.compare(among: Self.members)
        #expect(ledger.reports == [Self.other: Self.mark(5)])
        ledger.follow(Self.mark(5))
        ledger.compare(among: Self.members)
        #expect(ledger.isWhole && ledger.fresh.isEmpty)
    }

    @Test("Another statement of a number that this device has followed is a fork until the other device is removed")
    func otherStatement() {
        var ledger = Self.ledger(at: 4)
        ledger.note(Self.mark(4, 1), by: Self.other)
        #expect(ledger.forks == [Self.other: 4])
        ledger.follow(Self.mark(5))
        Self.link(&ledger)
        #expect(ledger.forks == [Self.other: 4])
        ledger.compare(among: Self.members.filter { $0.device != Self.other })
        #expect(ledger.isWhole)
    }

    @Test("A report is compared after two or more statements were followed at once, and stays while one of them is missing")
    func gap() {
        for (branch, isFork) in [(UInt8(0), false), (1, true)] {
            var ledger = Self.ledger(at: 4)
            ledger.note(Self.mark(5, branch), by: Self.other)
            ledger.note(Self.mark(4, 1), by: Self.third)
            ledger.follow(Self.mark(7))
            // Nothing is compared with what is not known.
            Self.link(&ledger, lacking: [6])
            ledger.note(Self.mark(5, 1), by: Self.third)
            #expect(ledger.reports == [Self.other: Self.mark(5, branch)] && ledger.forks == [Self.third: 4])
            Self.link(&ledger)
            #expect(ledger.reports.isEmpty && ledger.forks == (isFork ? [Self.other: 5, Self.third: 4] : [Self.third: 4]))
        }
    }

    @Test("A device that joined knows the statements before by the digests in those that follow")
    func earlierStatements() {
        var ledger = Self.ledger(at: 6)
        Self.link(&ledger)
        #expect(ledger.digests.keys.sorted() == Array(1...6) && ledger.unlinked(from: 6) == nil)
        ledger.note(Self.mark(2, 1), by: Self.other)
        #expect(ledger.forks == [Self.other: 2])
    }

    @Test("A device that was put back notices that it had followed a later statement, or another one")
    func putBack() {
        var ledger = Self.ledger(at: 5)
        ledger.follow(Self.mark(3))
        #expect(ledger.reports == [Self.own: Self.mark(5)] && ledger.last == 3)
        ledger.follow(Self.mark(5))
        Self.link(&ledger)
        #expect(ledger.isWhole)
        ledger.follow(Self.mark(5, 1))
        #expect(ledger.forks == [Self.own: 5])
        // It followed the others from the statement before, two at once.
        ledger = Self.ledger(at: 5)
        ledger.follow(Self.mark(7, 1))
        Self.link(&ledger)
        #expect(ledger.forks == [Self.own: 5])
        // The same if the statements between came only after the ledger was saved and read again.
        ledger = Self.ledger(at: 5)
        ledger.follow(Self.mark(7, 1))
        ledger = StatementLedger(device: Self.own, digests: ledger.digests)
        Self.link(&ledger)
        #expect(ledger.forks == [Self.own: 5])
        // Its own earlier file says so too.
        ledger = Self.ledger(at: 5)
        ledger.note(Self.mark(5, 1), by: Self.own)
        ledger.compare(among: Self.members.filter { $0.device != Self.own })
        #expect(ledger.forks == [Self.own: 5])
    }

    @Test("At most a thousand statements are kept, and a number that no statement has is ignored")
    func limits() {
        var ledger = Self.ledger(at: 5000)
        Self.link(&ledger)
        #expect(ledger.digests.count == 1000)
        for number in 5001...5010 { ledger.follow(Self.mark(Int64(number))) }
        Self.link(&ledger)
        #expect(ledger.digests.count == 1000 && ledger.digests[4011] != nil)
        for number in [0, -1, .min, CircleRequest.numberMax + 1, .max] as [Int64] { ledger.note(Self.mark(number), by: Self.other) }
        ledger.note(Self.mark(7, 1), by: Self.other)
        #expect(ledger.isWhole)
    }
}

@Suite("The revision of a carrier")
struct CarrierRevisionTests {
    private static let seen = CarrierRevision(cluster: .max, revision: 100)

    @Test("A carrier with a lower revision, or of another cluster, is not the one that was seen")
    func setbacks() {
        #expect(Self.seen.setback(since: Self.seen) == nil)
        #expect(CarrierRevision(cluster: .max, revision: 101).setback(since: Self.seen) == nil)
        #expect(CarrierRevision(cluster: .max, revision: 99).setback(since: Self.seen) == .earlier)
        #expect(CarrierRevision(cluster: 1, revision: 200).setback(since: Self.seen) == .otherStore)
    }

    @Test("A revision is read as it was kept, and anything else is none")
    func text() {
        #expect(CarrierRevision(Self.seen.text) == Self.seen)
        for text in ["", "1 2", "1\n", "1 0\n", "1 -2\n", "-1 2\n", "1 2 3\n", "1 x\n", " 1 2\n"] { #expect(CarrierRevision(text) == nil) }
    }
}

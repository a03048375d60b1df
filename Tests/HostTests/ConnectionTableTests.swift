import Foundation
import Glibc
import Synchronization
import Testing
import VaubanLinuxHost

/// Which owners get a connection of a socket, and which connections are closed for others (Specs/owners.md, section 4).
@Suite struct ConnectionTableTests {
    /// A connection that has been idle since a time that the test sets, or is busy.
    private final class Played: ConnectionEntry {
        let since: Mutex<UInt64?>
        let isEnded = Mutex(false)
        init(idleSince since: UInt64?) { self.since = Mutex(since) }
        var idleSince: UInt64? { since.withLock { $0 } }
        func endWhenIdle() { isEnded.withLock { $0 = true } }
        var ended: Bool { isEnded.withLock { $0 } }
    }

    /// Opens as many connections of an owner as it gets, up to a number.
    private func fill(_ table: ConnectionTable, by owner: UInt32, count: Int, idleSince: UInt64? = nil) -> [(
        ConnectionTable.Place, Played
    )] {
        (0..<count).compactMap { index in
            guard let place = table.enter(owner) else { return nil }
            let played = Played(idleSince: idleSince.map { $0 + UInt64(index) })
            table.set(played, in: place)
            return (place, played)
        }
    }

    @Test("One owner has at most a quarter of the connections")
    func oneOwner() {
        #expect(fill(ConnectionTable(max: 1024), by: 1000, count: 2000).count == 256)
        let idle = ConnectionTable(max: 1024)
        let all = fill(idle, by: 1000, count: 300, idleSince: 1)
        // Each is admitted, and the longest idle ones were closed.
        #expect(all.count == 300 && idle.count(of: 1000) == 256 && all.map(\.1.ended) == (0..<300).map { $0 < 44 })
    }

    @Test("A new owner gets connections, however many others hold", arguments: [1, 3, 10, 100, 300])
    func theNextOwner(_ hostile: Int) {
        let table = ConnectionTable(max: 1024)
        // In turn, so that each of them takes what the others leave.
        for _ in 0..<1024 { for owner in 0..<hostile { _ = table.enter(UInt32(owner)) } }
        #expect(fill(table, by: 5000, count: 1).count == 1, "\(table.count) stand")
        if hostile <= 100 { #expect(fill(table, by: 5000, count: 4).count == 4) }
    }

    @Test("All uids of one owner share its limit")
    func subordinateUIDs() throws {
        let etc = try TestFolder()
        try Data("mallory:x:1000:1000::/:/bin/sh\nanna:x:1001:1001::/:/bin/sh\n".utf8).write(to: URL(fileURLWithPath: "\(etc.path)/passwd"))
        try Data("mallory:100000:65536\n".utf8).write(to: URL(fileURLWithPath: "\(etc.path)/subuid"))
        let accounts = Accounts(folder: etc.path)
        let table = ConnectionTable(max: 1024)
        let taken = (0..<4000).count { table.enter(accounts.owner(of: 100_000 + UInt32($0))) != nil }
        #expect(taken == 256)
        #expect(fill(table, by: accounts.owner(of: 1001), count: 100).count == 100)
    }

    @Test("An idle connection of the owner with the most connections is closed first")
    func ownerWithTheMostLosesOneFirst() {
        let table = ConnectionTable(max: 12)
        let large = fill(table, by: 1, count: 3, idleSince: 100), small = fill(table, by: 2, count: 2, idleSince: 1)
        #expect(large.count == 3 && small.count == 2)
        #expect(fill(table, by: 3, count: 2, idleSince: 200).count == 2)
        // The free connections suffice for the first of a further owner, and not for the second.
        #expect(fill(table, by: 4, count: 1).count == 1 && !large[0].1.ended)
        _ = table.enter(4)
        #expect(large[0].1.ended && small.allSatisfy { !$0.1.ended })
    }

    @Test("A connection that serves a request is never closed")
    func workIsNeverClosed() {
        let table = ConnectionTable(max: 64)
        let working = fill(table, by: 1, count: 64)
        let idle = fill(table, by: 2, count: 64, idleSince: 1)
        _ = fill(table, by: 3, count: 64)
        #expect(working.allSatisfy { !$0.1.ended } && idle.contains { $0.1.ended })
        // When its work is done, it may be closed again.
        working[0].1.since.withLock { $0 = 5 }
        #expect(table.endOneIdle() && working[0].1.ended)
    }

    @Test("A connection counts for its owner, even if the owner becomes known later")
    func places() throws {
        let table = ConnectionTable(max: 100)
        let place = try #require(table.enter(Accounts.unlistedOwner))
        table.move(place, to: 7)
        #expect(table.count(of: Accounts.unlistedOwner) == 0 && table.count(of: 7) == 1)
        table.leave(place)
        #expect(table.count == 0)
        table.leave(place)
        table.move(place, to: 8)
        #expect(table.count == 0 && table.count(of: 8) == 0)
    }

    @Test("Only a few connections close at the same time")
    func leaving() {
        let table = ConnectionTable(max: 1024)
        let idle = fill(table, by: 1, count: 256, idleSince: 1)
        let further = (0..<500).count { _ in table.enter(1) != nil }
        #expect(further == ConnectionLimits.leavingMax && idle.count { $0.1.ended } == ConnectionLimits.leavingMax)
        for (place, played) in idle where played.ended { table.leave(place) }
        #expect(table.enter(1) != nil)
    }

    @Test("A socket serves as many connections as open files permit")
    func descriptors() {
        #expect(DescriptorLimit.connections(1024, files: 65_536) == 1024)
        #expect(DescriptorLimit.connections(1024, files: 1024) == 153)
        #expect(DescriptorLimit.connections(1024, files: 10) == 1)
    }
}

import Keychain
import KeychainStore
import Synchronization
import Testing
import VaubanAccessPolicy
import VaubanKeychainModel
import VaubanKeychainWire
import VaubanLinuxHost
import VaubanRefusal

/// The identities of deleted items, as backups ask for them (Specs/backup.md) and circles keep them (Specs/sync.md).
@Suite struct TombstoneTests {
    private let synced: [AttributeName: AttributeValue] = [
        .service: .text("s"), .account: .text("everywhere"), .synchronizable: .number(1),
    ]

    private func local(_ number: Int) -> [AttributeName: AttributeValue] { [.service: .text("churn"), .account: .text("\(number)")] }

    private func item(_ room: Room, _ attributes: [AttributeName: AttributeValue]) throws -> [UInt8] {
        let before = Set(try room.rows().map(\.item))
        try room.add(attributes)
        return try #require(try room.rows().map(\.item).first { !before.contains($0) })
    }

    private func deleted(_ room: Room, _ items: [[UInt8]]) throws -> [[UInt8]] {
        guard case .backup(.deleted(let found))? = try room.serve(.backup(.deleted(items))).messages.first else {
            throw Refusal(.internalError)
        }
        return found
    }

    private func run(_ room: Room, isNext: Bool) throws -> (database: Int64, number: Int64) {
        guard case .backup(.run(let database, let number))? = try room.serve(.backup(.run(isNext: isNext))).messages.first else {
            throw Refusal(.internalError)
        }
        return (database, number)
    }

    @Test("From the first backup on, keychaind knows which of the missing items were deleted") func deletionsAreKnown() throws {
        let room = try Room()
        let early = try item(room, local(0))
        try room.delete(local(0))
        #expect(try deleted(room, [early]).isEmpty)
        let first = try run(room, isNext: false)
        #expect(first.database > 0 && first.number == 0)
        let (gone, there, lost) = (try item(room, local(1)), try item(room, local(2)), try item(room, local(3)))
        try room.delete(local(1))
        let damaged = try #require(try room.rows().first { $0.item == lost })
        #expect(try room.database.quarantine(damaged, .metadata, date: 0))
        #expect(try deleted(room, [gone, there, lost, early]) == [gone])
        try room.restart()
        #expect(try deleted(room, [gone, there, lost, early]) == [gone])
        // An item that exists again was not deleted.
        for item in try room.deleted() where item.item == gone { try room.history(.undelete(item.item)) }
        #expect(try deleted(room, [gone]).isEmpty)
        try room.delete(local(1))
        #expect(try deleted(room, [gone]) == [gone])
    }

    @Test("Backups are numbered, and each database has its own identity") func runsAreCounted() throws {
        let room = try Room()
        let first = try run(room, isNext: false)
        #expect(try run(room, isNext: true) == (first.database, 1))
        #expect(try run(room, isNext: true) == (first.database, 2))
        try room.restart()
        #expect(try run(room, isNext: false) == (first.database, 2))
        #expect(try run(try Room(), isNext: false).database != first.database)
    }

    @Test("Tombstones of local items displace none of synchronizable items, and each kind keeps the newest")
    func quotasAreSeparate() throws {
        let room = try Room()
        _ = try run(room, isNext: false)
        let (everywhere, first) = (try item(room, synced), try item(room, local(0)))
        try room.delete(synced)
        try room.delete(local(0))
        #expect(try deleted(room, [everywhere, first]) == [everywhere, first])
        // As many as there is room for, and one more.
        let max = KeychainDatabase.tombstonesMax
        try room.restart()
        try room.sql(
            """
            WITH RECURSIVE number(n) AS (SELECT 2 UNION ALL SELECT n + 1 FROM number WHERE n < \(max))
            INSERT INTO tombstone(id, item, state) SELECT -n, randomblob(16), 1 FROM number
            """)
        let last = try item(room, local(1))
        #expect(try deleted(room, [everywhere, first]) == [everywhere, first])
        try room.delete(local(1))
        #expect(try deleted(room, [everywhere, first, last]) == [everywhere, last])
        // A synchronizable one that is deleted after all of these displaces none of them either.
        var other = synced
        other[.account] = .text("another")
        let second = try item(room, other)
        try room.delete(other)
        #expect(try deleted(room, [everywhere, second, last]) == [everywhere, second, last])
    }

    @Test("The tombstone of an item that cannot be opened counts as local") func damagedItemsAreLocal() throws {
        let room = try Room()
        _ = try run(room, isNext: false)
        let (damaged, everywhere) = (try item(room, local(0)), try item(room, synced))
        try room.sql("UPDATE item SET metadata = zeroblob(80) WHERE id = (SELECT min(id) FROM item)")
        try room.delete(local(0))
        try room.delete(synced)
        #expect(try deleted(room, [damaged, everywhere]) == [damaged, everywhere])
        // Those that a circle needs count upward.
        try room.sql("DELETE FROM tombstone WHERE id > 0")
        #expect(try deleted(room, [damaged, everywhere]) == [damaged])
    }

    @Test("A permission leaves no tombstone") func permissionsLeaveNone() throws {
        let room = try Room()
        _ = try run(room, isNext: false)
        let mail = Callers.installed("/usr/bin/mail")
        try room.add("a", as: mail, applications: ["program:/usr/bin/chat"])
        let item = try #require(try room.rows().first).item
        let permission = try #require(try room.rows(.permission).first).item
        try room.delete("a", as: mail)
        #expect(try room.rows(.permission).isEmpty)
        #expect(try deleted(room, [item, permission]) == [item])
    }

    @Test("A deletion on another device outlasts every restore of the item from a backup, until the item is added again otherwise")
    func restoredItemsStayDeletedElsewhere() throws {
        let room = try Room()
        _ = try run(room, isNext: false)
        let everywhere = try item(room, synced)
        let row = try #require(try room.rows().first)
        #expect(try room.database.delete([RowRemoval(row.handle, cause: .otherDevice)]))
        #expect(try room.database.status(ofItem: everywhere) == .deletedElsewhere)
        for _ in 0..<2 {
            #expect(try room.database.insert(row, isRestored: true) == .written)
            let restored = try #require(try room.rows().first)
            #expect(try room.database.status(ofItem: everywhere) == .present(restored))
            #expect(try room.database.delete([RowRemoval(restored.handle, cause: .loss)]))
            #expect(try room.database.status(ofItem: everywhere) == .gone)
        }
        #expect(try room.database.insert(row) == .written)
        #expect(try room.database.status(ofItem: everywhere) == .returned)
    }

    @Test("An item that is deleted while its status is read is present or deleted, and never lost", .timeLimit(.minutes(30)))
    func deletedWhileRead() throws {
        let room = try Room()
        _ = try run(room, isNext: false)
        let churned = try item(room, local(1))
        let row = try #require(try room.rows().first)
        let database = try room.database
        let isOver = Mutex(false)
        let ended = try Wakeup()
        try HostThread.start {
            for _ in 0..<200 {
                guard let present = try? database.row(ofItem: churned), (try? database.delete([present.handle])) == true,
                    (try? database.insert(row)) == .written
                else { break }
            }
            isOver.withLock { $0 = true }
            ended.signal()
        }
        while !isOver.withLock({ $0 }) { #expect(try database.status(ofItem: churned) != .gone) }
        #expect(ended.wait(until: MachineClock.monotonic + 240_000_000_000) == .signaled)
        #expect(try database.status(ofItem: churned) == .returned)
    }

    @Test("Only the command line asks for deleted items and runs of backups") func refusals() throws {
        let room = try Room()
        for request in [BackupRequest.deleted([]), .run(isNext: true)] {
            #expect(Refusal.Reason.of { try room.serve(.backup(request), as: Callers.installed("/usr/bin/mail")) } == .notAllowedHere)
        }
    }
}

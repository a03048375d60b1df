import Keychain
import Synchronization
import Testing
import VaubanAccessPolicy
import VaubanKeychainModel
import VaubanKeychainWire
import VaubanLinuxHost
import VaubanRefusal

/// The request that is answered when a synchronizable item changes (Specs/sync.md, "Following").
@Suite struct SynchronizableChangesTests {
    private let synced: [AttributeName: AttributeValue] = [
        .service: .text("s"), .account: .text("everywhere"), .synchronizable: .number(1),
    ]
    private let local: [AttributeName: AttributeValue] = [.service: .text("s"), .account: .text("here")]

    private func number(_ room: Room, since number: Int64? = nil) throws -> Int64 {
        try changes(room, since: number).number
    }

    private func changes(_ room: Room, since number: Int64?) throws -> (number: Int64, items: [[UInt8]]?) {
        guard case .sync(.changes(let number, let items))? = try room.serve(.sync(.changes(since: number))).messages.first else {
            throw Refusal(.internalError)
        }
        return (number, items)
    }

    @Test("The changed items are reported for every number of this process, as long as they are few") func items() throws {
        let room = try Room()
        let first = try number(room)
        #expect(try changes(room, since: nil).items == nil)
        #expect(try changes(room, since: first - 1).items == nil)
        try room.add(synced)
        let item = try #require(try changes(room, since: first).items?.first)
        try room.update(synced, value: "other")
        // Each item once, however often it was changed.
        #expect(try changes(room, since: first).items == [item])
        #expect(try changes(room, since: first + 1).items == [item])
        // A deleted item is reported too, under the identity that it had.
        try room.delete(synced)
        #expect(try changes(room, since: first + 2).items == [item])
        for number in 0..<SyncRequest.changedItemsMax {
            try room.add([.service: .text("s"), .account: .text("\(number)"), .synchronizable: .number(1)])
        }
        #expect(try changes(room, since: first).items == nil)
        #expect(try changes(room, since: first + 3).items?.count == SyncRequest.changedItemsMax)
        // After so many changes the first are forgotten.
        for value in 0..<200 { try room.update(synced.merging([.account: .text("1")]) { $1 }, value: "\(value)") }
        #expect(try changes(room, since: first + 3).items == nil)
        #expect(try changes(room, since: try number(room) - 1).items?.count == 1)
    }

    @Test("An addition, a change and a deletion of a synchronizable item count, and nothing else") func counts() throws {
        let room = try Room()
        let before = try number(room)
        try room.add(local)
        try room.update(local, value: "other")
        try room.delete(local)
        #expect(try number(room) == before)
        try room.add(synced)
        #expect(try number(room) == before + 1)
        _ = try room.find(synced)
        #expect(try number(room) == before + 1)
        try room.update(synced, value: "other")
        #expect(try number(room) == before + 2)
        try room.delete(synced)
        #expect(try number(room) == before + 3)
    }

    @Test("An item that becomes synchronizable counts, and one that is so no longer") func attribute() throws {
        let room = try Room()
        try room.add(local)
        let before = try number(room)
        try room.update(local, to: [.synchronizable: .number(1)])
        #expect(try number(room) == before + 1)
        try room.update([.service: .text("s"), .account: .text("here"), .synchronizable: .number(1)], to: [.synchronizable: .number(0)])
        #expect(try number(room) == before + 2)
    }

    @Test("A change that fails does not count") func failures() throws {
        let room = try Room()
        try room.add(synced)
        let before = try number(room)
        #expect(throws: Refusal.self) { try room.add(synced) }
        #expect(try number(room) == before)
    }

    @Test("A request with another number is answered at once, and one with the last number at the next change") func waits() throws {
        let room = try Room()
        let before = try number(room)
        #expect(try number(room, since: before - 1) == before)
        #expect(try number(room, since: 0) == before)
        // Whichever comes first: the answer is the next number.
        let answer = Mutex<Int64?>(nil)
        let answered = try Wakeup()
        try HostThread.start {
            if case .sync(.changes(let number, _))? = try? room.serve(.sync(.changes(since: before))).messages.first {
                answer.withLock { $0 = number }
            }
            answered.signal()
        }
        try room.add(synced)
        #expect(answered.wait(until: MachineClock.monotonic + 240_000_000_000) == .signaled)
        #expect(answer.withLock { $0 } == before + 1)
        #expect(room.changes.number(of: Room.user) == before + 1)
        #expect(room.changes.number(of: Room.user + 1) != before + 1)
    }

    @Test("Only the command line is told of changes") func refusals() throws {
        let room = try Room()
        #expect(throws: Refusal.self) { try room.serve(.sync(.changes(since: nil)), as: Callers.installed("/usr/bin/mail")) }
        try room.serve(.sync(.changes(since: nil)), as: Callers.commandLine())
    }
}

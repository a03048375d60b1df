import Keychain
import KeychainStore
import Testing
import VaubanKeychainWire
import VaubanRefusal
import VaubanUserModel

/// How programs share the access log, and when waiting uses are written (Specs/access-log.md).
@Suite struct AccessLogSharingTests {
    private let mail = "/usr/bin/mail"
    private let other = Callers.installed("/usr/bin/other")
    private let shell = Callers.commandLine()

    private func lastNumber(_ room: Room) throws -> Int64 { try room.database.lastLogRow()?.number ?? 0 }

    /// Returns the records of what a program read.
    private func reads(_ room: Room) throws -> [AccessRecord] {
        room.userSays(.once)
        return try room.log(as: shell, ofAllOwners: true).filter { $0.action == .read && $0.program?.path == mail }
    }

    private func count(_ records: [AccessRecord]) -> Int64 { records.flatMap(\.items).reduce(0) { $0 + $1.count } }

    /// Reads an item by so many processes with different parents, each of which has a log record while the program may have more.
    private func read(_ account: String, times: Int, _ room: Room) throws {
        for number in 0..<times { _ = try room.get(account, as: Callers.installed(mail, startedBy: ["/usr/bin/\(number)"])) }
    }

    // MARK: Changes that fail

    @Test("Changes that fail take nothing from the allowance of a program whose uses are pending")
    func failedChanges() throws {
        let room = try Room()
        try room.add("anna", as: Callers.installed(mail))
        try room.add("x", as: other)
        try read("anna", times: 100, room)
        let before = try lastNumber(room)
        // With the log records of the reads, these would have taken more than the program may have.
        for _ in 0..<Int(KeychainLimits.logBurst) / 100 + 10 {
            #expect(Refusal.Reason.of { try room.add("x", as: other) } == .duplicateItem)
        }
        #expect(try lastNumber(room) == before)
        _ = try room.page(as: shell)
        #expect(try lastNumber(room) == before + 100)
        let reads = try reads(room)
        #expect(reads.count == 100 && reads.allSatisfy { $0.parents.count == 1 && $0.items.map(\.count) == [1] })
    }

    @Test("A program whose changes fail again and again has its changes collected, and others have theirs written at once")
    func manyFailedChanges() throws {
        let room = try Room()
        try room.add("x", as: other)
        for _ in 0..<Int(KeychainLimits.logBurst) / 2 {
            #expect(Refusal.Reason.of { try room.add("x", as: other) } == .duplicateItem)
        }
        // One unit comes back every ten seconds, and such a change takes it.
        var (number, before) = (0, try lastNumber(room))
        repeat {
            before = try lastNumber(room)
            try room.add("y \(number)", as: other)
            number += 1
        } while try lastNumber(room) > before && number < 100
        #expect(try lastNumber(room) == before)
        try room.add("anna", as: Callers.installed(mail))
        // Together with what was collected.
        #expect(try lastNumber(room) == before + 2)
        room.userSays(.once)
        let last = try room.log(as: shell, ofAllOwners: true).suffix(2)
        #expect(last.map { $0.program?.path } == ["/usr/bin/other", mail] && last.allSatisfy { $0.action == .added })
    }

    // MARK: What waits

    /// Has a program use up what it may have, and then read something that waits for the end of a second. Returns the number of the last
    /// log record, and how often it read.
    private func readThatWaits(_ room: Room) throws -> (last: Int64, reads: Int64) {
        try room.add("anna", as: Callers.installed(mail))
        let times = Int(KeychainLimits.logBurst) + 80
        try read("anna", times: times, room)
        _ = try room.page(as: shell)
        var reads = Int64(times)
        // Where this takes a second, the first ones do not wait.
        while true {
            let before = try lastNumber(room)
            _ = try room.get("anna", as: Callers.installed(mail))
            reads += 1
            _ = try room.page(as: shell)
            if try lastNumber(room) == before { return (before, reads) }
        }
    }

    @Test("What waits for the end of a second is written before its database closes for another one", .timeLimit(.minutes(30)))
    func waitEndsBeforeClosing() throws {
        let room = try Room(limits: DatabaseLimits(openMax: 1, openPerOwnerMax: 1, descriptorsKept: 0))
        let (last, count) = try readThatWaits(room)
        _ = try room.databases.database(of: Room.user + 1)
        #expect(room.databases.openCount == 1)
        #expect(try lastNumber(room) == last + 1)
        #expect(try self.count(reads(room)) == count)
    }

    @Test("What waits for the end of a second is written then, although no request follows", .timeLimit(.minutes(30)))
    func waitEndsByItself() throws {
        let room = try Room(pauseMilliseconds: 20)
        let (last, count) = try readThatWaits(room)
        while try lastNumber(room) == last {}
        #expect(try self.count(reads(room)) == count)
    }
}

import Keychain
import KeychainStore
import Testing
import VaubanKeychainModel
import VaubanKeychainWire
import VaubanRefusal

/// When what was read is written to the access log, although no change follows (Specs/access-log.md).
@Suite struct AccessLogWritingTests {
    private let name: [AttributeName: AttributeValue] = [.service: .text("mail"), .account: .text("anna")]

    private func lastNumber(_ room: Room) throws -> Int64 { try room.database.lastLogRow()?.number ?? 0 }

    @Test("What was read is written before its database closes for another one")
    func beforeClosing() throws {
        let room = try Room(limits: DatabaseLimits(openMax: 1, openPerOwnerMax: 1, descriptorsKept: 0))
        try room.add(name)
        let before = try lastNumber(room)
        _ = try room.find(name)
        #expect(try lastNumber(room) == before)
        _ = try room.databases.database(of: Room.user + 1)
        #expect(room.databases.openCount == 1)
        #expect(try lastNumber(room) == before + 1)
        #expect(try room.log().map(\.action) == [.added, .read])
    }

    @Test("What was read without a series is written once a request begins one", .timeLimit(.minutes(30)))
    func withoutSeries() throws {
        let room = try Room(pauseMilliseconds: 20)
        room.enclave.set { $0.logRefusal = Refusal(.storageFailed) }
        try room.add(name)
        _ = try room.find(name)
        room.enclave.set { $0.logRefusal = nil }
        // It returns no value, and is not recorded itself.
        _ = try room.find(name, data: false)
        while try lastNumber(room) == 0 {}
        #expect(try room.log().map(\.action) == [.read])
    }

    @Test("What a full disk kept from being written is tried again without another request", .timeLimit(.minutes(30)))
    func again() throws {
        let room = try Room(pagesMax: 60, pauseMilliseconds: 20)
        try room.add(name)
        for size in [5000, 1] {
            var count = 0
            while Refusal.Reason.of({
                try room.add([.service: .text("\(size)"), .account: .text("\(count)")], value: String(repeating: "x", count: size))
            }) == nil {
                count += 1
            }
        }
        // The pages that the log has may have room for some more.
        var before: Int64
        repeat {
            before = try lastNumber(room)
            _ = try room.find(name)
            // Writes what is pending, or tries.
            _ = try room.log()
        } while try lastNumber(room) > before
        // The thread tries as well, some of its pauses are over, and no request comes any more.
        for _ in 0..<20_000 { #expect(try lastNumber(room) == before) }
        // The thread may just hold the file.
        while (try? room.sqlite("DELETE FROM item WHERE id > 1")) == nil {}
        while try lastNumber(room) == before {}
        #expect(try room.log().last?.action == .read)
    }
}

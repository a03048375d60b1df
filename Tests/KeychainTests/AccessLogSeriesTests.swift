import EnclaveWire
import Keychain
import KeychainStore
import Synchronization
import Testing
import VaubanKeychainModel
import VaubanKeychainWire
import VaubanLogHead
import VaubanRefusal
import VaubanSignedNote

/// How the access log continues, which records it keeps, and its head (Specs/access-log.md).
@Suite struct AccessLogSeriesTests {
    private let name: [AttributeName: AttributeValue] = [.service: .text("mail"), .account: .text("anna")]

    @Test("Records of many series, before and after a restart, follow each other")
    func series() throws {
        let room = try Room()
        try room.add(name)
        try room.restart()
        for number in 0..<1100 { try room.update(name, value: "\(number)") }
        try room.restart()
        _ = try room.find(name)
        let found = try room.found()
        #expect(found.map(\.number) == Array(1...1102) && found.allSatisfy { $0.record != nil })
        #expect(try room.faults().isEmpty)
    }

    @Test("A clock that jumps back or ahead changes dates alone: order, series and chain go on")
    func clockJumps() throws {
        let room = try Room()
        var dates: [Int64] = []
        for jump in [0, -31_536_000_000_000, 63_072_000_000_000, -800_000_000_000_001] as [Int64] {
            dates.append(
                room.clock.withLock { clock in
                    clock += jump
                    return clock
                })
            try room.addAny()
        }
        let records = try room.log()
        #expect(records.map(\.began) == dates && records.map(\.ended) == dates)
        #expect(try room.found().map(\.number) == Array(1...4) && room.faults().isEmpty)
    }

    @Test("The oldest log records go, except the one that the enclave knows and those after it")
    func retention() throws {
        let room = try Room()
        try room.addAny()
        let row = try #require(try room.database.lastLogRow())
        let last = KeychainDatabase.logRecordsMax * 2 - 1
        try room.sqlite(
            "WITH RECURSIVE numbers(n) AS (SELECT 2 UNION ALL SELECT n + 1 FROM numbers WHERE n < \(last)) "
                + "INSERT INTO log SELECT n, 1, x'00', zeroblob(32) FROM numbers")
        func append(_ number: Int64, anchored: Int64) throws {
            let row = LogRow(number: number, series: number, sealed: row.sealed, chain: row.chain)
            try room.database.append(LogAddition(rows: [row], key: [1], anchored: anchored))
        }
        try append(last + 1, anchored: 10)
        #expect(try room.database.logRows(after: 0, count: 1).first?.number == 10)
        try append(last + 501, anchored: last + 1)
        #expect(try room.database.logRows(after: 0, count: 1).first?.number == last + 502 - KeychainDatabase.logRecordsMax)
    }

    @Test("A program that changes items without end writes few log records, which say how many uses they do not name")
    func allowance() throws {
        let room = try Room()
        try room.add(name)
        for number in 0..<3000 { try room.update(name, value: "\(number)") }
        let records = try room.log()
        // The first 2,000 have their own, and on a slow machine some more, one for each ten seconds.
        #expect((2001...2300).contains(records.count))
        #expect(records.flatMap(\.items).map(\.count).reduce(0, +) == 3001)
        #expect(records.allSatisfy { $0.unrecorded == 0 })
    }

    @Test("The head is that of all log records, has the chain of any of them, and only the command line gets it")
    func head() throws {
        let room = try Room()
        try room.add(name)
        _ = try room.find(name)
        func head(at number: Int64? = nil) throws -> LogHeadReply {
            guard case .logHead(let reply)? = try room.serve(.logHead(LogHeadQuery(at: number))).messages.first else {
                throw Refusal(.internalError)
            }
            return reply
        }
        let reply = try head(at: 2)
        let end = room.enclave.state.withLock { $0.logEnd }
        #expect(end.number == 2 && reply.chain == end.chain && reply.oldest == 1)
        #expect(SignedNote(reply.head.note)?.head?.chain == end.chain)
        _ = try room.find(name)
        #expect(try head(at: 2).chain == end.chain && head().chain == nil && head(at: 4).chain == nil)
        #expect(room.enclave.state.withLock { $0.logEnd.number } == 3)
        // Of a log that lost its end, the head is what the enclave knows.
        let known = AccessLogEnd(number: 7, chain: [UInt8](repeating: 1, count: 32))
        room.enclave.set { $0.logEnd = known }
        #expect(try SignedNote(head().head.note)?.head?.number == 7)
        for caller in [Callers.installed("/usr/bin/mail"), Callers.script()] {
            #expect(Refusal.Reason.of { _ = try room.serve(.logHead(LogHeadQuery()), as: caller) } == .notAllowedHere)
        }
    }

    @Test("An erased keychain has no earlier records, and the numbers go on")
    func erased() throws {
        let room = try Room()
        for _ in 0..<3 { try room.addAny() }
        _ = try room.faults()
        try room.enclave.renew(.firstUnlockIndex, destroyingOld: true)
        room.enclave.set {
            $0.logEnd = AccessLogEnd(number: $0.logEnd.number, chain: AccessLogEnd.empty.chain)
            $0.logBegan = $0.logEnd.number
        }
        room.leasedKeys.forget(Room.user)
        #expect(try room.serve(.discard).messages.last == .done)
        #expect(try room.found().isEmpty && room.faults().isEmpty)
        try room.addAny()
        let found = try room.found()
        #expect(found.map(\.number) == [4] && found.first?.record != nil)
        #expect(try room.page().oldest == 4 && room.faults().isEmpty)
    }
}

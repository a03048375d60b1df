import EnclaveWire
import Foundation
import Keychain
import KeychainStore
import Synchronization
import Testing
import VaubanKeychainWire

/// How an altered, cut or replaced access log is noticed (Specs/access-log.md).
@Suite struct AccessLogAttackTests {
    @Test("A record that was altered, exchanged or moved does not pass for the original one")
    func altered() throws {
        for change in [
            "UPDATE log SET sealed = zeroblob(length(sealed)) WHERE number = 2",
            "UPDATE log SET sealed = (SELECT sealed FROM log WHERE number = 1) WHERE number = 2",
            "UPDATE log SET series = 2 WHERE number = 2",
        ] {
            let room = try Room()
            for _ in 0..<4 { try room.addAny() }
            try room.sqlite(change)
            #expect(try room.found().map { $0.record == nil } == [false, true, false, false])
            #expect(try room.faults() == [AccessLogFault(.broken, number: 2)])
        }
    }

    @Test("Removed records are reported missing")
    func removed() throws {
        let room = try Room()
        for _ in 0..<6 { try room.addAny() }
        try room.sqlite("DELETE FROM log WHERE number IN (1, 4)")
        #expect(try room.found().map(\.number) == [2, 3, 5, 6])
        #expect(try room.faults() == [2, 5].map { AccessLogFault(.missingBefore, number: $0) })
        #expect(try room.page().oldest == 2)
        try room.restart()
        try room.sqlite("DELETE FROM log")
        try room.addAny()
        #expect(try room.faults() == [AccessLogFault(.missingBefore, number: 7)])
    }

    @Test("A beginning that was cut off stays reported, except after an erasure, and where the enclave does not know where the log began")
    func cutAtTheStart() throws {
        let room = try Room()
        for _ in 0..<6 { try room.addAny() }
        #expect(try room.faults().isEmpty)
        try room.sqlite("DELETE FROM log WHERE number < 4")
        for _ in 0..<2 {
            #expect(try room.faults() == [AccessLogFault(.missingBefore, number: 4)])
            try room.restart()
            try room.addAny()
        }
        for began in [3, nil] as [Int64?] {
            room.enclave.set { $0.logBegan = began }
            #expect(try room.faults().isEmpty)
        }
        // All of it: the log goes on after the anchor, which is there, and it still lacks what was before.
        try room.restart()
        room.enclave.set { $0.logBegan = 0 }
        try room.sqlite("DELETE FROM log")
        try room.addAny()
        for _ in 0..<2 { #expect(try room.faults() == [AccessLogFault(.missingBefore, number: 9)]) }
    }

    @Test("A log that reaches a limit may begin later", arguments: ["number = number + 50000", "sealed = zeroblob(8 << 20)"])
    func removedByTheWriter(_ growth: String) throws {
        let room = try Room()
        for _ in 0..<6 { try room.addAny() }
        try room.restart()
        try room.sqlite("DELETE FROM log WHERE number = 1")
        #expect(try room.faults().first == AccessLogFault(.missingBefore, number: 2))
        try room.restart()
        // The enlarged rows are invalid, which is a different fault.
        try room.sqlite("UPDATE log SET \(growth) WHERE number > 2")
        #expect(try room.faults().first != AccessLogFault(.missingBefore, number: 2))
    }

    @Test("Records in another order, and a record twice, are reported")
    func reordered() throws {
        let room = try Room()
        for _ in 0..<4 { try room.addAny() }
        let exchange = [(2, -2), (3, 2), (-2, 3)].map { "UPDATE log SET number = \($1) WHERE number = \($0)" }.joined(separator: "; ")
        try room.sqlite(exchange)
        #expect(try room.found().map { $0.record == nil } == [false, true, true, false])
        #expect(try room.faults() == [2, 3, 4].map { AccessLogFault(.broken, number: $0) })
        let other = try Room()
        for _ in 0..<4 { try other.addAny() }
        try other.restart()
        try other.sqlite("INSERT INTO log SELECT number + 1, series, sealed, chain FROM log WHERE number = 4")
        #expect(try other.found().map { $0.record == nil } == [false, false, false, false, true])
        #expect(try other.faults().first == AccessLogFault(.broken, number: 5))
        try other.addAny()
        #expect(try other.found().map(\.number) == Array(1...6) && other.found().last?.record != nil)
    }

    @Test("Records that were cut from the end are reported missing, even when the log continues")
    func cut() throws {
        for alsoSeries in [true, false] {
            let room = try Room()
            for _ in 0..<6 { try room.addAny() }
            #expect(try room.faults().isEmpty)
            try room.restart()
            try room.sqlite("DELETE FROM log WHERE number > 4" + (alsoSeries ? "; DELETE FROM log_series" : ""))
            let unreadable = alsoSeries ? [AccessLogFault(.unreadable, number: 1, last: 4)] : []
            #expect(try room.faults() == unreadable + [AccessLogFault(.missingAtEnd, number: 6)])
            try room.addAny()
            #expect(try room.found().map(\.number) == [1, 2, 3, 4, 7])
            #expect(try room.faults() == unreadable + [AccessLogFault(.missingBefore, number: 7)])
        }
    }

    @Test("Another log in the place of the one that the enclave has seen is reported, also if it is whole or longer")
    func replaced() throws {
        for more in [0, 3] {
            let room = try Room()
            for _ in 0..<3 { try room.addAny() }
            try room.restart()
            let copy = room.file + ".copy"
            try FileManager.default.copyItem(atPath: room.file, toPath: copy)
            try room.addAny()
            #expect(try room.faults().isEmpty)
            try room.restart()
            try room.replaceFile(by: copy)
            // Whoever has the file makes a log of its own out of it, with an enclave that knows nothing.
            let known = room.enclave.state.withLock { $0.logEnd }
            room.enclave.set { $0.logEnd = .empty }
            for _ in 0..<(1 + more) { try room.addAny() }
            try room.restart()
            room.enclave.set { $0.logEnd = known }
            #expect(try room.faults() == [AccessLogFault(.replaced, number: 4)])
            try room.addAny()
            #expect(try !room.faults().isEmpty)
        }
    }

    @Test("A log with many faults is not reported as cut, and a cut one is reported besides them")
    func manyFaults() throws {
        let room = try Room()
        for _ in 0..<200 { try room.addAny() }
        #expect(try room.faults().isEmpty)
        try room.sqlite("DELETE FROM log WHERE number % 2 = 0 AND number < 160")
        let faults = try room.faults()
        #expect(faults.count == AccessLogPage.faultsMax - 1 && faults.allSatisfy { $0.kind == .missingBefore })
        try room.restart()
        try room.sqlite("DELETE FROM log WHERE number > 180")
        #expect(try room.faults().last == AccessLogFault(.missingAtEnd, number: 200))
    }

    @Test("Numbers that no log reaches are ignored, and reported")
    func hostileNumbers() throws {
        let room = try Room()
        for _ in 0..<3 { try room.addAny() }
        try room.sqlite(
            "INSERT INTO log SELECT 9223372036854775807, series, sealed, chain FROM log WHERE number = 1;"
                + "INSERT INTO log SELECT -5, series, sealed, chain FROM log WHERE number = 1;"
                + "UPDATE log SET series = -9223372036854775808 WHERE number = 2")
        #expect(try room.found().map { $0.record == nil } == [false, true, false])
        try room.addAny()
        #expect(try room.found().map(\.number) == [1, 2, 3, 4])
        #expect(try room.faults() == [AccessLogFault(.otherNumbers, number: 0), AccessLogFault(.broken, number: 2)])
    }

    @Test(
        "A row as large as a whole log, with a number that no log record has, removes no records and hides no removal",
        arguments: [0, -5, 1 << 48, .max] as [Int64])
    func largeRowOfAnotherNumber(_ number: Int64) throws {
        let room = try Room()
        for _ in 0..<6 { try room.addAny() }
        #expect(try room.faults().isEmpty)
        try room.restart()
        // Of a series after all others, too.
        try room.sqlite("INSERT INTO log SELECT \(number), \(Int64.max), zeroblob(33 << 20), chain FROM log WHERE number = 1")
        #expect(try room.faults() == [AccessLogFault(.otherNumbers, number: 0)])
        let last = try #require(try room.database.lastLogRow())
        // Old records go with each five hundredth one.
        let next = LogRow(number: 500, series: 500, sealed: last.sealed, chain: last.chain)
        try room.database.append(LogAddition(rows: [next], key: [1], anchored: 500))
        #expect(try room.database.logRows(after: 0, count: 10).map(\.number) == Array(1...6) + [500])
        #expect(try room.database.logKey(of: last.series) != nil)
        try room.restart()
        try room.sqlite("DELETE FROM log WHERE number IN (1, 2, 3, 500)")
        let faults = [AccessLogFault(.otherNumbers, number: 0), AccessLogFault(.missingBefore, number: 4)]
        #expect(try room.faults() == faults)
    }

    @Test("A record that names a later series than its own causes no keys to be removed")
    func laterSeries() throws {
        let room = try Room()
        for _ in 0..<6 { try room.addAny() }
        let last = try #require(try room.database.lastLogRow())
        try room.restart()
        try room.sqlite("UPDATE log SET series = \(Int64.max) WHERE number = 1")
        let next = LogRow(number: 500, series: 500, sealed: last.sealed, chain: last.chain)
        try room.database.append(LogAddition(rows: [next], key: [1], anchored: 500))
        #expect(try room.database.logKey(of: last.series) != nil)
    }

    @Test(
        "A key of a series that is gone, altered or another one's is reported, though the chain is whole",
        arguments: [
            ("DELETE FROM log_series WHERE first = 3", 3, 4), ("UPDATE log_series SET key = zeroblob(length(key)) WHERE first = 3", 3, 4),
            ("UPDATE log_series SET key = x'' WHERE first = 1", 1, 2), ("DELETE FROM log_series", 1, 6),
            ("UPDATE log_series SET key = (SELECT key FROM log_series WHERE first = 1) WHERE first = 5", 5, 6),
        ] as [(String, Int64, Int64)])
    func keysOfSeries(change: String, first: Int64, last: Int64) throws {
        let room = try Room()
        for _ in 0..<3 {
            for _ in 0..<2 { try room.addAny() }
            #expect(try room.faults().isEmpty)
            try room.restart()
        }
        try room.sqlite(change)
        for _ in 0..<2 {
            #expect(try room.faults() == [AccessLogFault(.unreadable, number: first, last: last)])
            try room.restart()
        }
        #expect(try room.found().filter { $0.record == nil }.map(\.number) == Array(first...last))
    }

    @Test("Records that the chain does not vouch for are opened: the oldest, those after a gap, and those that the enclave does not know")
    func unvouchedRecords() throws {
        let room = try Room()
        for _ in 0..<6 { try room.addAny() }
        #expect(try room.faults().isEmpty)
        try room.restart()
        try room.sqlite("UPDATE log SET sealed = zeroblob(length(sealed)) WHERE number IN (1, 4); DELETE FROM log WHERE number = 3")
        #expect(
            try room.faults() == [
                AccessLogFault(.unreadable, number: 1), AccessLogFault(.missingBefore, number: 4), AccessLogFault(.unreadable, number: 4),
            ])
        // Somebody computes a new chain for the records that were not reported yet.
        let other = try Room()
        for _ in 0..<2 { try other.addAny() }
        #expect(try other.faults().isEmpty)
        let known = other.enclave.state.withLock { $0.logEnd }
        try other.addAny()
        other.enclave.set { $0.logEnd = known }
        let forged = LogRow(number: 3, series: 1, sealed: [UInt8](repeating: 0, count: 284), chain: [])
        let end = known.adding(forged.link)
        try other.restart()
        let bytes = end.chain.map { String(UInt16($0) + 256, radix: 16).dropFirst() }.joined()
        try other.sqlite("UPDATE log SET sealed = zeroblob(284), chain = x'\(bytes)' WHERE number = 3")
        #expect(try other.faults() == [AccessLogFault(.unreadable, number: 3)])
    }
}

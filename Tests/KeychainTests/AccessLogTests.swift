import EnclaveWire
import Foundation
import GRDB
import Keychain
import KeychainStore
import Synchronization
import Testing
import VaubanAccessPolicy
import VaubanKeychainModel
import VaubanKeychainWire
import VaubanLogHead
import VaubanRefusal
import VaubanSignedNote
import VaubanUserModel

/// What is recorded of the use of items, and how a cut or altered log is noticed (Specs/access-log.md).
@Suite struct AccessLogTests {
    private let name: [AttributeName: AttributeValue] = [.service: .text("mail"), .account: .text("anna")]

    @Test("Reads, changes and deletions are recorded with the item's name and in their order")
    func actions() throws {
        let room = try Room()
        try room.add(name, value: "one")
        _ = try room.find(name)
        try room.update(name, value: "two")
        try room.delete(name)
        let records = try room.log()
        #expect(records.map(\.action) == [.added, .read, .changed, .deleted])
        #expect(records.allSatisfy { $0.items.map(\.name) == ["mail/anna"] })
        #expect(Set(records.flatMap(\.items).map(\.item)).count == 1)
        #expect(records.allSatisfy { $0.outcome == .done && $0.program == nil && $0.unrecorded == 0 })
    }

    @Test("A search that returns no value, and an add that fails, are not recorded")
    func unrecorded() throws {
        let room = try Room()
        try room.add(name)
        _ = try room.find(name, data: false)
        #expect(Refusal.Reason.of { try room.add(name) } == .duplicateItem)
        #expect(try room.log().map(\.action) == [.added])
    }

    @Test("A record names the program and the Vauban commands that it used")
    func programs() throws {
        let room = try Room()
        let mail = Callers.installed("/usr/bin/mail")
        try room.add("anna", as: mail)
        _ = try room.get("anna", as: mail)
        let shell = Callers.commandLine()
        room.enclave.set { $0.consentAnswers = .success(.once) }
        try room.add("bert", as: shell)
        let programs = try room.log(as: shell, ofAllOwners: true).map(\.program)
        #expect(programs.map { $0?.path } == ["/usr/bin/mail", "/usr/bin/mail", "/usr/bin/bash"])
        #expect(programs.map { $0?.throughCommandLine } == [false, false, true])
        #expect(programs.last??.commands == ["/usr/bin/vauban"])
    }

    @Test("Equal reads are one use with a count, and reads of many items are few log records")
    func merging() throws {
        let room = try Room()
        for number in 0..<100 { try room.add([.service: .text("s"), .account: .text("\(number)")]) }
        let before = try room.log().count
        let caller = Caller(user: Room.user)
        for _ in 0..<50 { _ = try room.serve(.copyMatching(room.query([.account: .text("7")])), as: caller) }
        var all = room.query([.service: .text("s")])
        all.limit = .all
        _ = try room.serve(.copyMatching(all), as: caller)
        let records = try room.log().dropFirst(before)
        #expect(records.count == 4 && records.flatMap(\.items).count == 100)
        #expect(records.flatMap(\.items).filter { $0.count == 51 }.map(\.name) == ["s/7"])
    }

    @Test("What the user declines in a prompt is recorded as not approved")
    func refusals() throws {
        let room = try Room()
        try room.add(name, control: .userPresence)
        room.enclave.set { $0.userAnswers = Refusal(.cancelled) }
        #expect(Refusal.Reason.of { _ = try room.find(name) } == .cancelled)
        room.enclave.set { $0.userAnswers = nil }
        _ = try room.find(name)
        let records = try room.log()
        #expect(records.map(\.outcome) == [.done, .notApproved, .approved])
        #expect(records.map(\.action) == [.added, .read, .read])
    }

    @Test("Another owner's item that the user does not give away is recorded by its name in the prompt")
    func refusedConsent() throws {
        let room = try Room()
        try room.add("anna", as: Callers.installed("/usr/bin/mail"))
        room.enclave.set { $0.consentAnswers = .failure(Refusal(.cancelled)) }
        let thief = Callers.script()
        #expect(Refusal.Reason.of { _ = try room.get("anna", as: thief, group: "/usr/bin/mail") } == .cancelled)
        room.enclave.set { $0.consentAnswers = .success(.once) }
        let last = try #require(try room.log(as: Callers.commandLine(), ofAllOwners: true).last)
        #expect(last.outcome == .notApproved && last.action == .read && last.items.map(\.name) == ["s/anna"])
        #expect(last.program?.path == "/usr/bin/python3.11")
    }

    @Test("Only the user at the command line reads the log, and only unlocked; what is read while locked is recorded")
    func readers() throws {
        let room = try Room()
        try room.add(name, .always)
        for caller in [Callers.installed("/usr/bin/mail"), Callers.script()] {
            #expect(Refusal.Reason.of { _ = try room.serve(.accessLog(AccessLogQuery()), as: caller) } == .notAllowedHere)
        }
        room.enclave.lock(room.leasedKeys)
        _ = try room.find(name)
        #expect(Refusal.Reason.of { _ = try room.log() } == .locked)
        room.enclave.set { $0.lock = .unlocked }
        #expect(try room.log().map(\.action) == [.added, .read])
    }

    @Test("Without keys requests succeed, and a later record counts what is unrecorded")
    func withoutKeys() throws {
        let room = try Room()
        room.enclave.set { $0.logRefusal = Refusal(.storageFailed) }
        try room.add(name)
        try room.update(name, value: "two")
        #expect(try room.find(name).first?.value == "two")
        room.enclave.set { $0.logRefusal = nil }
        let records = try room.log()
        #expect(records.map(\.action) == [.read] && records.map(\.unrecorded) == [2])
    }

    @Test("A full disk stops no read, and the log can still be read")
    func fullDisk() throws {
        let room = try Room(pagesMax: 60)
        try room.add(name)
        var count = 0
        while Refusal.Reason.of({ try room.add([.account: .text("\(count)")], value: String(repeating: "x", count: 5000)) }) == nil {
            count += 1
        }
        for _ in 0..<3 { #expect(try room.find(name).first?.value == "value") }
        #expect(try room.log().first?.action == .added)
    }

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

    @Test("Without the user's consent nobody learns of other owners' items")
    func otherOwners() throws {
        let room = try Room()
        try room.add("anna", as: Callers.installed("/usr/bin/mail"))
        let shell = Callers.commandLine()
        try room.add("bert", as: shell)
        let found = try room.found(as: shell)
        #expect(found.map(\.isHidden) == [true, false] && found.map { $0.record == nil } == [true, false])
        #expect(Refusal.Reason.of { _ = try room.log(as: shell, ofAllOwners: true) } != nil)
        room.enclave.set { $0.consentAnswers = .success(.once) }
        let all = try room.log(as: shell, ofAllOwners: true)
        #expect(all.flatMap(\.items).map(\.name) == ["s/anna", "s/bert"])
    }

    @Test("A copy records that the original was read, and a rename both names")
    func copiesAndRenames() throws {
        let room = try Room()
        try room.add(name)
        let query = ItemQuery(kind: .genericPassword, attributes: ItemAttributes(name))
        try room.serve(.transfer(query, ItemAttributes([.account: .text("copy")]), keepsOriginal: true))
        try room.update(name, to: [.account: .text("bert")])
        let records = try room.log().dropFirst()
        #expect(records.map(\.action) == [.added, .read, .changed])
        #expect(records.map { $0.items.map(\.name) } == [["mail/copy"], ["mail/anna"], ["mail/anna", "mail/bert"]])
    }

    // MARK: Attacks on the file

    @Test("A record that was altered, exchanged or moved does not pass for the one before")
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
        #expect(try room.faults() == [AccessLogFault(.missingBefore, number: 5)])
        #expect(try room.page().oldest == 2)
        try room.restart()
        try room.sqlite("DELETE FROM log")
        try room.addAny()
        #expect(try room.faults() == [AccessLogFault(.missingBefore, number: 7)])
    }

    @Test("Records that were cut from the end are reported missing, also when the log goes on")
    func cut() throws {
        for alsoSeries in [true, false] {
            let room = try Room()
            for _ in 0..<6 { try room.addAny() }
            #expect(try room.faults().isEmpty)
            try room.restart()
            try room.sqlite("DELETE FROM log WHERE number > 4" + (alsoSeries ? "; DELETE FROM log_series" : ""))
            #expect(try room.faults() == [AccessLogFault(.missingAtEnd, number: 6)])
            try room.addAny()
            #expect(try room.found().map(\.number) == [1, 2, 3, 4, 7])
            #expect(try room.faults() == [AccessLogFault(.missingBefore, number: 7)])
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

    @Test("Numbers that no log reaches are ignored")
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
    }

    @Test("An erased keychain has no earlier records, and the numbers go on")
    func erased() throws {
        let room = try Room()
        for _ in 0..<3 { try room.addAny() }
        _ = try room.faults()
        try room.enclave.renew(.firstUnlockIndex, destroyingOld: true)
        room.enclave.set { $0.logEnd = AccessLogEnd(number: $0.logEnd.number, chain: AccessLogEnd.empty.chain) }
        room.leasedKeys.forget(Room.user)
        #expect(try room.serve(.discard).messages.last == .done)
        #expect(try room.found().isEmpty && room.faults().isEmpty)
        try room.addAny()
        let found = try room.found()
        #expect(found.map(\.number) == [4] && found.first?.record != nil)
        #expect(try room.page().oldest == 4 && room.faults().isEmpty)
    }
}

extension Room {
    fileprivate func addAny() throws { try add([.service: .text("s"), .account: .text(UUID().uuidString)]) }

    fileprivate func query(_ attributes: [AttributeName: AttributeValue]) -> ItemQuery {
        var query = ItemQuery(kind: .genericPassword, attributes: ItemAttributes(attributes))
        query.returns.insert(.data)
        return query
    }

    func page(_ query: AccessLogQuery = AccessLogQuery(), as caller: Caller = Caller(user: Room.user)) throws -> AccessLogPage {
        guard case .accessLog(let page)? = try serve(.accessLog(query), as: caller).messages.first else { throw Refusal(.internalError) }
        return page
    }

    fileprivate func faults() throws -> [AccessLogFault] { try page(AccessLogQuery(verifies: true)).faults }

    /// Returns the whole log, the oldest record first.
    func found(as caller: Caller = Caller(user: Room.user), ofAllOwners: Bool = false) throws -> [FoundRecord] {
        var all: [FoundRecord] = []
        var query = AccessLogQuery(coversAllOwners: ofAllOwners)
        while true {
            let page = try page(query, as: caller)
            guard let last = page.records.last else { return all.reversed() }
            all += page.records
            query.before = last.number
        }
    }

    func log(as caller: Caller = Caller(user: Room.user), ofAllOwners: Bool = false) throws -> [AccessRecord] {
        try found(as: caller, ofAllOwners: ofAllOwners).compactMap(\.record)
    }

    /// Changes the file as somebody does who can write it.
    fileprivate func sqlite(_ sql: String) throws {
        let queue = try DatabaseQueue(path: file)
        try queue.write { try $0.execute(sql: sql) }
        try queue.close()
    }

    fileprivate func replaceFile(by copy: String) throws {
        for suffix in ["", "-wal", "-shm"] where FileManager.default.fileExists(atPath: file + suffix) {
            try FileManager.default.removeItem(atPath: file + suffix)
        }
        try FileManager.default.copyItem(atPath: copy, toPath: file)
    }
}

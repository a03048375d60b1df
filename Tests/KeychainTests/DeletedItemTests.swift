import EnclaveWire
import Keychain
import KeychainStore
import Synchronization
import Testing
import VaubanAccessPolicy
import VaubanKeychainModel
import VaubanKeychainWire
import VaubanRefusal
import VaubanUserModel

/// Deleted items that can still be restored (Specs/history.md).
@Suite struct DeletedItemTests {
    private let name: [AttributeName: AttributeValue] = [.service: .text("mail"), .account: .text("anna")]
    private static let day: Int64 = 24 * 3600 * 1_000_000

    @Test("No search finds a deleted item, and an undelete restores all of it")
    func undelete() throws {
        let room = try Room()
        try room.add(name, value: "one", control: .userPresence)
        try room.update(name, value: "two")
        try room.delete(name)
        #expect(Refusal.Reason.of { _ = try room.find(name) } == .itemNotFound)
        #expect(Refusal.Reason.of { _ = try room.find([:], limit: .all) } == .itemNotFound)
        #expect(Refusal.Reason.of { try room.delete(name) } == .itemNotFound)
        let item = try #require(try room.deleted().first)
        #expect(item.record.attributes[.account] == .text("anna") && item.deleted == room.clock.withLock { $0 })
        try room.history(.undelete(item.item))
        let asked = room.enclave.state.withLock { $0.promptCount }
        #expect(try room.find(name).first?.value == "two")
        #expect(room.enclave.state.withLock { $0.promptCount } == asked + 1)
        #expect(try room.find([.account: .text("anna")], data: false) { $0.authenticationUI = .describe }.count == 1)
        // Its earlier values are restored with it.
        #expect(try room.earlier(name, number: 1) == "one")
        #expect(try room.versions(name).count == 1)
        #expect(try room.deleted().isEmpty)
        #expect(Refusal.Reason.of { try room.history(.undelete(item.item)) } == .itemNotFound)
    }

    @Test("The earlier values of a deleted item end with it: after thirty days, when it is erased, and at once if it is not kept")
    func earlierValuesEndWithTheItem() throws {
        let room = try Room()
        func addWithHistory() throws {
            try room.add(name, value: "one")
            try room.update(name, value: "two")
        }
        func rows() throws -> Int { try room.database.historyRows(after: 0, count: 10, bytesMax: .max).count }
        try addWithHistory()
        try room.delete(name)
        #expect(try rows() == 2)
        room.pass(microseconds: 31 * Self.day)
        #expect(try room.deleted().isEmpty && rows() == 0)
        try addWithHistory()
        try room.delete(name)
        try room.history(.purge(try #require(try room.deleted().first).item))
        #expect(try rows() == 0)
        try addWithHistory()
        try room.serve(.delete(room.query(name), atOnce: true))
        #expect(try rows() == 0)
        try addWithHistory()
        try room.history(.setting(false))
        try room.delete(name)
        #expect(try rows() == 0)
    }

    @Test("The name of a deleted item can be used again, and the item cannot be restored while it is taken")
    func nameIsFree() throws {
        let room = try Room()
        for number in 0..<3 {
            try room.add(name, value: "value \(number)")
            try room.delete(name)
        }
        try room.add(name, value: "new")
        let deleted = try room.deleted()
        #expect(deleted.count == 3)
        #expect(Refusal.Reason.of { try room.history(.undelete(deleted[2].item)) } == .duplicateItem)
        #expect(try room.find(name).first?.value == "new")
        try room.delete(name)
        try room.history(.undelete(deleted[2].item))
        #expect(try room.find(name).first?.value == "value 2")
        #expect(try room.database.rowCount() == 1)
    }

    @Test("Items of other classes, or deleted at once, are not kept, and a deleted item can be erased")
    func atOnce() throws {
        let room = try Room()
        try room.add(name, value: "one")
        try room.serve(.delete(room.query(name), atOnce: true))
        try room.add([.label: .text("a key")], value: "k", kind: .key)
        try room.delete([.label: .text("a key")], kind: .key)
        #expect(try room.deleted().isEmpty)
        try room.add(name, value: "one")
        try room.delete(name)
        let item = try #require(try room.deleted().first)
        #expect(try room.history(.purge(item.item)).messages.first == .cleared(1))
        #expect(try room.deleted().isEmpty)
    }

    @Test("A deleted item is erased by the first request after thirty days, even after a restart")
    func expires() throws {
        let room = try Room()
        try room.add(name, value: "one")
        try room.delete(name)
        room.pass(microseconds: 29 * Self.day)
        #expect(try room.deleted().count == 1)
        try room.add([.service: .text("later")], value: "two")
        try room.delete([.service: .text("later")])
        try room.restart()
        room.pass(microseconds: Self.day)
        _ = try? room.find([.service: .text("anything")])
        #expect(try room.database.deletedRows(after: 0, count: 10).count == 1)
        #expect(try room.deleted().first?.record.attributes[.service] == .text("later"))
        room.pass(microseconds: 29 * Self.day)
        #expect(try room.deleted().isEmpty)
        #expect(try room.database.deletedRows(after: 0, count: 10).isEmpty)
    }

    @Test("A wall clock that is ahead for a while erases no deleted item, and one that is behind at the deletion does not end it early")
    func wrongClocks() throws {
        let room = try Room()
        try room.add(name, value: "one")
        try room.delete(name)
        // The clock jumps ahead, and the room restarts meanwhile.
        room.clock.withLock { $0 += 40 * Self.day }
        #expect(try room.deleted().count == 1)
        try room.restart()
        #expect(try room.deleted().count == 1)
        room.clock.withLock { $0 -= 40 * Self.day }
        #expect(try room.deleted().count == 1)
        // It is behind at a deletion.
        let before = room.clock.withLock { $0 }
        room.clock.withLock { $0 -= 28 * Self.day }
        try room.add([.service: .text("later")], value: "two")
        try room.delete([.service: .text("later")])
        room.clock.withLock { $0 += 28 * Self.day }
        #expect(try room.deleted().allSatisfy { $0.deleted >= before })
        room.pass(microseconds: 5 * Self.day)
        #expect(try room.deleted().count == 2)
        // Later both are erased.
        room.pass(microseconds: 26 * Self.day)
        #expect(try room.deleted().isEmpty)
    }

    @Test("A database that is opened again continues with the time of its deleted items") func timeIsStored() throws {
        let room = try Room()
        try room.add(name, value: "one")
        try room.delete(name)
        let deleted = room.clock.withLock { $0 }
        #expect(try room.storedTime() == deleted)
        #expect(try room.deleted().count == 1)
        // Less than a day is not written.
        room.pass(microseconds: Self.day / 2)
        #expect(try room.deleted().count == 1)
        #expect(try room.storedTime() == deleted)
        room.pass(microseconds: Self.day)
        #expect(try room.deleted().count == 1)
        #expect(try room.storedTime() == deleted + Self.day * 3 / 2)
        // After a restart a day is added at most, whatever the clock says.
        room.clock.withLock { $0 += 300 * Self.day }
        try room.restart()
        #expect(try room.deleted().count == 1)
        #expect(try room.storedTime() == deleted + Self.day * 5 / 2)
    }

    @Test("Ten deleted items of one name are kept, and a loop of adds and deletes is limited")
    func bounded() throws {
        let room = try Room()
        for number in 0..<12 {
            try room.add(name, value: "value \(number)")
            try room.delete(name)
        }
        #expect(try room.deleted().count == 10)
        let large = String(repeating: "x", count: 1 << 20)
        for number in 0..<20 {
            let flood: [AttributeName: AttributeValue] = [
                .service: .text("flood \(number)"), .accessGroup: .text("program:/usr/bin/flood"),
            ]
            try room.add(flood, value: large)
            try room.delete(flood)
        }
        let deleted = try room.deleted()
        let floods = deleted.count { $0.record.attributes[.accessGroup] == .text("program:/usr/bin/flood") }
        #expect(floods >= 11 && floods < 16)
        // The program displaced only its own items.
        #expect(deleted.count == floods + 10)
    }

    @Test("Only the command line uses the history, and other programs' items need consent")
    func owners() throws {
        let room = try Room()
        let (mail, chat) = (Callers.installed("/usr/bin/mail"), Callers.installed("/usr/bin/chat"))
        try room.serve(
            .add(ItemRecord(kind: .genericPassword, attributes: ItemAttributes(name)), returns: [], hasData: true), value: "of mail",
            as: mail)
        for request in [HistoryRequest.list(room.query(name)), .deleted(ofAllOwners: true), .setting(false), .clear(nil)] {
            #expect(Refusal.Reason.of { try room.history(request, as: chat) } == .notAllowedHere)
        }
        try room.serve(.delete(room.query(name)), as: mail)
        let hand = Callers.commandLine()
        #expect(try room.deleted(as: hand).isEmpty)
        room.enclave.set { $0.consentAnswers = .success(.once) }
        let all = try room.history(.deleted(ofAllOwners: true), as: hand).messages
        guard case .deleted(let item)? = all.first else { throw Refusal(.internalError) }
        room.enclave.set { $0.consentAnswers = .failure(Refusal(.cancelled)) }
        #expect(Refusal.Reason.of { try room.history(.undelete(item.item), as: hand) } == .cancelled)
        room.enclave.set { $0.consentAnswers = .success(.once) }
        try room.history(.undelete(item.item), as: hand)
        #expect(try room.serve(.copyMatching(room.query(name) { $0.returns.insert(.data) }), as: mail).found.first?.value == "of mail")
        // The command line clears only its own items.
        try room.serve(.delete(room.query(name)), as: mail)
        #expect(try room.history(.clear(nil), as: hand).messages.first == .cleared(0))
    }
}

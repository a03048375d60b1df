import EnclaveWire
import Keychain
import Testing
import VaubanAccessPolicy
import VaubanKeychainModel
import VaubanKeychainWire
import VaubanRefusal
import VaubanUserModel

/// What is recorded of the use of items, and who reads it (Specs/access-log.md).
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
}

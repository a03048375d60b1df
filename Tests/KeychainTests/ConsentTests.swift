// Across the line between what is one program's and another's: the person decides, or it is refused.

import EnclaveWire
import Keychain
import Testing
import VaubanAccessPolicy
import VaubanKeychainModel
import VaubanKeychainWire

@Suite struct ConsentTests {
    private let mail = Callers.installed("/usr/bin/mail")
    private let script = Callers.script()

    private func room() throws -> Room {
        let room = try Room()
        try room.add("a", value: "of mail", as: mail)
        try room.add("b", value: "of mail too", as: mail)
        return room
    }

    @Test func whoHasNoIdentityIsShownToThePerson() throws {
        let room = try room()
        room.personSays(.once)
        for caller in [script, Callers.commandLine()] {
            #expect(try room.get("a", as: caller) == ["program:/usr/bin/mail=of mail"])
        }
        let asked = try #require(room.consents.last)
        #expect(asked.purpose == .readItem && asked.item == "s/a" && asked.owner == "program:/usr/bin/mail")
        #expect(asked.offered == [.once, .untilLock, .always])
        // Once is once.
        room.personIsAway()
        #expect(Refusal.Reason.of { _ = try room.get("a", as: script) } == .nobodyToAsk)
    }

    @Test func itIsRefusedAndNeverCalledMissing() throws {
        let room = try room()
        #expect(Refusal.Reason.of { _ = try room.get("a", as: script) } == .nobodyToAsk)
        #expect(Refusal.Reason.of { _ = try room.get("a", as: script, ui: .fail) } == .interactionNotAllowed)
        #expect(Refusal.Reason.of { _ = try room.get(as: script, limit: .all) } == .interactionNotAllowed)
        #expect(Refusal.Reason.of { _ = try room.get("a", as: Callers.commandLine(startedBy: .unknown(.orphan))) } == .nobodyToAsk)
        room.enclave.set { $0.consentAnswers = .failure(Refusal(.passcodeNotSet)) }
        #expect(Refusal.Reason.of { _ = try room.get("a", as: script) } == .interactionNotAllowed)
        room.enclave.set { $0.consentAnswers = .failure(Refusal(.cancelled)) }
        #expect(Refusal.Reason.of { _ = try room.get("a", as: script) } == .cancelled)
        // What is nowhere is not found, and nobody is asked for it.
        let before = room.consents.count
        #expect(Refusal.Reason.of { _ = try room.get("nowhere", as: script) } == .itemNotFound)
        #expect(room.consents.count == before)
    }

    @Test func aKnownProgramIsNeverAskedAbout() throws {
        let room = try room()
        room.personSays(.always)
        #expect(Refusal.Reason.of { _ = try room.get("a", as: Callers.installed("/usr/bin/chat")) } == .itemNotFound)
        #expect(room.consents.isEmpty)
    }

    @Test func untilTheLockIsUntilTheLock() throws {
        let room = try room()
        room.personSays(.untilLock)
        _ = try room.get("a", as: script)
        room.personIsAway()
        #expect(try room.get("a", as: script).count == 1)
        // For this item and this interpreter alone.
        #expect(Refusal.Reason.of { _ = try room.get("b", as: script) } == .nobodyToAsk)
        #expect(Refusal.Reason.of { _ = try room.get("a", as: Callers.script(of: "/usr/bin/perl")) } == .nobodyToAsk)
        room.enclave.lock(room.lent)
        room.enclave.set { $0.lock = .unlocked }
        #expect(Refusal.Reason.of { _ = try room.get("a", as: script) } == .nobodyToAsk)
    }

    @Test func alwaysOutlivesARestartAndEndsWhenItIsTakenBack() throws {
        let room = try room()
        room.personSays(.always)
        _ = try room.get("a", as: script)
        room.personIsAway()
        try room.restart()
        #expect(try room.get("a", as: script).count == 1)
        #expect(Refusal.Reason.of { _ = try room.get("b", as: script) } == .nobodyToAsk)
        let listed = try room.serve(.permissions, as: Callers.commandLine()).messages.compactMap { reply -> [Permission]? in
            if case .permissions(let list) = reply { list } else { nil }
        }.flatMap(\.self)
        #expect(listed == [Permission(.reads, subject: "anything run by /usr/bin/python3.11", object: "s/a of program:/usr/bin/mail")])
        let item = ItemQuery(kind: .genericPassword, attributes: ItemAttributes([.service: .text("s"), .account: .text("a")]))
        try room.serve(.permit(PermissionChange(.reads, subject: "anything run by /usr/bin/python3.11", permits: false, item: item)), as: Callers.commandLine())
        #expect(Refusal.Reason.of { _ = try room.get("a", as: script) } == .nobodyToAsk)
    }

    @Test(arguments: [Doubt.traced, .foreignCode, .orphan, .unseen])
    func whoHasNoNameIsLetInOnceAtMost(_ doubt: Doubt) throws {
        let room = try room()
        room.personSays(.once)
        #expect(try room.get("a", as: Callers.script(doubt)).count == 1)
        #expect(room.consents.last?.offered == .once)
        room.personIsAway()
        #expect(Refusal.Reason.of { _ = try room.get("a", as: Callers.script(doubt)) } == .nobodyToAsk)
    }

    @Test func changingAndRemovingAskEveryTime() throws {
        let room = try room()
        room.personSays(.always)
        try room.update("a", to: "new", as: script)
        #expect(room.consents.last?.purpose == .changeItem && room.consents.last?.offered == .once)
        #expect(try room.get("a", as: mail) == ["program:/usr/bin/mail=new"])
        try room.delete("a", as: script)
        #expect(room.consents.last?.purpose == .deleteItem)
        room.personIsAway()
        #expect(Refusal.Reason.of { try room.delete("b", as: script) } == .nobodyToAsk)
        #expect(Refusal.Reason.of { try room.update("b", to: "x", as: script) } == .nobodyToAsk)
        #expect(try room.get(as: mail, limit: .all).count == 1)
    }

    @Test func whatBelongsToNobodyIsKeptWithoutAQuestionAndReadWithOne() throws {
        let room = try Room()
        try room.add("a", as: script)
        #expect(Refusal.Reason.of { _ = try room.get("a", as: script) } == .nobodyToAsk)
        #expect(Refusal.Reason.of { _ = try room.get("a", as: script, group: "unsigned") } == .nobodyToAsk)
        room.personSays(.always)
        #expect(try room.get("a", as: script) == ["unsigned=value"])
        #expect(Refusal.Reason.of { _ = try room.get("a", as: mail) } == .itemNotFound)
    }

    @Test func allOwnersAreListedAfterAYesAndWithoutAValue() throws {
        let room = try room()
        try room.add("c", as: Callers.commandLine())
        var query = ItemQuery(kind: .genericPassword)
        query.limit = .all
        query.returnsAttributes = true
        query.authenticationUI = .describe
        query.coversAllOwners = true
        let all = query
        #expect(Refusal.Reason.of { try room.serve(.copyMatching(all), as: Callers.commandLine()) } == .nobodyToAsk)
        room.personSays(.once)
        let found = try room.serve(.copyMatching(all), as: Callers.commandLine()).found
        #expect(found.count == 3 && found.allSatisfy { $0.value == nil })
        #expect(room.consents.last?.purpose == .listOwners)
        query.returnsData = true
        let values = query
        #expect(Refusal.Reason.of { try room.serve(.copyMatching(values), as: Callers.commandLine()) } == .badParameter)
        // Without that, the command line lists what is the person's own.
        #expect(try room.get(as: Callers.commandLine(), limit: .all, ui: .describe) == ["cli="])
    }

    @Test func theCommandLineAloneManagesPermissions() throws {
        let room = try room()
        room.personSays(.always)
        let item = ItemQuery(kind: .genericPassword, attributes: ItemAttributes([.service: .text("s"), .account: .text("a")]))
        let change = PermissionChange(.reads, subject: "program:/usr/bin/chat", permits: true, item: item)
        for caller in [mail, script] {
            #expect(Refusal.Reason.of { try room.serve(.permit(change), as: caller) } == .notAllowedHere)
            #expect(Refusal.Reason.of { try room.serve(.permissions, as: caller) } == .notAllowedHere)
            #expect(Refusal.Reason.of { try room.serve(.move(to: "cli"), as: caller) } == .notAllowedHere)
        }
        room.personIsAway()
        #expect(Refusal.Reason.of { try room.serve(.permit(change), as: Callers.commandLine()) } == .nobodyToAsk)
        room.personSays(.once)
        try room.serve(.permit(change), as: Callers.commandLine())
        #expect(try room.get("a", as: Callers.installed("/usr/bin/chat")) == ["program:/usr/bin/mail=of mail"])
        #expect(try room.get(as: Callers.installed("/usr/bin/chat"), limit: .all).count == 1)
        // To read is not to change.
        #expect(Refusal.Reason.of { try room.delete("a", as: Callers.installed("/usr/bin/chat")) } == .itemNotFound)
    }

    @Test func anItemNamesTheApplicationsThatMayReadIt() throws {
        let room = try Room()
        try room.add("a", as: mail, applications: ["program:/usr/bin/chat"])
        #expect(try room.get("a", as: Callers.installed("/usr/bin/chat")) == ["program:/usr/bin/mail=value"])
        #expect(Refusal.Reason.of { _ = try room.get("a", as: Callers.installed("/usr/bin/other")) } == .itemNotFound)
        try room.delete("a", as: mail)
        #expect(Refusal.Reason.of { _ = try room.get("a", as: Callers.installed("/usr/bin/chat")) } == .itemNotFound)
    }
}

// Access to other owners' items: the user decides, or it is refused.

import EnclaveWire
import Keychain
import Testing
import VaubanAccessPolicy
import VaubanKeychainModel
import VaubanKeychainWire
import VaubanPlainText
import VaubanRefusal
import VaubanUserModel

@Suite struct ConsentTests {
    private let mail = Callers.installed("/usr/bin/mail")
    private let script = Callers.script()
    /// The group of mail's items, which a caller without an identity names to ask for them.
    private let owner = "program:/usr/bin/mail"

    private func room() throws -> Room {
        let room = try Room()
        try room.add("a", value: "of mail", as: mail)
        try room.add("b", value: "of mail too", as: mail)
        return room
    }

    @Test("A caller without an identity prompts for other owners' items") func callerWithoutIdentityPromptsForOthersItems() throws {
        let room = try room()
        room.userSays(.once)
        for caller in [script, Callers.commandLine()] {
            #expect(try room.get("a", as: caller, group: owner) == ["program:/usr/bin/mail=of mail"])
        }
        let asked = try #require(room.consents.last)
        #expect(asked.purpose == .readItem && asked.item == "s/a" && asked.owner == "program:/usr/bin/mail")
        #expect(asked.offered == [.once, .untilLock, .always])
        // Consent for one use holds once.
        room.userIsAway()
        #expect(Refusal.Reason.of { _ = try room.get("a", as: script, group: owner) } == .noPromptAgent)
    }

    @Test("Without consent a caller cannot learn whether another program has stored an item", arguments: ["a", "nowhere"])
    func nothingRevealsOtherOwnersItems(_ account: String) throws {
        let room = try room()
        for caller in [script, Callers.commandLine(), Callers.commandLine(startedBy: .unknown(.orphan))] {
            // A request that names no owner does not reach other owners' items.
            let before = room.consents.count
            for ui in [AuthenticationUI.allow, .fail, .skip, .describe] {
                #expect(Refusal.Reason.of { _ = try room.get(account, as: caller, ui: ui) } == .itemNotFound)
                #expect(Refusal.Reason.of { _ = try room.get(account, as: caller, limit: .all, ui: ui) } == .itemNotFound)
            }
            #expect(Refusal.Reason.of { try room.update(account, to: "x", as: caller) } == .itemNotFound)
            #expect(Refusal.Reason.of { try room.delete(account, as: caller) } == .itemNotFound)
            #expect(room.consents.count == before)
            // A request that names an owner prompts before anything is looked up.
            #expect(Refusal.Reason.of { _ = try room.get(account, as: caller, group: owner) } == .noPromptAgent)
            #expect(Refusal.Reason.of { _ = try room.get(account, as: caller, ui: .fail, group: owner) } == .interactionNotAllowed)
            #expect(Refusal.Reason.of { _ = try room.get(account, as: caller, limit: .all, group: owner) } == .interactionNotAllowed)
            for ui in [AuthenticationUI.skip, .describe] {
                #expect(Refusal.Reason.of { _ = try room.get(account, as: caller, ui: ui, group: owner) } == .itemNotFound)
            }
            #expect(Refusal.Reason.of { _ = try room.get(as: caller, limit: .all, group: owner) } == .interactionNotAllowed)
            #expect(Refusal.Reason.of { try room.delete(account, as: caller, group: owner) } == .noPromptAgent)
            room.enclave.set { $0.consentAnswers = .failure(Refusal(.passcodeNotSet)) }
            #expect(Refusal.Reason.of { _ = try room.get(account, as: caller, group: owner) } == .interactionNotAllowed)
            room.enclave.set { $0.consentAnswers = .failure(Refusal(.cancelled)) }
            #expect(Refusal.Reason.of { _ = try room.get(account, as: caller, group: owner) } == .cancelled)
            room.userIsAway()
        }
        // The prompt shows the caller's own names, whether or not the item exists.
        #expect(Set(room.consents.map(\.item)) == ["s/\(account)"] && Set(room.consents.map(\.owner)) == [owner])
        // An add reaches no other group, so that no duplicate reveals an item.
        try room.add(account, as: script)
        #expect(Refusal.Reason.of { try room.add(account, as: script) } == .duplicateItem)
        #expect(Refusal.Reason.of { try room.add(account, as: script, group: owner) } == .missingEntitlement)
    }

    @Test("Consent for a missing item is reported as not found and opens one class only")
    func consentForMissingItemOpensOneClass() throws {
        let room = try room()
        room.userSays(.always)
        #expect(Refusal.Reason.of { _ = try room.get("nowhere", as: script, group: owner) } == .itemNotFound)
        #expect(try room.rows(.permission).isEmpty)
        #expect(Refusal.Reason.of { _ = try room.get("nowhere", as: script, group: owner) } == .itemNotFound)
        #expect(room.consents.count == 2)
        // The command line tries one class after the other with the same names, and prompts once.
        try room.add([.server: .text("s"), .account: .text("c"), .accessGroup: .text(owner)], kind: .internetPassword)
        let caller = Callers.commandLine()
        for (kind, name) in [(ItemKind.genericPassword, AttributeName.service), (.internetPassword, .server)] {
            var query = ItemQuery(
                kind: kind, attributes: ItemAttributes([name: .text("s"), .account: .text("c"), .accessGroup: .text(owner)]))
            query.returns.insert(.data)
            let wanted = query
            let reason = Refusal.Reason.of { try room.serve(.copyMatching(wanted), as: caller) }
            #expect(reason == (kind == .genericPassword ? .itemNotFound : nil))
        }
        #expect(room.consents.count == 3)
    }

    @Test("Permitting prompts before it searches", arguments: ["a", "nowhere"])
    func permittingPromptsBeforeSearching(_ account: String) throws {
        let room = try room()
        let item = ItemQuery(kind: .genericPassword, attributes: ItemAttributes([.service: .text("s"), .account: .text(account)]))
        let subject = "program:/usr/bin/chat"
        let allow = KeychainRequest.permit(PermissionChange(.reads, subject: subject, permits: true, item: item))
        #expect(Refusal.Reason.of { try room.serve(allow, as: Callers.commandLine()) } == .noPromptAgent)
        let disallow = KeychainRequest.permit(PermissionChange(.reads, subject: subject, permits: false, item: item))
        #expect(Refusal.of { try room.serve(disallow, as: Callers.commandLine()) } == Refusal(.itemNotFound))
    }

    @Test("A program with an identity never prompts for other owners' items") func programWithIdentityNeverPrompts() throws {
        let room = try room()
        room.userSays(.always)
        #expect(Refusal.Reason.of { _ = try room.get("a", as: Callers.installed("/usr/bin/chat")) } == .itemNotFound)
        #expect(room.consents.isEmpty)
    }

    @Test("Consent until the lock ends with the lock") func consentUntilLockEndsWithLock() throws {
        let room = try room()
        room.userSays(.untilLock)
        _ = try room.get("a", as: script, group: owner)
        room.userIsAway()
        #expect(try room.get("a", as: script, group: owner).count == 1)
        // For this item and this interpreter alone, and for requests that name the owner again.
        #expect(Refusal.Reason.of { _ = try room.get("a", as: script) } == .itemNotFound)
        #expect(Refusal.Reason.of { _ = try room.get("b", as: script, group: owner) } == .noPromptAgent)
        #expect(Refusal.Reason.of { _ = try room.get("a", as: Callers.script(of: "/usr/bin/perl"), group: owner) } == .noPromptAgent)
        room.enclave.lock(room.leasedKeys)
        room.enclave.set { $0.lock = .unlocked }
        #expect(Refusal.Reason.of { _ = try room.get("a", as: script, group: owner) } == .noPromptAgent)
    }

    @Test("Lasting consent survives a restart until it is withdrawn") func lastingConsentSurvivesRestartUntilWithdrawn() throws {
        let room = try room()
        room.userSays(.always)
        _ = try room.get("a", as: script, group: owner)
        room.userIsAway()
        try room.restart()
        #expect(try room.get("a", as: script, group: owner).count == 1)
        #expect(Refusal.Reason.of { _ = try room.get("b", as: script, group: owner) } == .noPromptAgent)
        let listed = try room.serve(.permissions, as: Callers.commandLine()).messages.compactMap { reply -> [Permission]? in
            if case .permissions(let list) = reply { list } else { nil }
        }.flatMap(\.self)
        #expect(listed == [Permission(.reads, subject: "anything run by /usr/bin/python3.11", object: "s/a of program:/usr/bin/mail")])
        let item = ItemQuery(kind: .genericPassword, attributes: ItemAttributes([.service: .text("s"), .account: .text("a")]))
        try room.serve(
            .permit(PermissionChange(.reads, subject: "anything run by /usr/bin/python3.11", permits: false, item: item)),
            as: Callers.commandLine())
        #expect(Refusal.Reason.of { _ = try room.get("a", as: script, group: owner) } == .noPromptAgent)
    }

    @Test("A caller without a name is offered consent for one use alone", arguments: [IdentityGap.traced, .foreignCode, .orphan, .unseen])
    func callerWithoutNameIsPermittedOnlyOnce(_ gap: IdentityGap) throws {
        let room = try room()
        room.userSays(.once)
        #expect(try room.get("a", as: Callers.script(gap), group: owner).count == 1)
        #expect(room.consents.last?.offered == .once)
        room.userIsAway()
        #expect(Refusal.Reason.of { _ = try room.get("a", as: Callers.script(gap), group: owner) } == .noPromptAgent)
    }

    @Test("Only a program that had an identity before it was replaced is told to start again")
    func replacedPrograms() {
        func isReplaced(_ gap: IdentityGap, _ path: String?, throughCommandLine: Bool = false) -> Bool {
            let executable = path.map { Callers.executable($0) }
            return CallerIdentity(.unknown(gap), throughCommandLine: throughCommandLine, executable: executable).isOfReplacedProgram
        }
        #expect(isReplaced(.unseen, "/usr/bin/mail (deleted)") && isReplaced(.unseen, "/home/anna/mail\u{600} (deleted)"))
        // A library of root's was replaced.
        #expect(isReplaced(.unseen, "/usr/bin/mail"))
        #expect(!isReplaced(.unseen, nil) && !isReplaced(.unseen, "/memfd:mail (deleted)"))
        #expect(!isReplaced(.interpreter, "/usr/bin/python3.11 (deleted)") && !isReplaced(.foreignCode, "/usr/bin/mail"))
        #expect(!isReplaced(.unseen, "/usr/bin/terminal (deleted)", throughCommandLine: true))
    }

    @Test("Changing and deleting other owners' items prompt each time") func changingAndDeletingPromptEachTime() throws {
        let room = try room()
        room.userSays(.always)
        try room.update("a", to: "new", as: script, in: owner)
        #expect(room.consents.last?.purpose == .changeItem && room.consents.last?.offered == .once)
        #expect(try room.get("a", as: mail) == ["program:/usr/bin/mail=new"])
        try room.delete("a", as: script, group: owner)
        #expect(room.consents.last?.purpose == .deleteItem)
        room.userIsAway()
        #expect(Refusal.Reason.of { try room.delete("b", as: script, group: owner) } == .noPromptAgent)
        #expect(Refusal.Reason.of { try room.update("b", to: "x", as: script, in: owner) } == .noPromptAgent)
        #expect(try room.get(as: mail, limit: .all).count == 1)
    }

    @Test("The prompt for a change shows the new name of the item")
    func renamingIsNamedInThePrompt() throws {
        let room = try room()
        try room.add("mine", as: script)
        func rename(_ account: String, of group: String) throws {
            let attributes: [AttributeName: AttributeValue] = [.service: .text("s"), .account: .text(account), .accessGroup: .text(group)]
            let query = ItemQuery(kind: .genericPassword, attributes: ItemAttributes(attributes))
            let changes = ItemChanges(attributes: ItemAttributes([.account: .text("master key")]))
            try room.serve(.update(query, changes), as: script)
        }
        #expect(Refusal.Reason.of { try rename("a", of: owner) } == .noPromptAgent)
        #expect(room.consents.last?.item == "s/a, to be called s/master key")
        #expect(Refusal.Reason.of { try rename("mine", of: "unsigned") } == .noPromptAgent)
        #expect(room.consents.last?.item == "s/mine, to be called s/master key")
    }

    @Test("Consent to one spelling of an owner is not consent to another")
    func consentIsToTheBytesShown() throws {
        let room = try room()
        room.userSays(.once)
        let caller = Callers.script()
        let spellings = [(ItemKind.genericPassword, AttributeName.service, "\u{e9}"), (.internetPassword, .server, "e\u{301}")]
        for (kind, name, letter) in spellings {
            let attributes: [AttributeName: AttributeValue] = [name: .text("s"), .accessGroup: .text("program:/usr/bin/\(letter)")]
            var query = ItemQuery(kind: kind, attributes: ItemAttributes(attributes))
            query.returns.insert(.data)
            let wanted = query
            #expect(Refusal.Reason.of { try room.serve(.copyMatching(wanted), as: caller) } == .itemNotFound)
        }
        #expect(room.consents.count == 2)
    }

    @Test("A long name keeps both ends in the prompt, even as one character with many accents")
    func longNamesKeepBothEndsInThePrompt() throws {
        let room = try room()
        for name in ["e" + String(repeating: "\u{301}", count: 400) + "end", String(repeating: "x", count: 600) + "end"] {
            #expect(Refusal.Reason.of { _ = try room.get(name, as: script, group: owner) } == .noPromptAgent)
            let item = try #require(room.consents.last?.item)
            #expect(item.utf8.count <= Consent.textBytesMax && item.hasBytePrefix("s/") && item.hasByteSuffix("end"))
        }
    }

    @Test("Unsigned items are added without a prompt and read with one") func unsignedItemsAreAddedWithoutPromptAndReadWithOne() throws {
        let room = try Room()
        try room.add("a", as: script)
        #expect(Refusal.Reason.of { _ = try room.get("a", as: script) } == .noPromptAgent)
        #expect(Refusal.Reason.of { _ = try room.get("a", as: script, group: "unsigned") } == .noPromptAgent)
        room.userSays(.always)
        #expect(try room.get("a", as: script) == ["unsigned=value"])
        #expect(Refusal.Reason.of { _ = try room.get("a", as: mail) } == .itemNotFound)
    }

    @Test("Listing all owners needs consent and returns no value") func listingAllOwnersNeedsConsentAndReturnsNoValue() throws {
        let room = try room()
        try room.add("c", as: Callers.commandLine())
        var query = ItemQuery(kind: .genericPassword)
        query.limit = .all
        query.returns.insert(.attributes)
        query.authenticationUI = .describe
        query.coversAllOwners = true
        let all = query
        #expect(Refusal.Reason.of { try room.serve(.copyMatching(all), as: Callers.commandLine()) } == .noPromptAgent)
        room.userSays(.once)
        let found = try room.serve(.copyMatching(all), as: Callers.commandLine()).found
        #expect(found.count == 3 && found.allSatisfy { $0.value == nil })
        #expect(room.consents.last?.purpose == .listOwners)
        query.returns.insert(.data)
        let values = query
        #expect(Refusal.Reason.of { try room.serve(.copyMatching(values), as: Callers.commandLine()) } == .badParameter)
        // Without that, the command line lists only the user's own items.
        #expect(try room.get(as: Callers.commandLine(), limit: .all, ui: .describe) == ["cli="])
    }

    @Test("Only the command line manages permissions") func onlyCommandLineManagesPermissions() throws {
        let room = try room()
        room.userSays(.always)
        let item = ItemQuery(kind: .genericPassword, attributes: ItemAttributes([.service: .text("s"), .account: .text("a")]))
        let change = PermissionChange(.reads, subject: "program:/usr/bin/chat", permits: true, item: item)
        for caller in [mail, script] {
            #expect(Refusal.Reason.of { try room.serve(.permit(change), as: caller) } == .notAllowedHere)
            #expect(Refusal.Reason.of { try room.serve(.permissions, as: caller) } == .notAllowedHere)
            #expect(Refusal.Reason.of { try room.serve(.move(to: "cli"), as: caller) } == .notAllowedHere)
        }
        room.userIsAway()
        #expect(Refusal.Reason.of { try room.serve(.permit(change), as: Callers.commandLine()) } == .noPromptAgent)
        room.userSays(.once)
        try room.serve(.permit(change), as: Callers.commandLine())
        #expect(try room.get("a", as: Callers.installed("/usr/bin/chat")) == ["program:/usr/bin/mail=of mail"])
        #expect(try room.get(as: Callers.installed("/usr/bin/chat"), limit: .all).count == 1)
        // A consent to read is not a consent to change.
        #expect(Refusal.Reason.of { try room.delete("a", as: Callers.installed("/usr/bin/chat")) } == .itemNotFound)
    }
}

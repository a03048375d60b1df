// Items that change their owner or name, and copies: nothing is lost, no boundary between programs is bypassed, no value is shown.

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

@Suite struct TransferTests {
    private let mail = Callers.installed("/usr/bin/mail")
    private let chat = Callers.installed("/usr/bin/chat")
    private let hand = Callers.commandLine()
    private static let mailGroup = "program:/usr/bin/mail"

    private func query(_ account: String, group: String? = nil, ui: AuthenticationUI = .allow) -> ItemQuery {
        var attributes: [AttributeName: AttributeValue] = [.service: .text("s"), .account: .text(account)]
        if let group { attributes[.accessGroup] = .text(group) }
        var query = ItemQuery(kind: .genericPassword, attributes: ItemAttributes(attributes))
        query.authenticationUI = ui
        return query
    }

    private func transfer(
        _ room: Room, _ query: ItemQuery, to changes: [AttributeName: AttributeValue], copy: Bool = false, as caller: Caller
    ) throws {
        let replies = try room.serve(.transfer(query, ItemAttributes(changes), keepsOriginal: copy), as: caller)
        // The reply confirms the transfer and contains nothing of the item.
        #expect(replies.messages == [.done])
    }

    @Test("A moved item keeps its identity, creation date, attributes and protection")
    func moveKeepsEverything() throws {
        let room = try Room()
        room.userSays(.once)
        let attributes: [AttributeName: AttributeValue] = [
            .service: .text("s"), .account: .text("a"), .label: .text("L"), .comment: .text("c"), .accessGroup: .text("cli"),
        ]
        try room.add(attributes, value: "v", .afterFirstUnlock, control: .userPresence)
        let before = try #require(try room.rows().first)
        let created = try #require(try room.find(attributes, data: false).first?.record?.attributes[.creationDate])
        room.clock.withLock { $0 += 1_000_000 }
        try transfer(room, query("a", group: "cli"), to: [.accessGroup: .text(Self.mailGroup)], as: hand)
        let after = try #require(try room.rows().first)
        #expect(after.item == before.item && after.protection == before.protection)
        #expect(after.halves.secret != before.halves.secret)
        let found = try #require(try room.find([.service: .text("s")]).first)
        #expect(found.value == "v" && found.record?.accessControl?.flags == .userPresence)
        #expect(found.record?.attributes[.creationDate] == created && found.record?.attributes[.modificationDate] != created)
        for name in [AttributeName.label, .comment, .account] { #expect(found.record?.attributes[name] == attributes[name]) }
        #expect(try room.rows().count == 1)
    }

    @Test("A copy is a second item with its own identity and dates")
    func copyIsAnItemOfItsOwn() throws {
        let room = try Room()
        try room.add("a", value: "v", as: hand)
        let original = try #require(try room.rows().first)
        room.clock.withLock { $0 += 1_000_000 }
        try transfer(room, query("a"), to: [.account: .text("b")], copy: true, as: hand)
        #expect(room.consents.isEmpty)
        let rows = try room.rows()
        #expect(rows.count == 2 && rows[0] == original && rows[1].item != original.item)
        #expect(try room.get("a", as: hand) == ["cli=v"])
        #expect(try room.get("b", as: hand) == ["cli=v"])
        let copy = try #require(try room.find([.account: .text("b")]).first?.record)
        #expect(copy.attributes[.creationDate] == copy.attributes[.modificationDate])
        #expect(copy.attributes[.creationDate] == .date(room.clock.withLock { $0 }))
        // The copy is independent of the original.
        try room.update("b", to: "w", as: hand)
        #expect(try room.get("a", as: hand) == ["cli=v"])
    }

    @Test("A name already in use is refused, and both items stay unchanged", arguments: [false, true])
    func takenNamesLoseNothing(_ copy: Bool) throws {
        let room = try Room()
        room.userSays(.once)
        try room.add("a", value: "mine", as: hand)
        try room.add("b", value: "also mine", as: hand)
        try room.add("a", value: "of mail", as: mail, applications: ["program:/usr/bin/chat"])
        let before = try room.rows()
        #expect(Refusal.Reason.of { try transfer(room, query("a"), to: [.account: .text("b")], copy: copy, as: hand) } == .duplicateItem)
        let owner: [AttributeName: AttributeValue] = [.accessGroup: .text(Self.mailGroup)]
        #expect(Refusal.Reason.of { try transfer(room, query("a"), to: owner, copy: copy, as: hand) } == .duplicateItem)
        #expect(
            Refusal.Reason.of {
                try transfer(room, query("a", group: Self.mailGroup), to: [.accessGroup: .text("cli")], copy: copy, as: hand)
            } == .duplicateItem)
        #expect(try room.rows() == before)
        // What its owner offers to others too.
        #expect(try room.get("a", as: chat, group: Self.mailGroup) == ["\(Self.mailGroup)=of mail"])
    }

    // MARK: The boundary between owners

    @Test("Moving or copying another program's item needs the user's consent each time", arguments: [false, true])
    func takingPrompts(_ copy: Bool) throws {
        let room = try Room()
        try room.add("a", value: "of mail", as: mail)
        let mine: [AttributeName: AttributeValue] = [.accessGroup: .text("cli")]
        let named = query("a", group: Self.mailGroup)
        // A query without the owner's name does not match it at all.
        room.userSays(.always)
        #expect(Refusal.Reason.of { try transfer(room, query("a"), to: mine, copy: copy, as: hand) } == .itemNotFound)
        #expect(room.consents.isEmpty)
        room.userIsAway()
        #expect(Refusal.Reason.of { try transfer(room, named, to: mine, copy: copy, as: hand) } == .noPromptAgent)
        room.enclave.set { $0.consentAnswers = .failure(Refusal(.cancelled)) }
        #expect(Refusal.Reason.of { try transfer(room, named, to: mine, copy: copy, as: hand) } == .cancelled)
        #expect(try room.get("a", as: mail) == ["\(Self.mailGroup)=of mail"])
        #expect(Refusal.Reason.of { _ = try room.get("a", as: hand, ui: .describe) } == .itemNotFound)
        room.userSays(.always)
        let asked = room.consents.count
        try transfer(room, named, to: mine, copy: copy, as: hand)
        let consent = try #require(room.consents.last)
        #expect(room.consents.count == asked + 1 && consent.purpose == .moveItems && consent.offered == .once)
        #expect(consent.item == "s/a" && consent.owner == Self.mailGroup && consent.program == "cli")
        #expect(try room.get("a", as: hand) == ["cli=of mail"])
        #expect(try room.rows().count == (copy ? 2 : 1))
    }

    @Test("Adding to another program's items needs the user's consent", arguments: [false, true])
    func plantingPrompts(_ copy: Bool) throws {
        let room = try Room()
        try room.add("key", value: "of an attacker", as: hand)
        let theirs: [AttributeName: AttributeValue] = [.accessGroup: .text(Self.mailGroup)]
        room.userIsAway()
        #expect(Refusal.Reason.of { try transfer(room, query("key"), to: theirs, copy: copy, as: hand) } == .noPromptAgent)
        #expect(Refusal.Reason.of { _ = try room.get("key", as: mail) } == .itemNotFound)
        // This also holds within one owner if the copy would have another name.
        try room.add("a", value: "of mail", as: mail)
        #expect(
            Refusal.Reason.of {
                try transfer(room, query("a", group: Self.mailGroup), to: [.account: .text("key")], copy: copy, as: hand)
            } == .noPromptAgent)
        #expect(Refusal.Reason.of { _ = try room.get("key", as: mail) } == .itemNotFound)
    }

    @Test("The prompt shows the new name, and consent to one name is not consent to another")
    func thePromptNamesTheNewName() throws {
        let room = try Room()
        try room.add("harmless", value: "of an attacker", as: hand)
        try room.add("a", value: "of mail", as: mail)
        let renamed: [AttributeName: AttributeValue] = [.service: .text("mail"), .account: .text("master key")]
        let theirs = renamed.merging([.accessGroup: .text(Self.mailGroup)]) { $1 }
        for copy in [false, true] {
            #expect(Refusal.Reason.of { try transfer(room, query("harmless"), to: theirs, copy: copy, as: hand) } == .noPromptAgent)
            #expect(room.consents.last?.item == "s/harmless, to be called mail/master key")
            let named = query("a", group: Self.mailGroup)
            #expect(Refusal.Reason.of { try transfer(room, named, to: renamed, copy: copy, as: hand) } == .noPromptAgent)
            #expect(room.consents.last?.item == "s/a, to be called mail/master key")
        }
    }

    @Test("Two spellings of an owner's name are two owners")
    func ownersAreComparedByTheirBytes() throws {
        let room = try Room()
        let (one, other) = ("/usr/bin/caf\u{e9}", "/usr/bin/cafe\u{301}")
        try room.add("a", value: "v", as: Callers.installed(one), applications: ["program:/usr/bin/chat"])
        room.userSays(.once)
        let named = query("a", group: "program:\(one)")
        try transfer(room, named, to: [.accessGroup: .text("program:\(other)")], as: hand)
        #expect(try room.get("a", as: Callers.installed(other)).count == 1)
        #expect(try room.rows(.permission).isEmpty)
        // A consent to give an item to one owner does not cover another owner.
        try room.add("b", as: Callers.script())
        let asked = room.consents.count
        for owner in [one, other] { try room.serve(.move(to: "program:\(owner)"), as: hand) }
        #expect(room.consents.count == asked + 2)
        #expect(try room.get("b", as: Callers.installed(one)).count == 1)
    }

    @Test("Without a prompt agent, the existence of another program's item is not revealed")
    func noOracle() throws {
        let room = try Room()
        try room.add("a", value: "of mail", as: mail)
        for account in ["a", "nowhere"] {
            let named = query(account, group: Self.mailGroup, ui: .fail)
            #expect(Refusal.Reason.of { try transfer(room, named, to: [.accessGroup: .text("cli")], as: hand) } == .interactionNotAllowed)
        }
        #expect(room.consents.isEmpty)
        // If the user can be prompted, they are, before the item is looked up.
        for account in ["a", "nowhere"] {
            let named = query(account, group: Self.mailGroup)
            #expect(Refusal.Reason.of { try transfer(room, named, to: [.accessGroup: .text("cli")], as: hand) } == .noPromptAgent)
            #expect(room.consents.last?.item == "s/\(account)")
        }
    }

    @Test("Other programs cannot move or copy the item")
    func onlyTheCommandLine() throws {
        let room = try Room()
        room.userSays(.always)
        try room.add("a", as: mail)
        for caller in [mail, Callers.script()] {
            #expect(
                Refusal.Reason.of { try transfer(room, query("a"), to: [.account: .text("b")], copy: true, as: caller) } == .notAllowedHere)
        }
        #expect(room.consents.isEmpty)
    }

    @Test(
        "A move to a malformed owner is refused", arguments: ["vauban.permissions", "com.apple.token", "*", "program:", "", "nobody"])
    func ownersAreWellFormed(_ owner: String) throws {
        let room = try Room()
        room.userSays(.always)
        try room.add("a", as: hand)
        #expect(Refusal.Reason.of { try transfer(room, query("a"), to: [.accessGroup: .text(owner)], as: hand) } == .badParameter)
    }

    @Test("A move ends permissions by the former owner and keeps those by the user")
    func permissionsOfTheFormerOwnerEnd() throws {
        let room = try Room()
        try room.add("a", value: "of mail", as: mail, applications: ["program:/usr/bin/chat", "program:/usr/bin/mail"])
        room.userSays(.once)
        #expect(try room.get("a", as: chat, group: Self.mailGroup) == ["\(Self.mailGroup)=of mail"])
        room.userSays(.always)
        let item = query("a", group: Self.mailGroup)
        try room.serve(.permit(PermissionChange(.reads, subject: "program:/usr/bin/news", permits: true, item: item)), as: hand)
        try transfer(room, item, to: [.accessGroup: .text("cli")], as: hand)
        #expect(Refusal.Reason.of { _ = try room.get("a", as: chat) } == .itemNotFound)
        for group in [Self.mailGroup, "cli"] {
            #expect(Refusal.Reason.of { _ = try room.get("a", as: chat, group: group) } == .missingEntitlement)
        }
        #expect(Refusal.Reason.of { _ = try room.get("a", as: mail) } == .itemNotFound)
        #expect(try room.get("a", as: Callers.installed("/usr/bin/news")) == ["cli=of mail"])
    }

    // MARK: What an item itself requires

    @Test("An item with an access control prompts for a move and for a copy", arguments: [false, true])
    func protectedItemsPrompt(_ copy: Bool) throws {
        let room = try Room()
        try room.add([.service: .text("s"), .account: .text("a")], value: "v", control: .userPresence)
        let before = try room.rows()
        let asked = room.enclave.state.withLock { $0.promptCount }
        try transfer(room, query("a"), to: [.account: .text("b")], copy: copy, as: Caller(user: Room.user))
        #expect(room.enclave.state.withLock { $0.promptCount } == asked + 1)
        #expect(
            Refusal.Reason.of {
                try transfer(room, query("b", ui: .fail), to: [.account: .text("c")], copy: copy, as: Caller(user: Room.user))
            } == .interactionNotAllowed)
        #expect(try room.rows().count == before.count + (copy ? 1 : 0))
    }

    @Test("Several matches are refused, and nothing changes")
    func severalMatches() throws {
        let room = try Room()
        try room.add("a", as: hand)
        try room.add("b", as: hand)
        let all = ItemQuery(kind: .genericPassword, attributes: ItemAttributes([.service: .text("s")]))
        #expect(Refusal.Reason.of { try transfer(room, all, to: [.account: .text("c")], as: hand) } == .badParameter)
        #expect(try room.get(as: hand, limit: .all, ui: .describe) == ["cli=", "cli="])
    }
}

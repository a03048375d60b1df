// Offers of one program to others (`kSecAttrAccess`): another program may request the item, and the user decides.

import EnclaveWire
import Keychain
import KeychainStore
import Logging
import Synchronization
import Testing
import VaubanDER
import VaubanKeychainModel
import VaubanKeychainWire
import VaubanPlainText
import VaubanRefusal
import VaubanUserModel

@Suite struct OfferTests {
    private let mail = Callers.installed("/usr/bin/mail")
    private let chat = Callers.installed("/usr/bin/chat")
    private let script = Callers.script()
    private let owner = "program:/usr/bin/mail"
    private let toChat = ["program:/usr/bin/chat"]

    @Test("A program to which an item is offered reads it with the user's consent, which is stored")
    func offerNeedsConsent() throws {
        let room = try Room()
        try room.add("a", as: mail, applications: toChat)
        #expect(Refusal.Reason.of { _ = try room.get("a", as: chat, group: owner) } == .noPromptAgent)
        #expect(Refusal.Reason.of { _ = try room.get("a", as: chat, ui: .fail, group: owner) } == .interactionNotAllowed)
        room.enclave.set { $0.consentAnswers = .failure(Refusal(.cancelled)) }
        // A refusal holds once: the user is prompted again when the program tries again.
        for _ in 0..<2 { #expect(Refusal.Reason.of { _ = try room.get("a", as: chat, group: owner) } == .cancelled) }
        room.userSays(.always)
        #expect(try room.get("a", as: chat, group: owner) == ["program:/usr/bin/mail=value"])
        let asked = try #require(room.consents.last)
        #expect(asked.purpose == .readItem && asked.item == "s/a" && asked.owner == owner && asked.program == "program:/usr/bin/chat")
        room.userIsAway()
        try room.restart()
        #expect(try room.get("a", as: chat, group: owner).count == 1)
        #expect(try room.get(as: chat, limit: .all, group: owner).count == 1)
        // For no other program, and only for reading.
        #expect(Refusal.Reason.of { _ = try room.get("a", as: Callers.installed("/usr/bin/other"), group: owner) } == .missingEntitlement)
        #expect(Refusal.Reason.of { try room.delete("a", as: chat, group: owner) } == .missingEntitlement)
        #expect(Refusal.Reason.of { try room.update("a", to: "x", as: chat, in: owner) } == .missingEntitlement)
        #expect(Refusal.Reason.of { try room.add("b", as: chat, group: owner) } == .missingEntitlement)
    }

    @Test("An offered item answers no search without an owner, even after lasting consent")
    func offerAnswersNoUnnamedSearch() throws {
        let room = try Room()
        try room.add("master", value: "of the attacker", as: script, group: "unsigned", applications: toChat)
        try room.add("master", value: "of mail", as: mail, applications: toChat)
        room.userSays(.always)
        func findsNothing() {
            #expect(Refusal.Reason.of { _ = try room.get("master", as: chat) } == .itemNotFound)
            #expect(Refusal.Reason.of { _ = try room.get(as: chat, limit: .all) } == .itemNotFound)
            #expect(Refusal.Reason.of { _ = try room.get(as: chat, limit: .all, ui: .describe) } == .itemNotFound)
        }
        findsNothing()
        #expect(room.consents.isEmpty)
        _ = try room.get("master", as: chat, group: owner)
        _ = try room.get("master", as: chat, group: "unsigned")
        #expect(room.consents.count == 2)
        findsNothing()
        // It comes neither before nor beside the program's own item.
        try room.add("master", value: "its own", as: chat)
        #expect(try room.get("master", as: chat) == ["program:/usr/bin/chat=its own"])
        #expect(try room.get(as: chat, limit: .all) == ["program:/usr/bin/chat=its own"])
    }

    @Test("Lists, descriptions and references need the same consent")
    func everyKindOfReadNeedsConsent() throws {
        let room = try Room()
        try room.add("a", as: mail, applications: toChat)
        #expect(Refusal.Reason.of { _ = try room.get(as: chat, limit: .all, group: owner) } == .interactionNotAllowed)
        #expect(Refusal.Reason.of { _ = try room.get("a", as: chat, ui: .describe, group: owner) } == .itemNotFound)
        var query = ItemQuery(kind: .genericPassword, attributes: ItemAttributes([.accessGroup: .text(owner)]))
        query.returns.insert(.reference)
        let reference = query
        #expect(Refusal.Reason.of { try room.serve(.copyMatching(reference), as: chat) } == .noPromptAgent)
        query.reference = try room.rows()[0].item
        let named = query
        #expect(Refusal.Reason.of { try room.serve(.copyMatching(named), as: chat) } == .noPromptAgent)
        query.attributes = ItemAttributes()
        let unnamed = query
        for caller in [chat, script] { #expect(Refusal.Reason.of { try room.serve(.copyMatching(unnamed), as: caller) } == .itemNotFound) }
        room.userSays(.once)
        #expect(try room.serve(.copyMatching(named), as: chat).messages.count > 1)
    }

    @Test(
        "An offer to a malformed name of an application is refused",
        arguments: [
            "", "chat", "program:", "program:usr/bin/chat", "program:/usr//bin/chat", "program:/usr/../bin/chat", "program:/usr/bin/",
            "program:/usr/bin/chat\u{202E}", "program:/a\nb", "build:12", "build:" + String(repeating: "G", count: 64), "flatpak:",
            "flatpak:.x",
            "flatpak:a/b", "snap:a b", "anything run by /usr/bin/python3", "program:/" + String(repeating: "a", count: 1024), "cli",
            "unsigned",
        ])
    func namesAreWellFormed(_ name: String) throws {
        let room = try Room()
        let refusal = Refusal.of { try room.add("a", as: mail, applications: [name]) }
        #expect(refusal?.reason == .badParameter && refusal?.detail?.contains("program:/path") == true)
        #expect(try room.rows().isEmpty && room.rows(.permission).isEmpty)
    }

    @Test("The user permits applications and interpreters by well-formed names")
    func permittedNamesAreWellFormed() throws {
        let room = try Room()
        try room.add("a", as: mail)
        room.userSays(.once)
        let item = ItemQuery(kind: .genericPassword, attributes: ItemAttributes([.service: .text("s"), .account: .text("a")]))
        func permit(_ subject: String) throws {
            try room.serve(.permit(PermissionChange(.reads, subject: subject, permits: true, item: item)), as: Callers.commandLine())
        }
        for subject in ["chat", "anything run by python3", "anything run by /usr/\u{200B}bin/python3", "program:/a\u{202E}b"] {
            #expect(Refusal.Reason.of { try permit(subject) } == .badParameter, "\(subject)")
        }
        #expect(room.consents.isEmpty)
        for subject in ["program:/usr/bin/chat", "anything run by /usr/bin/python3.11", "flatpak:org.example.Chat"] { try permit(subject) }
        // An interpreter reads what the user permitted, without naming the owner.
        #expect(try room.get("a", as: script).count == 1)
    }

    /// Renames one of the caller's own items.
    private func rename(_ room: Room, _ account: String, to name: String, as caller: Caller) throws {
        let query = ItemQuery(kind: .genericPassword, attributes: ItemAttributes([.service: .text("s"), .account: .text(account)]))
        try room.serve(.update(query, ItemChanges(attributes: ItemAttributes([.account: .text(name)]))), as: caller)
    }

    @Test("Renaming an item ends its permissions, so it never answers another program's search")
    func permissionsEndWithTheName() throws {
        let room = try Room()
        try room.add("a", value: "planted", as: mail)
        room.userSays(.once)
        let item = ItemQuery(kind: .genericPassword, attributes: ItemAttributes([.service: .text("s"), .account: .text("a")]))
        try room.serve(.permit(PermissionChange(.reads, subject: toChat[0], permits: true, item: item)), as: Callers.commandLine())
        // The owner may write another value, and keeping the same name is not a renaming.
        try room.update("a", to: "planted", as: mail)
        try rename(room, "a", to: "a", as: mail)
        #expect(try room.get("a", as: chat).count == 1)
        try rename(room, "a", to: "master", as: mail)
        #expect(Refusal.Reason.of { _ = try room.get("master", as: chat) } == .itemNotFound)
        #expect(try room.permissions().isEmpty)
        // The permission does not return with the name.
        try rename(room, "master", to: "a", as: mail)
        #expect(Refusal.Reason.of { _ = try room.get("a", as: chat) } == .itemNotFound)
    }

    @Test(
        "Lasting consent, and consent until the lock, end with the name of the item, and with the item",
        arguments: [ConsentChoice.untilLock, .always])
    func consentEndsWithTheName(_ choice: ConsentChoice) throws {
        let room = try Room()
        try room.add("a", as: mail, applications: toChat)
        room.userSays(choice)
        for _ in 0..<2 { #expect(try room.get("a", as: chat, group: owner).count == 1) }
        #expect(room.consents.count == 1)
        try rename(room, "a", to: "b", as: mail)
        #expect(try room.get("b", as: chat, group: owner).count == 1)
        #expect(room.consents.count == 2)
        // After a restore, the other program has no access: the owner's offer was removed with the item, and so were the user's answers.
        try room.delete("b", as: mail)
        let deleted = try #require(try room.deletedOfAll(as: Callers.commandLine()).first)
        try room.history(.undelete(deleted.item), as: Callers.commandLine())
        #expect(Refusal.Reason.of { _ = try room.get("b", as: chat, group: owner) } == .missingEntitlement)
    }

    @Test("Withdrawing permissions reveals and removes no offers")
    func withdrawingRevealsNoOffer() throws {
        let room = try Room()
        try room.add("a", as: mail, applications: toChat)
        for account in ["a", "nowhere"] {
            let item = ItemQuery(kind: .genericPassword, attributes: ItemAttributes([.service: .text("s"), .account: .text(account)]))
            let disallow = KeychainRequest.permit(PermissionChange(.reads, subject: toChat[0], permits: false, item: item))
            #expect(Refusal.of { try room.serve(disallow, as: Callers.commandLine()) } == Refusal(.itemNotFound))
        }
        room.userSays(.once)
        #expect(try room.get("a", as: chat, group: owner).count == 1)
    }

    @Test("An item with a long name hides no permission")
    func longNamesHideNoPermission() throws {
        let room = try Room()
        let name = String(repeating: "n", count: 9000)
        try room.add(name, as: mail, applications: toChat)
        room.userSays(.always)
        _ = try room.get(name, as: chat, group: owner)
        let reply = KeychainReply.permissions(try room.permissions())
        #expect(try KeychainReply(derBytes: reply.encoded()) == reply)
        guard case .permissions(let listed) = reply else { return }
        let reads = try #require(listed.first { $0.kind == .reads })
        #expect(reads.object.hasBytePrefix("s/nnn") && reads.object.hasByteSuffix(" of \(owner)"))
    }

    @Test("A program with too many offers cannot fill the log")
    func offersCannotFillTheLog() throws {
        let room = try Room()
        let log = CountingLog()
        let services = KeychainServices(
            databases: room.databases, leasedKeys: room.leasedKeys, now: { 800_000_000_000_000 },
            sleepClock: SleepClock(boot: { 1000 }, monotonic: { 1000 }), logger: Logger(label: "test") { _ in log },
            // The access log's lines have a limit of their own.
            accessLogs: AccessLogs(databases: room.databases, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }))
        func add(_ account: String) throws {
            let attributes: [AttributeName: AttributeValue] = [.service: .text("s"), .account: .text(account)]
            let record = ItemRecord(kind: .genericPassword, attributes: ItemAttributes(attributes))
            let request = KeychainRequest.add(
                record, returns: [], hasData: false, applications: (0..<64).map { "program:/usr/bin/\($0)" })
            try RequestInProgress.serve(request, value: nil, of: mail, services: services, enclave: room.enclave, to: Replies())
        }
        for index in 0..<16 { try add("\(index)") }
        for _ in 0..<20 { #expect(Refusal.Reason.of { try add("more") } == .storageFull) }
        #expect((1...10).contains(log.count))
    }

    // MARK: Limits

    @Test("Permissions are deleted with their item") func permissionsAreDeletedWithTheirItem() throws {
        let room = try Room()
        for account in ["a", "b"] { try room.add(account, as: mail, applications: toChat) }
        #expect(try room.rows(.permission).count == 2)
        try room.delete("a", as: mail)
        #expect(try room.rows(.permission).count == 1)
        room.userSays(.once)
        #expect(try room.get("b", as: chat, group: owner).count == 1)
        for index in 0..<70 { try room.add("\(index)", as: mail, applications: toChat) }
        try room.serve(.delete(ItemQuery(kind: .genericPassword, attributes: ItemAttributes([.service: .text("s")]))), as: mail)
        #expect(try room.rows(.permission).isEmpty && room.rows().isEmpty)
    }

    @Test("An owner cannot fill the keychain with offers") func ownerCannotFillKeychainWithOffers() throws {
        let room = try Room()
        for index in 0..<16 {
            try room.add("\(index)", as: mail, applications: (0..<64).map { "program:/usr/bin/\($0)" })
        }
        #expect(Refusal.Reason.of { try room.add("more", as: mail, applications: ["program:/usr/bin/0"]) } == .storageFull)
        // The request has no partial effect, and no other program is blocked.
        #expect(Refusal.Reason.of { _ = try room.get("more", as: mail) } == .itemNotFound)
        // The user sees which program it is.
        #expect(try room.permissions() == [Permission(.offers, subject: owner, object: "1024, as many as it may")])
        try room.add("his", as: chat, applications: [owner])
        room.userSays(.once)
        #expect(try room.get("his", as: mail, group: "program:/usr/bin/chat").count == 1)
        try room.delete("0", as: mail)
        // Below its limit, an item that names as many programs as it can would be refused.
        try room.add("few", as: mail, applications: ["program:/usr/bin/0"])
        #expect(try room.permissions().first { $0.subject == owner }?.object == "961, nearly as many as it may")
        try room.add("more", as: mail, applications: ["program:/usr/bin/0"])
    }

    @Test("Offers hide none of the user's permissions")
    func offersHideNothing() throws {
        let room = try Room()
        try room.add("a", as: mail)
        for build in 0..<80 { try room.add("a", as: Callers.own("/home/anna/tool\(build)", build: UInt8(build)), applications: toChat) }
        room.userSays(.always)
        let item = ItemQuery(
            kind: .genericPassword,
            attributes: ItemAttributes([.service: .text("s"), .account: .text("a"), .accessGroup: .text(owner)]))
        try room.serve(.permit(PermissionChange(.reads, subject: toChat[0], permits: true, item: item)), as: Callers.commandLine())
        let listed = try room.permissions()
        #expect(listed.filter { $0.kind == .reads } == [Permission(.reads, subject: toChat[0], object: "s/a of \(owner)")])
        // Owners of offers are listed up to a number, and then counted.
        #expect(listed.count { $0.kind == .offers } == 65 && listed.last == Permission(.offers, subject: "16 more", object: "16"))
        #expect(try room.get("a", as: chat) == ["program:/usr/bin/mail=value"])
    }

    @Test("Refused builds are not remembered at their path")
    func refusedBuildsAreNotRemembered() throws {
        let room = try Room()
        room.enclave.set { $0.consentAnswers = .failure(Refusal(.cancelled)) }
        for build in 0..<70 { try room.add("a", as: Callers.own("/home/anna/tool", build: UInt8(build))) }
        // The first build, and the user's refusals of the others: those are other programs, and no later build continues any of them.
        #expect(try room.rows(.permission).count == 1 + 69)
    }
}

/// Counts what is written to it.
private final class CountingLog: LogHandler {
    private let written = Mutex(0)
    var count: Int { written.withLock { $0 } }
    var metadata: Logger.Metadata {
        get { [:] }
        set {}
    }
    var logLevel: Logger.Level {
        get { .info }
        set {}
    }
    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { nil }
        set {}
    }

    func log(event: LogEvent) {
        written.withLock { $0 += 1 }
    }
}

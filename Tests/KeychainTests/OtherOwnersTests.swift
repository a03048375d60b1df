// What one program cannot do to another's items, or by means of them, even if the user consents to something.

import EnclaveWire
import Foundation
import Keychain
import Synchronization
import Testing
import VaubanAccessPolicy
import VaubanKeychainModel
import VaubanKeychainWire
import VaubanRefusal
import VaubanUserModel

@Suite struct OtherOwnersTests {
    private let mail = Callers.installed("/usr/bin/mail")
    private let chat = Callers.installed("/usr/bin/chat")
    private let script = Callers.script()

    private func query(_ account: String? = nil) -> ItemQuery {
        ItemQuery(
            kind: .genericPassword,
            attributes: ItemAttributes([.service: .text("s")].merging(account.map { [.account: .text($0)] } ?? [:]) { $1 }))
    }

    @Test("Consent to change an item does not move it to another owner") func consentToChangeMovesNothing() throws {
        let room = try Room()
        try room.add("a", value: "of mail", as: mail)
        room.userSays(.always)
        for owner in [nil, "program:/usr/bin/mail"] {
            #expect(Refusal.Reason.of { try room.update("a", to: "taken", as: script, group: "unsigned", in: owner) } == .itemNotFound)
            #expect(
                Refusal.Reason.of { try room.update("a", to: "taken", as: Callers.commandLine(), group: "cli", in: owner) } == .itemNotFound
            )
        }
        #expect(room.consents.isEmpty)
        #expect(try room.get("a", as: mail) == ["program:/usr/bin/mail=of mail"])
        // It can be changed in place with the user's consent.
        try room.add("b", as: script)
        try room.update("b", to: "new", as: script, group: "unsigned")
        #expect(room.consents.map(\.purpose) == [.changeItem])
    }

    @Test("A locked item of another owner does not end a search") func lockedItemOfAnotherOwnerEndsNoSearch() throws {
        let room = try Room()
        try room.add("hers", as: mail)
        try room.add([.service: .text("s"), .account: .text("own"), .accessGroup: .text("cli")], .afterFirstUnlock)
        room.enclave.lock(room.leasedKeys)
        #expect(try room.get(as: Callers.commandLine(), limit: .all) == ["cli=value"])
        #expect(try room.get(as: Callers.commandLine(), limit: .all, ui: .describe) == ["cli="])
        #expect(try room.get("own", as: Callers.commandLine()) == ["cli=value"])
        for account in ["hers", "nowhere"] {
            #expect(Refusal.Reason.of { _ = try room.get(account, as: Callers.commandLine(), ui: .describe) } == .itemNotFound)
            #expect(
                Refusal.Reason.of { _ = try room.get(account, as: Callers.commandLine(), ui: .fail, group: "program:/usr/bin/mail") }
                    == .interactionNotAllowed)
            #expect(
                Refusal.Reason.of { _ = try room.get(account, as: Callers.commandLine(), group: "program:/usr/bin/mail") } == .noPromptAgent
            )
        }
        // A program with consent receives the reason.
        room.userSays(.once)
        #expect(Refusal.Reason.of { _ = try room.get("hers", as: Callers.commandLine(), group: "program:/usr/bin/mail") } == .locked)
    }

    @Test("A concurrent change causes no second prompt") func concurrentChangeCausesNoSecondPrompt() throws {
        let room = try Room()
        try room.add("a", value: "first", as: mail)
        room.userSays(.once)
        let mail = mail
        room.enclave.set { $0.whilePrompted = { try room.update("a", to: "second", as: mail) } }
        // It prompts before the item is looked up, so it reads what exists then.
        let owner = "program:/usr/bin/mail"
        #expect(try room.get("a", as: script, group: owner) == ["program:/usr/bin/mail=second"])
        room.enclave.set { $0.whilePrompted = { try room.update("a", to: "third", as: mail) } }
        try room.update("a", to: "of the script", as: script, in: owner)
        room.enclave.set { $0.whilePrompted = { try room.update("a", to: "fourth", as: mail) } }
        try room.delete("a", as: script, group: owner)
        #expect(room.consents.map(\.purpose) == [.readItem, .changeItem, .deleteItem])
    }

    @Test("Only the command line lists all owners") func onlyCommandLineListsAllOwners() throws {
        let room = try Room()
        room.userSays(.once)
        var all = query()
        all.authenticationUI = .describe
        all.coversAllOwners = true
        all.limit = .all
        let wanted = all
        for caller in [mail, script] { #expect(Refusal.Reason.of { try room.serve(.copyMatching(wanted), as: caller) } == .notAllowedHere) }
        #expect(room.consents.isEmpty)
    }

    @Test("Only the command line discards and rewraps, which keeps the verified copy")
    func onlyCommandLineDiscardsAndRewraps() throws {
        let room = try Room()
        try room.add("a", as: mail)
        #expect(try room.examine().copy != nil)
        for request in [KeychainRequest.discard, .rewrap] {
            for caller in [mail, script] { #expect(Refusal.Reason.of { try room.serve(request, as: caller) } == .notAllowedHere) }
        }
        // The command line removes only rows that cannot be opened.
        try room.serve(.discard, as: Callers.commandLine())
        #expect(FileManager.default.fileExists(atPath: room.file + ".verified"))
    }

    @Test("A query about the copy leaves the database open") func queryingTheCopyLeavesDatabaseOpen() throws {
        let room = try Room()
        try room.add("a", as: mail)
        let before = try room.database
        #expect(Refusal.Reason.of { try room.serve(.restore(copyOf: nil), as: Callers.commandLine()) } == .notAllowedHere)
        #expect(try room.database === before)
        #expect(try room.get("a", as: mail).count == 1)
    }

    // MARK: New builds, and unsigned items

    @Test("A refused build is listed and can be forgotten") func refusedBuildIsListedAndCanBeForgotten() throws {
        let room = try Room()
        let path = "/home/anna/bin/tool"
        try room.add("a", as: Callers.own(path, build: 1))
        room.enclave.set { $0.consentAnswers = .failure(Refusal(.cancelled)) }
        let second = Callers.own(path, build: 2)
        #expect(Refusal.Reason.of { _ = try room.get("a", as: second) } == .itemNotFound)
        guard case .permissions(let listed)? = try room.serve(.permissions, as: Callers.commandLine()).messages.first else {
            Issue.record("nothing is listed")
            return
        }
        let refused = try #require(listed.first { $0.kind == .sameProgram && $0.subject == $0.object })
        try room.serve(.permit(PermissionChange(.sameProgram, subject: refused.subject, permits: false)), as: Callers.commandLine())
        room.userSays(.once)
        #expect(try room.get("a", as: second).count == 1)
    }

    @Test("A new build that starts the command line is not offered") func newBuildThatStartsTheCommandLineIsNotOffered() throws {
        let room = try Room()
        let path = "/home/anna/bin/tool"
        try room.add("a", as: Callers.own(path, build: 1))
        room.userSays(.once)
        let started = Callers.caller(
            CallerIdentity(
                .own, throughCommandLine: true, executable: Callers.executable(path, build: 2), chain: ["/usr/bin/vauban", path]))
        try room.add("own", as: started)
        #expect(room.consents.isEmpty)
    }

    @Test("The user's refusal for one item ends further prompts on its connection") func refusalOfOneItemHoldsForTheConnection() throws {
        let room = try Room()
        for index in 0..<5 {
            try room.add([.service: .text("s"), .account: .text("\(index)"), .accessGroup: .text("unsigned")], control: .userPresence)
        }
        try room.add("plain", as: script)
        room.userSays(.once)
        room.enclave.set { $0.userAnswers = Refusal(.authenticationFailed) }
        let caller = Callers.commandLine()
        for _ in 0..<2 { try room.serve(.move(to: "cli"), as: caller) }
        let state = room.enclave.state.withLock { ($0.promptCount, $0.consents.count) }
        #expect(state == (1, 1))
        #expect(try room.get("plain", as: Callers.commandLine()) == ["cli=value"])
        // A refusal that is not the user's does not prevent prompts for other items.
        room.enclave.set { $0.userAnswers = Refusal(.biometryNotAvailable) }
        try room.serve(.move(to: "cli"), as: Callers.commandLine())
        #expect(room.enclave.state.withLock { $0.promptCount } == 6)
        // Another connection prompts for itself.
        try room.serve(.move(to: "cli"), as: Callers.commandLine())
        #expect(room.consents.count == 3)
    }

    @Test("Items that cannot move to the owner do not hide others") func itemsThatStayHideNoOthers() throws {
        let room = try Room()
        for index in 0..<5 {
            try room.add("\(index)", as: script)
            try room.add("\(index)", as: Callers.commandLine())
        }
        for index in 0..<258 {
            try room.add([.server: .text("s"), .account: .text("\(index)"), .accessGroup: .text("unsigned")], kind: .internetPassword)
        }
        room.userSays(.once)
        let caller = Callers.commandLine()
        var progress: [RewrapProgress] = []
        for _ in 0..<2 {
            guard case .rewrapped(let batch)? = try room.serve(.move(to: "cli"), as: caller).messages.first else {
                throw Refusal(.internalError)
            }
            progress.append(batch)
        }
        #expect(progress == [RewrapProgress(done: 256, left: 2, kept: 5), RewrapProgress(done: 2, left: 0, kept: 5)])
    }
}

// The items that a caller sees (Specs/secitem.md, 7, Specs/access-groups.md).

import EnclaveWire
import Foundation
import Keychain
import Logging
import Testing
import VaubanKeychainModel
import VaubanKeychainWire
import VaubanRefusal
import VaubanUserModel

@Suite struct AccessGroupTests {
    private let mail = Callers.installed("/usr/bin/mail")
    private let chat = Callers.installed("/usr/bin/chat")

    @Test("Programs cannot see each other's items") func programsCannotSeeEachOthersItems() throws {
        let room = try Room()
        try room.add("a", value: "of mail", as: mail)
        #expect(try room.get("a", as: mail) == ["program:/usr/bin/mail=of mail"])
        #expect(Refusal.Reason.of { _ = try room.get("a", as: chat) } == .itemNotFound)
        #expect(Refusal.Reason.of { try room.update("a", to: "x", as: chat) } == .itemNotFound)
        #expect(Refusal.Reason.of { try room.delete("a", as: chat) } == .itemNotFound)
        // The group is part of an item's primary key.
        try room.add("a", value: "of chat", as: chat)
        #expect(Refusal.Reason.of { try room.add("a", as: chat) } == .duplicateItem)
        #expect(try room.get(as: chat, limit: .all) == ["program:/usr/bin/chat=of chat"])
        try room.delete("a", as: chat)
        #expect(try room.get(as: mail, limit: .all) == ["program:/usr/bin/mail=of mail"])
        #expect(room.consents.isEmpty)
    }

    @Test("A named access group must belong to the caller") func namedGroupMustBelongToCaller() throws {
        let room = try Room()
        try room.add("a", as: mail)
        for group in ["program:/usr/bin/mail", "cli", "unsigned", "TEAM.x", "", "com.apple.token"] {
            #expect(Refusal.Reason.of { _ = try room.get("a", as: chat, group: group) } == .missingEntitlement, "\(group)")
            #expect(Refusal.Reason.of { try room.add("b", as: chat, group: group) } == .missingEntitlement, "\(group)")
            #expect(
                Refusal.Reason.of { try room.update("a", to: "x", as: mail, group: group == "program:/usr/bin/mail" ? "cli" : group) }
                    == .missingEntitlement)
        }
        #expect(try room.get("a", as: mail, group: "program:/usr/bin/mail").count == 1)
    }

    // MARK: Root's grants

    private func entitlements(_ list: [String: Any]) -> [String] { Entitlements(list).groups(adding: "program:/p") }

    @Test("Access groups come in Apple's order") func groupsFollowApplesOrder() {
        #expect(entitlements([:]) == ["program:/p"])
        #expect(
            entitlements([
                "com.apple.security.application-groups": ["group.x"], "application-identifier": "T.app",
                "keychain-access-groups": ["T.shared", "T.app"],
                "com.apple.developer.associated-application-identifier": ["T.assoc"],
            ]) == ["T.shared", "T.app", "T.assoc", "group.x"])
        #expect(entitlements(["com.apple.application-identifier": "T.mac"]) == ["T.mac"])
        // A wrong type counts as absent, and an array with one wrong element is dropped whole.
        #expect(entitlements(["keychain-access-groups": ["T.a", 1] as [Any], "application-identifier": 7]) == ["program:/p"])
        #expect(entitlements(["keychain-access-groups": ["com.apple.token", "T.a"]]) == ["T.a", "program:/p", "com.apple.token"])
        #expect(entitlements(["keychain-access-groups": ["*", "cli", "unsigned", "vauban.permissions", ""]]) == ["program:/p"])
    }

    /// Returns the table of a folder of grants, as root would fill it.
    private func table(_ lists: [[String: Any]]) throws -> EntitlementTable {
        let folder = NSTemporaryDirectory() + "entitlements-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o755])
        defer { try? FileManager.default.removeItem(atPath: folder) }
        for (index, list) in lists.enumerated() {
            let data = try PropertyListSerialization.data(fromPropertyList: list, format: .xml, options: 0)
            #expect(
                FileManager.default.createFile(atPath: "\(folder)/\(index).plist", contents: data, attributes: [.posixPermissions: 0o644]))
        }
        return EntitlementTable(folder: folder, owner: getuid(), logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    }

    @Test("Programs share an access group that root granted") func programsShareAGroupGrantedByRoot() throws {
        let room = try Room()
        let table = try table([
            ["vauban-applications": ["program:/usr/bin/mail", "program:/usr/bin/chat"], "keychain-access-groups": ["T.shared"]],
            ["vauban-applications": ["program:/usr/bin/bad"], "com.apple.private.keychain.deny": true],
        ])
        func granted(_ path: String) -> Caller {
            Callers.caller(CallerIdentity(.installed, executable: Callers.executable(path), chain: [path]), granted: table)
        }
        // The first group of the list is the default.
        try room.add("a", value: "shared", as: granted("/usr/bin/mail"))
        #expect(try room.get("a", as: granted("/usr/bin/chat")) == ["T.shared=shared"])
        try room.add("own", as: granted("/usr/bin/mail"), group: "program:/usr/bin/mail")
        #expect(Refusal.Reason.of { _ = try room.get("own", as: granted("/usr/bin/chat")) } == .itemNotFound)
        #expect(try room.get(as: granted("/usr/bin/mail"), limit: .all).count == 2)
        #expect(Refusal.Reason.of { _ = try room.get("a", as: granted("/usr/bin/bad")) } == .missingEntitlement)
        // Moves an item to another of the caller's own groups.
        try room.update("own", to: "moved", as: granted("/usr/bin/mail"), group: "T.shared")
        #expect(try room.get("own", as: granted("/usr/bin/chat")) == ["T.shared=moved"])
    }

    /// In the order in which they are searched, and without a prompt.
    @Test("A program learns only its own access groups") func programLearnsOnlyItsOwnGroups() throws {
        let room = try Room()
        let table = try table([
            ["vauban-applications": ["program:/usr/bin/mail"], "keychain-access-groups": ["T.shared", "com.apple.token"]]
        ])
        let granted = Callers.caller(
            CallerIdentity(.installed, executable: Callers.executable("/usr/bin/mail"), chain: ["/usr/bin/mail"]), granted: table)
        for (caller, application, groups) in [
            (mail, "program:/usr/bin/mail", ["program:/usr/bin/mail"]),
            (granted, "program:/usr/bin/mail", ["T.shared", "program:/usr/bin/mail", "com.apple.token"]),
            (Callers.script(), nil, ["unsigned"]),
            (Caller(user: Room.user), nil, ["unsigned"]),
        ] as [(Caller, String?, [String])] {
            #expect(try room.serve(.ownRights, as: caller).messages == [.ownRights(application: application, groups: groups), .done])
        }
        #expect(room.consents.isEmpty)
    }

    @Test("The access group of tokens is read-only") func tokenGroupIsReadOnly() throws {
        let room = try Room()
        let table = try table([["vauban-applications": ["program:/p"], "application-identifier": "com.apple.token"]])
        let caller = Callers.caller(CallerIdentity(.installed, executable: Callers.executable("/p"), chain: ["/p"]), granted: table)
        #expect(Refusal.Reason.of { _ = try room.get("a", as: caller, group: "com.apple.token") } == .itemNotFound)
        #expect(Refusal.Reason.of { try room.add("a", as: caller) } == .missingEntitlement)
        #expect(Refusal.Reason.of { try room.add("a", as: caller, group: "com.apple.token") } == .missingEntitlement)
    }

    @Test("Entitlement files that others can write grant nothing") func filesWritableByOthersGrantNothing() throws {
        let folder = NSTemporaryDirectory() + "entitlements-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o755])
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let list: [String: Any] = ["vauban-applications": ["program:/p"], "keychain-access-groups": ["T.x"]]
        let data = try PropertyListSerialization.data(fromPropertyList: list, format: .xml, options: 0)
        func groups(_ permissions: Int, owner: uid_t = getuid()) -> [String] {
            _ = FileManager.default.createFile(atPath: "\(folder)/a.plist", contents: data, attributes: [.posixPermissions: permissions])
            let table = EntitlementTable(folder: folder, owner: owner, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
            let caller = Callers.caller(CallerIdentity(.installed, executable: Callers.executable("/p"), chain: ["/p"]), granted: table)
            return caller.entitlements?.groups(adding: "own") ?? []
        }
        #expect(groups(0o644) == ["T.x", "own"])
        #expect(groups(0o664) == [])
        #expect(groups(0o646) == [])
        #expect(groups(0o644, owner: getuid() + 1) == [])
    }

    @Test("Two spellings of one letter are two groups")
    func groupsAreComparedByBytes() throws {
        let room = try Room()
        let (composed, decomposed) = ("program:/usr/bin/caf\u{E9}", "program:/usr/bin/cafe\u{301}")
        let one = Callers.installed("/usr/bin/caf\u{E9}")
        #expect(Refusal.Reason.of { try room.add("a", as: one, group: decomposed) } == .missingEntitlement)
        try room.add("a", as: one, group: composed)
        #expect(Refusal.Reason.of { _ = try room.get("a", as: one, group: decomposed) } == .missingEntitlement)
        #expect(Refusal.Reason.of { _ = try room.get("a", as: Callers.installed("/usr/bin/cafe\u{301}")) } == .itemNotFound)
        let table = try table([["vauban-applications": [composed], "keychain-access-groups": ["T.x"]]])
        let other = CallerIdentity(.installed, executable: Callers.executable("/usr/bin/cafe\u{301}"), chain: [])
        #expect(Callers.caller(other, granted: table).entitlements == nil)
    }

    // MARK: The command line

    @Test("The command line has one access group, whatever starts it") func commandLineHasOneGroupWhateverStartsIt() throws {
        let room = try Room()
        try room.add("a", value: "by hand", as: Callers.commandLine())
        #expect(try room.get("a", as: Callers.commandLine(startedBy: .unknown(.orphan))) == ["cli=by hand"])
        #expect(try room.get("a", as: Callers.commandLine(startedBy: .installed, "/usr/bin/mail")) == ["cli=by hand"])
        #expect(try room.get("a", as: Callers.commandLine(startedBy: .own, "/home/anna/tool")) == ["cli=by hand"])
        #expect(Refusal.Reason.of { _ = try room.get("a", as: mail) } == .itemNotFound)
    }

    @Test("A program that starts the command line gains no rights") func starterOfCommandLineGainsNoRights() throws {
        let room = try Room()
        try room.add("a", value: "of mail", as: mail)
        // Any program can start vauban and then execute the program that stores the item.
        let byMail = Callers.commandLine(startedBy: .installed, "/usr/bin/mail")
        #expect(Refusal.Reason.of { _ = try room.get("a", as: byMail, group: "program:/usr/bin/mail") } == .noPromptAgent)
        room.userSays(.once)
        #expect(try room.get("a", as: byMail, group: "program:/usr/bin/mail") == ["program:/usr/bin/mail=of mail"])
        #expect(room.consents.last?.offered == .once)
        // What it adds belongs to the user, not to the ancestor.
        try room.add("b", as: byMail)
        #expect(try room.get("b", as: byMail) == ["cli=value"])
    }

    @Test("In user mode access groups are only labels") func userModeTreatsGroupsAsLabels() throws {
        let room = try Room()
        let anyone = Caller(user: Room.user)
        try room.add("a", as: anyone)
        try room.add("a", as: anyone, group: "T.x")
        #expect(try room.get("a", as: anyone, limit: .all) == ["T.x=value", "unsigned=value"])
        #expect(try room.get("a", as: anyone, group: "T.x") == ["T.x=value"])
        #expect(Refusal.Reason.of { _ = try room.get("a", as: anyone, group: "T.y") } == .itemNotFound)
        #expect(Refusal.Reason.of { try room.serve(.permissions, as: anyone) } == .notAllowedHere)
    }
}

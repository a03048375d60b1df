// Programs that a trusted team signed: their names, groups and permissions (Specs/code-signing.md).

import EnclaveWire
import Foundation
import Keychain
import Logging
import Testing
import VaubanAccessPolicy
import VaubanDER
import VaubanKeychainModel
import VaubanKeychainWire
import VaubanRefusal
import VaubanUserModel

@Suite struct SignedProgramTests {
    private let room: Room
    private let acme: TeamIdentifier
    private let rivals: TeamIdentifier
    private static let path = "/home/anna/bin/tool"

    init() throws {
        room = try Room()
        acme = try #require(TeamIdentifier(text: "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"))
        rivals = try #require(TeamIdentifier(text: "BBCDEFGHIJKLMNOPQRSTUVWXYZ234567"))
    }

    private static func list(_ list: [String: Any]) throws -> [UInt8] {
        Array(try PropertyListSerialization.data(fromPropertyList: list, format: .xml, options: 0))
    }

    /// Returns a build of a signed program.
    private func program(
        _ identifier: String = "com.acme.tool", build: UInt8 = 1, at path: String = path, by team: TeamIdentifier? = nil,
        with entitlements: [UInt8]? = nil, granted table: EntitlementTable = .none
    ) -> Caller {
        Callers.caller(
            CallerIdentity(
                .own, executable: Callers.executable(path, build: build),
                signer: CodeSigner(team: team ?? acme, identifier: identifier, entitlements: entitlements), chain: [path]),
            granted: table)
    }

    private func trust(_ team: TeamIdentifier? = nil, as name: String = "Acme Tools", by caller: Caller = Callers.commandLine()) throws {
        try room.serve(.permit(PermissionChange(.team, subject: (team ?? acme).text, permits: true, name: name)), as: caller)
    }

    private func trustWithConsent(_ team: TeamIdentifier? = nil) throws {
        room.userSays(.once)
        try trust(team)
        room.userIsAway()
    }

    private func distrust() throws {
        try room.serve(.permit(PermissionChange(.team, subject: acme.text, permits: false)), as: Callers.commandLine())
    }

    private func table(_ list: [String: Any]) throws -> EntitlementTable {
        let folder = NSTemporaryDirectory() + "entitlements-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o755])
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let contents = Data(try Self.list(list))
        #expect(FileManager.default.createFile(atPath: "\(folder)/a.plist", contents: contents, attributes: [.posixPermissions: 0o644]))
        return EntitlementTable(folder: folder, owner: getuid(), logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    }

    private func ownRights(_ caller: Caller) throws -> (application: String?, groups: [String]) {
        guard case .ownRights(let application, let groups)? = try room.serve(.ownRights, as: caller).messages.first else {
            throw Refusal(.internalError)
        }
        return (application, groups)
    }

    private func reason(_ body: () throws -> Void) -> Refusal.Reason? { Refusal.Reason.of { try body() } }

    private static let build = "build:" + String(repeating: "01", count: 32)

    // MARK: Trust

    @Test("Programs of an untrusted team get nothing by their signature") func untrustedTeamGivesNothing() throws {
        let list = try Self.list(["keychain-access-groups": ["\(acme.prefix)shared"], "com.apple.private.keychain.deny": true])
        #expect(try ownRights(program(with: list)) == (Self.build, [Self.build]))
        try room.add("a", as: program(with: list))
        #expect(try room.get("a", as: program(with: list)) == ["\(Self.build)=value"])
        #expect(reason { _ = try room.get("a", as: program(with: list), group: "\(acme.prefix)shared") } == .missingEntitlement)
    }

    @Test("Builds of a trusted team are one program, and other programs of the team are not") func buildsAreOneProgram() throws {
        try trustWithConsent()
        try room.add("a", as: program())
        let found = ["\(acme.prefix)com.acme.tool=value"]
        #expect(try room.get("a", as: program()) == found)
        #expect(try room.get("a", as: program(build: 2)) == found)
        #expect(try room.get("a", as: program(build: 3, at: "/tmp/elsewhere")) == found)
        let asked = room.consents.count
        for other in [program("com.acme.other"), program("com.acme.tool.x"), program(by: rivals), Callers.own(Self.path, build: 1)] {
            #expect(reason { _ = try room.get("a", as: other) } == .itemNotFound)
            #expect(reason { _ = try room.get("a", as: other, group: "\(acme.prefix)com.acme.tool") } == .missingEntitlement)
            #expect(reason { try room.add("b", as: other, group: "\(acme.prefix)com.acme.tool") } == .missingEntitlement)
        }
        #expect(room.consents.count == asked)
    }

    @Test("Trusting a team needs the user's consent, from the command line, in a prompt that names the team")
    func trustNeedsConsent() throws {
        #expect(reason { try trust() } == .noPromptAgent)
        #expect(reason { try trust(by: program()) } == .notAllowedHere)
        #expect(reason { try trust(by: Callers.script()) } == .notAllowedHere)
        #expect(try ownRights(program()).application == Self.build)
        try trustWithConsent()
        #expect(room.consents.last?.purpose == .changePermission)
        #expect(room.consents.last?.program == "every program signed by Acme Tools (\(acme))")
        #expect(try room.permissions().contains(Permission(.team, subject: acme.text, object: "Acme Tools")))
        #expect(try ownRights(program()) == ("\(acme.prefix)com.acme.tool", ["\(acme.prefix)com.acme.tool"]))
        room.enclave.set { $0.consentAnswers = .failure(Refusal(.cancelled)) }
        #expect(reason { try trust(rivals) } == .cancelled)
        #expect(try ownRights(program(by: rivals)).application == Self.build)
    }

    @Test("Prompts name a program by its team while the team is trusted") func promptsNameTheTeam() throws {
        _ = try ownRights(program())
        #expect(room.teamNames.isEmpty)
        try trustWithConsent()
        #expect(room.teamNames == [acme: "Acme Tools"])
        try distrust()
        #expect(room.teamNames.isEmpty)
        // A new enclave has no names until a program of the team connects.
        try trustWithConsent()
        room.enclave.set { $0.teamNames = [:] }
        _ = try ownRights(program())
        #expect(room.teamNames == [acme: "Acme Tools"])
        let byRoot = try table(["vauban-teams": [acme.text: "Acme of Root"]])
        _ = try ownRights(program(granted: byRoot))
        #expect(room.teamNames == [acme: "Acme of Root"])
    }

    @Test("A team has one name of one line") func teamHasOneName() throws {
        room.userSays(.once)
        for name in ["", "a\nb", "a\tby root", "a\u{202E}b", " a", "a  b", String(repeating: "a", count: 65)] {
            #expect(reason { try trust(as: name) } == .badParameter, "\(name)")
        }
        #expect(room.consents.isEmpty)
        for name in ["One", "Two", "Two"] { try trust(as: name) }
        #expect(try room.permissions().filter { $0.kind == .team } == [Permission(.team, subject: acme.text, object: "Two")])
        for subject in ["", "acme", acme.text.lowercased(), "\(acme) "] {
            let change = PermissionChange(.team, subject: subject, permits: true, name: "Acme")
            #expect(reason { try room.serve(.permit(change), as: Callers.commandLine()) } == .badParameter, "\(subject)")
        }
    }

    @Test("Programs of a team that is no longer trusted are builds again from the next request on") func distrustEndsTheName() throws {
        try trustWithConsent()
        let caller = program()
        try room.add("a", as: caller)
        try distrust()
        #expect(reason { _ = try room.get("a", as: caller) } == .itemNotFound)
        #expect(try ownRights(caller).application == Self.build)
        #expect(reason { try distrust() } == .itemNotFound)
        try trustWithConsent()
        #expect(try room.get("a", as: caller).count == 1)
    }

    @Test("Teams of root count for every user by root's names, and the user's own only after the first unlock")
    func rootsTeamsCount() throws {
        let table = try table(["vauban-teams": [acme.text: "By root"]])
        let byRoot = program(granted: table)
        #expect(try ownRights(byRoot).application == "\(acme.prefix)com.acme.tool")
        try trustWithConsent()
        try trustWithConsent(rivals)
        let permissions = try room.serve(
            .permissions,
            as: Callers.caller(
                CallerIdentity(
                    .unknown(.interpreter), throughCommandLine: true, executable: Callers.executable("/usr/bin/bash"),
                    chain: ["/usr/bin/vauban", "/usr/bin/bash"]), granted: table)
        ).messages.flatMap { reply -> [Permission] in if case .permissions(let list) = reply { list } else { [] } }
        #expect(
            permissions.filter { $0.kind == .team } == [
                Permission(.team, subject: acme.text, object: "By root\tby root"),
                Permission(.team, subject: rivals.text, object: "Acme Tools"),
            ])
        room.enclave.lock(room.leasedKeys, to: .beforeFirstUnlock)
        #expect(try ownRights(byRoot).application == "\(acme.prefix)com.acme.tool")
        #expect(try ownRights(program(by: rivals)).application == Self.build)
        room.enclave.set { $0.lock = .unlocked }
        #expect(try ownRights(program(by: rivals)).application == "\(rivals.prefix)com.acme.tool")
    }

    // MARK: Entitlements

    private func groups(_ list: [String: Any]) throws -> [String] {
        let signer = CodeSigner(team: acme, identifier: "com.acme.tool", entitlements: try Self.list(list))
        return Entitlements(of: signer).groups(adding: "unused")
    }

    @Test("A signed program has the access groups of its team, in Apple's order") func groupsAreTheTeams() throws {
        let own = "\(acme.prefix)com.acme.tool"
        #expect(try groups([:]) == [own])
        #expect(
            try groups([
                "com.apple.security.application-groups": ["\(acme.prefix)both", "group.both"], "application-identifier": "cli",
                "keychain-access-groups": ["com.apple.token", "\(acme.prefix)shared", "\(rivals.prefix)shared", "cli", "*", ""],
                "com.apple.developer.associated-application-identifier": ["\(rivals.prefix)x", "program:/usr/bin/mail"],
            ]) == ["\(acme.prefix)shared", own, "\(acme.prefix)both", "com.apple.token"])
        // The prefix ends with its dot.
        #expect(
            try groups(["keychain-access-groups": ["\(acme)shared", acme.text, "\(acme.prefix)\u{301}"]]) == ["\(acme.prefix)\u{301}", own])
        #expect(try groups(["keychain-access-groups": ["\(acme.prefix)a", 1] as [Any]]) == [own])
        #expect(try groups(["keychain-access-groups": "\(acme.prefix)a", "com.apple.security.application-groups": ["x": 1]]) == [own])
    }

    @Test("Two programs of a team share a group that both are signed for") func programsShareAGroup() throws {
        try trustWithConsent()
        let list = try Self.list(["keychain-access-groups": ["\(acme.prefix)shared"]])
        try room.add("a", as: program("one", with: list))
        #expect(try room.get("a", as: program("two", build: 2, with: list)) == ["\(acme.prefix)shared=value"])
        #expect(reason { _ = try room.get("a", as: program("three", build: 3)) } == .itemNotFound)
        #expect(reason { _ = try room.get("a", as: program(by: rivals, with: list), group: "\(acme.prefix)shared") } == .missingEntitlement)
        // Another trusted team gets nothing of this one's.
        try trustWithConsent(rivals)
        #expect(reason { _ = try room.get("a", as: program(by: rivals, with: list), group: "\(acme.prefix)shared") } == .missingEntitlement)
    }

    @Test("Entitlements of a trusted team can deny the keychain") func entitlementsCanDeny() throws {
        let list = try Self.list(["com.apple.private.keychain.deny": true])
        try room.add("a", as: program(with: list))
        try trustWithConsent()
        #expect(reason { _ = try room.get("a", as: program(with: list)) } == .missingEntitlement)
        #expect(reason { try room.add("b", as: program(with: list)) } == .missingEntitlement)
    }

    @Test("Root's grants to a signed program replace its own entitlements") func rootsGrantsReplaceItsOwn() throws {
        let list = try Self.list(["keychain-access-groups": ["\(acme.prefix)shared"]])
        let table = try table([
            "vauban-applications": ["signed:\(acme.prefix)com.acme.tool"], "keychain-access-groups": ["of.root"],
            "vauban-teams": [acme.text: "Acme"],
        ])
        #expect(try ownRights(program(with: list, granted: table)).groups == ["of.root", "\(acme.prefix)com.acme.tool"])
        #expect(try ownRights(program("com.acme.other", with: list, granted: table)).groups.first == "\(acme.prefix)shared")
        #expect(try ownRights(program(by: rivals, with: list, granted: table)).application == Self.build)
    }

    @Test("Empty or broken entitlements give only the program's own access group") func brokenEntitlementsGiveNothing() throws {
        let own = ["\(acme.prefix)com.acme.tool"]
        func groups(_ bytes: [UInt8]) -> [String] {
            Entitlements(of: CodeSigner(team: acme, identifier: "com.acme.tool", entitlements: bytes)).groups(adding: "unused")
        }
        for text in [
            "<", "<plist/>", "<plist><array/></plist>", "<plist><string>x</string></plist>", "<plist><dict><key>a</key></dict></plist>",
            "<plist><dict><key>keychain-access-groups</key>" + String(repeating: "<array>", count: 1000),
            "<!DOCTYPE x [<!ENTITY a \"a\">]><plist><dict><key>keychain-access-groups</key><array><string>&a;</string></array></dict>"
                + "</plist>",
        ] {
            #expect(groups(Array(text.utf8)) == own, "\(text.prefix(60))")
        }
        var generator = SystemRandomNumberGenerator()
        let whole = try Self.list([
            "keychain-access-groups": ["\(acme.prefix)shared", "com.apple.token"], "x": ["y": [1, true, Data([1])]],
        ])
        #expect(groups(whole) == ["\(acme.prefix)shared"] + own + ["com.apple.token"])
        for _ in 0..<2000 {
            var bytes = whole
            for _ in 0..<Int.random(in: 1...3, using: &generator) {
                bytes[Int.random(in: 1..<bytes.count, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
            }
            if Bool.random(using: &generator) { bytes.removeLast(Int.random(in: 0..<bytes.count, using: &generator)) }
            #expect(groups(bytes).allSatisfy { $0.utf8.starts(with: acme.prefix.utf8) || $0 == "com.apple.token" })
        }
    }

    /// In the binary form, a few kilobytes can be an array of 8^26 elements.
    @Test("Entitlements in a form other than XML are refused") func binaryEntitlementsAreRefused() throws {
        let binary = Array(try PropertyListSerialization.data(fromPropertyList: ["a": 1], format: .binary, options: 0))
        for list in [binary, Array("{a=b;}".utf8), Array(" <plist/>".utf8)] {
            let bytes = try CodeSigner(team: acme, identifier: "a", entitlements: list).encoded()
            #expect(throws: DERError.self) { try CodeSigner(derBytes: bytes) }
            #expect(
                Entitlements(of: CodeSigner(team: acme, identifier: "a", entitlements: list)).groups(adding: "x") == ["\(acme.prefix)a"])
        }
    }

    // MARK: From unsigned to signed

    @Test("A signed program continues an unsigned build after one prompt") func signedProgramContinuesABuild() throws {
        try room.add("a", value: "of the build", as: Callers.own(Self.path, build: 7))
        try trustWithConsent()
        #expect(reason { _ = try room.get("a", as: program(build: 8)) } == .noPromptAgent)
        room.userSays(.once)
        let old = "build:" + String(repeating: "07", count: 32)
        #expect(try room.get("a", as: program(build: 8)) == ["\(old)=of the build"])
        #expect(room.consents.last?.purpose == .acceptBuild && room.consents.last?.program == Self.path)
        room.userIsAway()
        #expect(try ownRights(program(build: 9)).groups == ["\(acme.prefix)com.acme.tool", old])
        try room.add("b", as: program(build: 9))
        #expect(try room.get("b", as: program(build: 10)) == ["\(acme.prefix)com.acme.tool=value"])
        // The unsigned build gets nothing of the signed one.
        #expect(reason { _ = try room.get("b", as: Callers.own(Self.path, build: 7)) } == .itemNotFound)
    }

    @Test("An unsigned program at the path of a signed one is not its new build") func unsignedProgramIsNoNewBuild() throws {
        try trustWithConsent()
        try room.add("a", as: program())
        room.userSays(.once)
        let asked = room.consents.count
        #expect(reason { _ = try room.get("a", as: Callers.own(Self.path, build: 2)) } == .itemNotFound)
        #expect(room.consents.count == asked)
    }

    @Test("A permission for a signed program holds for all of its builds") func permissionHoldsForAllBuilds() throws {
        try trustWithConsent()
        try room.add("m", value: "of mail", as: Callers.installed("/usr/bin/mail"))
        room.userSays(.once)
        var item = ItemQuery(kind: .genericPassword, attributes: ItemAttributes([.service: .text("s"), .account: .text("m")]))
        item.limit = .all
        let change = PermissionChange(.reads, subject: "signed:\(acme.prefix)com.acme.tool", permits: true, item: item)
        try room.serve(.permit(change), as: Callers.commandLine())
        room.userIsAway()
        for build in UInt8(1)...3 { #expect(try room.get("m", as: program(build: build)) == ["program:/usr/bin/mail=of mail"]) }
        #expect(reason { _ = try room.get("m", as: program("com.acme.other")) } == .itemNotFound)
        #expect(reason { _ = try room.get("m", as: Callers.own(Self.path, build: 1)) } == .itemNotFound)
    }
}

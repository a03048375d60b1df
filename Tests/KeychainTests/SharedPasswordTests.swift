// The passwords that a website and its applications share (Specs/associated-domains.md).

import EnclaveWire
import Foundation
import Keychain
import Logging
import Synchronization
import Testing
import VaubanAccessPolicy
import VaubanKeychainModel
import VaubanKeychainWire
import VaubanRefusal
import VaubanUserModel

@Suite struct SharedPasswordTests {
    private static let app = "TEAM.com.example.shop"

    /// Websites that a test determines.
    private struct Sites: SiteLists {
        var lists: [String: [String]] = ["example.com": [app]]
        func applications(of host: String) throws -> [String] {
            guard let list = lists[host] else { throw Refusal(.notAllowedHere, "\(host) has none") }
            return list
        }
    }

    private let room: Room
    private let shop: Caller

    init() throws {
        room = try Room()
        shop = try Self.caller(["webcredentials:example.com", "webcredentials:*.example.com"])
    }

    /// Returns a program to which root granted these domains.
    private static func caller(_ domains: [String], identifier: String? = app, throughCommandLine: Bool = false) throws -> Caller {
        let folder = NSTemporaryDirectory() + "entitlements-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o755])
        defer { try? FileManager.default.removeItem(atPath: folder) }
        var list: [String: Any] = ["vauban-applications": ["program:/p"], "com.apple.developer.associated-domains": domains]
        list["application-identifier"] = identifier
        let data = try PropertyListSerialization.data(fromPropertyList: list, format: .xml, options: 0)
        #expect(FileManager.default.createFile(atPath: "\(folder)/a.plist", contents: data, attributes: [.posixPermissions: 0o644]))
        let table = EntitlementTable(folder: folder, owner: getuid(), logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        let identity = CallerIdentity(
            .installed, throughCommandLine: throughCommandLine, executable: Callers.executable("/p"), chain: ["/p"])
        return Callers.caller(identity, granted: table)
    }

    private func call(
        _ action: SharedPasswordRequest.Action, site: String = "example.com", account: String = "anna", value: String? = nil,
        as caller: Caller? = nil, sites: Sites = Sites()
    ) throws -> [Found] {
        let request = SharedPasswordRequest(action, site: site, account: account)
        return try room.serve(.sharedPassword(request), value: value, as: caller ?? shop, siteLists: sites).found
    }

    private func reason(_ body: () throws -> Void) -> Refusal.Reason? { Refusal.Reason.of { try body() } }

    /// Returns the user's own passwords for a host.
    private func own(_ host: String = "example.com") throws -> [String] {
        var query = ItemQuery(kind: .internetPassword, attributes: ItemAttributes([.server: .text(host)]))
        query.returns = [.data, .attributes]
        query.limit = .all
        do {
            return try room.serve(.copyMatching(query), as: Callers.commandLine()).found.map { $0.value ?? "" }.sorted()
        } catch let refusal as Refusal where refusal.reason == .itemNotFound {
            return []
        }
    }

    private func addOwn(_ account: String, value: String, with more: [AttributeName: AttributeValue] = [:]) throws {
        let attributes: [AttributeName: AttributeValue] = [.server: .text("example.com"), .account: .text(account)]
        let record = ItemRecord(kind: .internetPassword, attributes: ItemAttributes(attributes.merging(more) { $1 }))
        try room.serve(.add(record, returns: [], hasData: true), value: value, as: Callers.commandLine())
    }

    @Test("An application saves a shared password as the user's own item") func savedPasswordsAreTheUsers() throws {
        room.userSays(.once)
        _ = try call(.save, value: "one")
        #expect(try own() == ["one"] && room.consents.map(\.purpose) == [.savePassword])
        #expect(room.consents.first?.item == "example.com/anna" && room.consents.first?.offered == .once)
        // The same password is already saved.
        room.userIsAway()
        _ = try call(.save, value: "one")
        #expect(room.consents.count == 1)
        #expect(reason { _ = try call(.save, value: "two") } == .noPromptAgent)
        room.userSays(.once)
        _ = try call(.save, site: "EXAMPLE.com:443", value: "two")
        #expect(try own() == ["two"] && room.consents.last?.purpose == .changePassword)
    }

    @Test("A shared password needs root's entitlement, the website's association and the user's consent") func allThreeAreNeeded() throws {
        room.userSays(.once)
        try addOwn("anna", value: "one")
        for action in SharedPasswordRequest.Action.allCases {
            let value = action == .save ? "x" : nil
            func refused(_ site: String = "example.com", as caller: Caller? = nil, sites: Sites = Sites()) -> Refusal.Reason? {
                reason { _ = try call(action, site: site, value: value, as: caller, sites: sites) }
            }
            #expect(refused("other.example") == .missingEntitlement)
            #expect(refused(as: Callers.installed("/usr/bin/mail")) == .missingEntitlement)
            #expect(refused(as: Callers.script()) == .missingEntitlement)
            #expect(refused(as: Caller(user: Room.user)) == .missingEntitlement)
            #expect(refused(as: try? Self.caller(["webcredentials:example.com"], throughCommandLine: true)) == .missingEntitlement)
            #expect(refused(as: try? Self.caller(["webcredentials:example.com"], identifier: nil)) == .missingEntitlement)
            #expect(refused(as: try? Self.caller(["applinks:example.com"])) == .missingEntitlement)
            #expect(refused(as: try? Self.caller(["webcredentials:example.com?mode=developer"])) == .missingEntitlement)
            #expect(refused("www.example.com") == .notAllowedHere)
            #expect(refused(sites: Sites(lists: ["example.com": ["TEAM.com.example.other"]])) == .notAllowedHere)
            #expect(refused("192.0.2.1") == .badParameter && refused("example.com:0") == .badParameter)
        }
        #expect(room.consents.isEmpty)
        #expect(try own() == ["one"])
    }

    @Test("The user chooses among several accounts") func userChoosesAnAccount() throws {
        try addOwn("anna", value: "one", with: [.comment: .text("secret question")])
        room.clock.withLock { $0 += 1_000_000 }
        try addOwn("ben", value: "two", with: [.protocolName: .text("htps")])
        try addOwn("cleo", value: "three", with: [.protocolName: .text("imap")])
        try addOwn("dora", value: "four", with: [.port: .number(8443)])
        room.userSays(.account(1))
        let found = try call(.pick, site: "", account: "")
        #expect(found.map(\.value) == ["one"] && room.consents.last?.accounts == ["ben", "anna"])
        #expect(found.first?.record?.attributes.names.contains(.comment) == false)
        room.userSays(.account(2))
        #expect(reason { _ = try call(.pick, site: "", account: "") } == .cancelled)
        room.userSays(.once)
        #expect(reason { _ = try call(.pick, site: "", account: "") } == .cancelled)
        #expect(try call(.pick, site: "example.com:8443", account: "").map(\.value) == ["four"])
        #expect(reason { _ = try call(.pick, site: "example.com", account: "cleo") } == .itemNotFound)
    }

    @Test("Deleting a shared password that exists always prompts") func deletingPrompts() throws {
        _ = try call(.delete)
        #expect(room.consents.isEmpty)
        try addOwn("anna", value: "one")
        #expect(reason { _ = try call(.delete) } == .noPromptAgent)
        room.userSays(.once)
        _ = try call(.delete)
        #expect(try own().isEmpty && room.consents.last?.purpose == .deletePassword)
    }
}

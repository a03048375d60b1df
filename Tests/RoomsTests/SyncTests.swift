// Synchronized items through the client library and the real rooms, with two devices (Specs/sync.md). The command line's part, the folder,
// is tested by Tests/Scripts/sync.sh.

import Foundation
import TestSupport
import Testing
import VaubanAccessPolicy
import VaubanAuthenticationClient
import VaubanKeychainClient
import VaubanKeychainModel
import VaubanKeychainWire
import VaubanRefusal
import VaubanSecretBytes
import VaubanSyncModel
import VaubanUserModel

@Suite("Synchronized items")
struct SyncTests {
    /// One device with its part of a circle.
    private final class Device {
        let rooms: Rooms

        init() throws {
            rooms = try Rooms()
            try rooms.setPasscode()
        }

        @discardableResult func perform(_ request: CircleRequest) throws -> CircleReply {
            try rooms.keychain.circle(request).reply
        }

        /// Performs a request that the user approves with the passcode.
        func approved(_ request: CircleRequest) throws -> (reply: CircleReply, prompts: [PromptRequest]) {
            let user = try rooms.user([.passcode(Rooms.passcode)])
            defer { user.leave() }
            return (try perform(request), user.requests)
        }

        func add(_ account: String, _ value: String, _ protection: Protection = .whenUnlocked, isSynchronizable: Bool = true) throws {
            let attributes = ItemAttributes([
                .service: .text("sync"), .account: .text(account), .synchronizable: .number(isSynchronizable ? 1 : 0),
            ])
            let value: SecretBytes? = secret(value)
            _ = try rooms.keychain.add(
                ItemRecord(kind: .genericPassword, attributes: attributes, protection: protection), secret: value)
        }

        func read(_ account: String) throws -> String {
            var query = Rooms.query("sync", account)
            query.includesSynchronizable = true
            query.returnsData = true
            guard let found = try rooms.keychain.copyMatching(query).first?.takeSecret() else { return "" }
            return String(decoding: found.disclosed(), as: UTF8.self)
        }
    }

    private func circle() throws -> (Device, Device) {
        let (first, second) = (try Device(), try Device())
        try first.perform(.begin(name: "desk"))
        let commitment = try #require(try second.perform(.apply(name: "laptop")).document)
        let answer = try #require(try first.perform(.answer(commitment: commitment)).document)
        let revealed = try second.perform(.reveal(answer: answer))
        let (reveal, code) = (try #require(revealed.document), try #require(revealed.code))
        // Without the user nobody is admitted; and the prompt names the device.
        #expect(refusal { try first.perform(.approve(reveal: reveal, code: code)) } != nil)
        let (approved, prompts) = try first.approved(.approve(reveal: reveal, code: code))
        #expect(
            prompts.map { $0.consent?.purpose } == [.admitDevice] && prompts.first?.consent?.program == "laptop"
                && prompts.first?.consent?.item == code)
        let (statement, memberCode) = (try #require(approved.document), try #require(approved.code))
        #expect(refusal { try second.perform(.enter(statement: statement, code: memberCode)) } != nil)
        let (_, entering) = try second.approved(.enter(statement: statement, code: memberCode))
        #expect(
            entering.map { $0.consent?.purpose } == [.enterCircle] && entering.first?.consent?.program == "desk"
                && entering.first?.consent?.item == memberCode)
        for device in [first, second] { try device.perform(.open) }
        return (first, second)
    }

    @Test(
        "An item is put on the other device, replaced and deleted there only under its row's mark, and kept among the deleted items",
        .proves("C-215")) func writesNeedTheMark() throws
    {
        let (first, second) = try circle()
        try first.add("a", "one")
        let row = try #require(try first.rooms.keychain.syncRows().rows.first)
        let name = try #require(row.name)
        let copied = try #require(try first.rooms.keychain.copyForCircle([row.row]).first)
        guard case .item(_, row.mark, let item) = copied.reply else { throw Refusal(.internalError) }
        let bytes = copied.takeBytes()
        func put(_ mark: [UInt8]?, name: [UInt8] = name) throws -> SyncOutcome {
            let rest: SecretBytes? = SecretBytes(copying: bytes)
            return try second.rooms.keychain.put(item, rest: rest, epoch: 1, name: name, replacing: mark)
        }
        #expect(refusal { _ = try put(nil, name: [UInt8](repeating: 0, count: 16)) } == .badParameter)
        guard case .placed(let mark, _, _) = try put(nil) else { throw Refusal(.internalError) }
        #expect(try second.read("a") == "one")
        #expect(try second.rooms.keychain.syncRows().rows.map(\.name) == [name])
        // A write is done only to the row that it was decided about.
        #expect(try put(nil) == .changedMeanwhile)
        #expect(try put([UInt8](repeating: 1, count: 16)) == .changedMeanwhile)
        guard case .placed(let again, _, _) = try put(mark) else { throw Refusal(.internalError) }
        let there = try #require(try second.rooms.keychain.syncRows().rows.first)
        #expect(try second.rooms.keychain.deleteSynchronized(item: there.item, mark: mark) == .changedMeanwhile)
        #expect(try second.rooms.keychain.deleteSynchronized(item: there.item, mark: again) == .deleted)
        #expect(refusal { _ = try second.read("a") } == .itemNotFound)
        #expect(try second.rooms.keychain.deletedItems(ofAllOwners: false).count == 1)
    }

    @Test("Items of one device, and items that are not synchronizable, go nowhere", .proves("C-064", "C-092")) func itemsStay() throws {
        let (first, second) = try circle()
        for protection in Protection.allCases { try first.add(protection.rawValue, "of \(protection)", protection) }
        try first.add("local", "local", isSynchronizable: false)
        try first.rooms.add("sync", "asks", "asks", control: try AccessControl(protection: .whenUnlocked, flags: .userPresence))
        let rows = try first.rooms.keychain.syncRows().rows
        #expect(rows.count == Protection.allCases.count)
        for row in rows {
            let protection = try #require(Protection.allCases.first { row.shownName == "sync/\($0.rawValue)" })
            #expect((row.name == nil) == protection.staysOnDevice)
        }
        // Whatever is asked for, only what may leave is copied.
        var copied = 0
        for entry in try first.rooms.keychain.copyForCircle(Array(1...20)) { if case .item = entry.reply { copied += 1 } }
        #expect(copied == Protection.allCases.filter { !$0.staysOnDevice }.count)
        #expect(try second.rooms.keychain.syncRows().rows.isEmpty)
        // Without an open circle there are no keys to copy under.
        try first.rooms.authentication.lock()
        #expect(refusal { _ = try first.rooms.keychain.copyForCircle(rows.map(\.row)) } == .locked)
        try first.rooms.unlock()
        let refused = refusal { _ = try first.rooms.keychain.copyForCircle(rows.filter { $0.name != nil }.map(\.row)) }
        #expect(refused == .unavailable)
    }
}

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
    final class Device {
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

        func add(_ account: String, _ value: String, protection: ProtectionClass = .whenUnlocked, isSynchronizable: Bool = true) throws {
            let attributes = ItemAttributes([
                .service: .text("sync"), .account: .text(account), .synchronizable: .number(isSynchronizable ? 1 : 0),
            ])
            let value: SecretBytes? = secret(value)
            _ = try rooms.keychain.add(
                ItemRecord(kind: .genericPassword, attributes: attributes, protection: protection), secret: value)
        }

        func update(_ account: String, to value: String) throws {
            var query = Rooms.query("sync", account)
            query.includesSynchronizable = true
            let value: SecretBytes? = secret(value)
            try rooms.keychain.update(query, ItemChanges(attributes: ItemAttributes([:])), secret: value)
        }

        func comment(_ account: String, _ text: String) throws {
            var query = Rooms.query("sync", account)
            query.includesSynchronizable = true
            try rooms.keychain.update(query, ItemChanges(attributes: ItemAttributes([.comment: .text(text)])), secret: nil)
        }

        /// Returns the earlier values of an item, the newest first.
        func earlier(_ account: String) throws -> [String] {
            var query = Rooms.query("sync", account)
            query.includesSynchronizable = true
            let count = try rooms.keychain.earlierValues(of: query).count
            return try (0..<count).map { index in
                guard let value = try rooms.keychain.earlierValue(index + 1, of: query).takeSecret() else { return "" }
                return String(decoding: value.disclosed(), as: UTF8.self)
            }
        }

        /// Returns the row of an item with its name, and its copy for the circle.
        func copy(_ account: String) throws -> (row: SyncRow, name: [UInt8], item: BackupItem, rest: [UInt8]) {
            let row = try #require(try rooms.keychain.syncRows().rows.first { $0.shownName == "sync/\(account)" })
            let copied = try #require(try rooms.keychain.copyForCircle([row.row]).first)
            guard case .item(_, row.mark, let item, _) = copied.reply else { throw Refusal(.internalError) }
            return (row, try #require(row.name), item, copied.takeBytes())
        }

        func read(_ account: String) throws -> String {
            var query = Rooms.query("sync", account)
            query.includesSynchronizable = true
            query.returns.insert(.data)
            guard let found = try rooms.keychain.copyMatching(query).first?.takeSecret() else { return "" }
            return String(decoding: found.disclosed(), as: UTF8.self)
        }
    }

    func circle() throws -> (Device, Device) {
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
        var (_, name, item, bytes) = try first.copy("a")
        func put(_ mark: [UInt8]?, name other: [UInt8]? = nil) throws -> SyncOutcome {
            let rest: SecretBytes? = SecretBytes(copying: bytes)
            let name = other ?? name
            return try second.rooms.keychain.put(item, rest: rest, epoch: 1, name: name, replacing: mark)
        }
        #expect(refusal { _ = try put(nil, name: [UInt8](repeating: 0, count: 16)) } == .badParameter)
        guard case .placed(let mark, let identity, let changed, let parts) = try put(nil) else { throw Refusal(.internalError) }
        #expect(try second.read("a") == "one")
        #expect(try second.rooms.keychain.syncRows().rows.map(\.name) == [name])
        // A write is done only to the row that it was decided about.
        #expect(try put(nil) == .changedMeanwhile)
        #expect(try put([UInt8](repeating: 1, count: 16)) == .changedMeanwhile)
        // As it is there already, it is not written again and is not among its own earlier values.
        #expect(try put(mark) == .placed(mark: mark, item: identity, changed: changed, parts: parts))
        try first.update("a", to: "two")
        (_, name, item, bytes) = try first.copy("a")
        guard case .placed(let again, _, _, _) = try put(mark) else { throw Refusal(.internalError) }
        #expect(try second.read("a") == "two")
        let there = try #require(try second.rooms.keychain.syncRows().rows.first)
        #expect(try second.rooms.keychain.deleteSynchronized(item: there.item, mark: mark) == .changedMeanwhile)
        #expect(try second.rooms.keychain.deleteSynchronized(item: there.item, mark: again) == .deleted)
        #expect(refusal { _ = try second.read("a") } == .itemNotFound)
        #expect(try second.rooms.keychain.deletedItems(ofAllOwners: false).count == 1)
    }

    @Test("A received value displaces one in the history, and received changes of attributes do not", .proves("C-217"))
    func attributesDisplaceNothing() throws {
        let (first, second) = try circle()
        try first.add("a", "one")
        var mark: [UInt8]?
        func receive() throws {
            let (_, name, item, bytes) = try first.copy("a")
            let rest: SecretBytes? = SecretBytes(copying: bytes)
            let outcome = try second.rooms.keychain.put(item, rest: rest, epoch: 1, name: name, replacing: mark)
            guard case .placed(let placed, _, _, _) = outcome else { throw Refusal(.internalError) }
            mark = placed
        }
        try receive()
        // The second device changes the value, and the first one changes it later without having read that.
        try second.update("a", to: "lost")
        mark = try second.copy("a").row.mark
        try first.update("a", to: "won")
        try receive()
        #expect(try second.read("a") == "won")
        #expect(try second.earlier("a") == ["lost", "one"])
        for number in 1...11 {
            try first.comment("a", "comment \(number)")
            try receive()
        }
        #expect(try second.earlier("a") == ["lost", "one"])
        try first.update("a", to: "later")
        try receive()
        #expect(try second.earlier("a") == ["won", "lost", "one"])
    }

    @Test("New items are put in place in one transaction, or none of them if one is here already") func newItemsTogether() throws {
        let (first, second) = try circle()
        // Longer than the head of a secret half, so that there are rests.
        func value(_ number: Int) -> String { String(repeating: "value \(number) ", count: 20) }
        for number in 0..<3 { try first.add("\(number)", value(number)) }
        let copies = try (0..<3).map { try first.copy("\($0)") }
        func putNew(_ numbers: [Int], cutting: Int = 0) throws -> [SyncOutcome]? {
            let items = numbers.map {
                SyncedItem(item: copies[$0].item, epoch: 1, name: copies[$0].name, restBytes: copies[$0].rest.count)
            }
            let rests: SecretBytes? = SecretBytes(copying: Array(numbers.flatMap { copies[$0].rest }.dropLast(cutting)))
            return try second.rooms.keychain.putNew(items, rests: rests)
        }
        #expect(refusal { _ = try putNew([0, 1], cutting: 1) } == .badParameter)
        #expect(try putNew([0, 0]) == nil)
        #expect(try second.rooms.keychain.syncRows().rows.isEmpty)
        let placed = try #require(try putNew([0, 1]))
        let rows = try second.rooms.keychain.syncRows().rows
        let parts = try second.rooms.keychain.parts(of: rows.map(\.row))
        #expect(
            placed
                == zip(rows, parts).map { .placed(mark: $0.mark, item: $0.item, changed: $0.changed, parts: $1.parts) })
        #expect(parts.map(\.mark) == rows.map(\.mark) && parts[0].parts[.value] != parts[1].parts[.value])
        #expect(rows.map(\.name) == [copies[0].name, copies[1].name])
        #expect(try putNew([2, 1]) == nil)
        #expect(refusal { _ = try second.read("2") } == .itemNotFound)
        #expect(try putNew([2])?.count == 1)
        for number in 0..<3 { #expect(try second.read("\(number)") == value(number)) }
    }

    @Test("Items of one device, and items that are not synchronizable, go nowhere", .proves("C-064", "C-092")) func itemsStay() throws {
        let (first, second) = try circle()
        for protection in ProtectionClass.allCases { try first.add(protection.rawValue, "of \(protection)", protection: protection) }
        try first.add("local", "local", isSynchronizable: false)
        try first.rooms.add("sync", "asks", "asks", control: try AccessControl(protection: .whenUnlocked, flags: .userPresence))
        let rows = try first.rooms.keychain.syncRows().rows
        #expect(rows.count == ProtectionClass.allCases.count)
        for row in rows {
            let protection = try #require(ProtectionClass.allCases.first { row.shownName == "sync/\($0.rawValue)" })
            #expect((row.name == nil) == protection.staysOnDevice)
        }
        // Whatever is asked for, only what may leave is copied.
        var copied = 0
        for entry in try first.rooms.keychain.copyForCircle(Array(1...20)) { if case .item = entry.reply { copied += 1 } }
        #expect(copied == ProtectionClass.allCases.filter { !$0.staysOnDevice }.count)
        #expect(try second.rooms.keychain.syncRows().rows.isEmpty)
        // Without an open circle there are no keys to copy under.
        try first.rooms.authentication.lock()
        #expect(refusal { _ = try first.rooms.keychain.copyForCircle(rows.map(\.row)) } == .locked)
        try first.rooms.unlock()
        let refused = refusal { _ = try first.rooms.keychain.copyForCircle(rows.filter { $0.name != nil }.map(\.row)) }
        #expect(refused == .unavailable)
    }

    /// A circle whose second device is a companion that receives the items of these rows.
    private func companion(_ rows: (Device) throws -> [Int64]) throws -> (member: Device, companion: Device, [PromptRequest]) {
        let (member, companion) = (try Device(), try Device())
        try member.perform(.begin(name: "desk"))
        try member.perform(.open)
        let commitment = try #require(try companion.perform(.apply(name: "pi")).document)
        let answer = try #require(try member.perform(.answer(commitment: commitment)).document)
        let revealed = try companion.perform(.reveal(answer: answer))
        let (reveal, code) = (try #require(revealed.document), try #require(revealed.code))
        let rows = try rows(member)
        #expect(refusal { _ = try member.rooms.keychain.changeCompanion(.admit(reveal: reveal, code: code), rows: rows) } != nil)
        let user = try member.rooms.user([.passcode(Rooms.passcode)])
        let approved = try member.rooms.keychain.changeCompanion(.admit(reveal: reveal, code: code), rows: rows)
        user.leave()
        let (statement, memberCode) = (try #require(approved.document), try #require(approved.code))
        let (_, entering) = try companion.approved(.enter(statement: statement, code: memberCode))
        #expect(entering.map { $0.consent?.purpose } == [.enterAsCompanion])
        for device in [member, companion] { try device.perform(.open) }
        return (member, companion, user.requests)
    }

    @Test(
        "A companion receives the items of its list: the prompt names them, no request copies another, and nothing it has goes further",
        .proves("C-029")) func companionReceivesItsList() throws
    {
        let (member, companion, prompts) = try companion { member in
            for name in ["token", "other"] { try member.add(name, "value of \(name)") }
            try member.add("local", "local", isSynchronizable: false)
            try member.add("stays", "stays", protection: .whenUnlockedThisDeviceOnly)
            return [try #require(try member.rooms.keychain.syncRows().rows.first { $0.shownName == "sync/token" }).row]
        }
        #expect(prompts.map { $0.consent?.purpose } == [.admitCompanion])
        #expect(prompts.first?.consent?.owner == "“sync/token”" && prompts.first?.consent?.program == "pi")
        let device = try #require(try member.perform(.view).view.companions.first).device.device
        let keychain = member.rooms.keychain
        // Whatever rows are asked for, only that of the list is copied.
        let copied = try keychain.copyForCircle(Array(1...20), companion: device)
        let items = copied.filter { if case .item = $0.reply { true } else { false } }
        #expect(copied.count == 20 && items.count == 1)
        // The command line names no item by a blinded name of its own, nor an item that stays here.
        let rows = try keychain.syncRows().rows
        let other = try #require(rows.first { $0.shownName == "sync/other" })
        let blinded = try #require(other.name)
        let name = try #require(BlindedNames([blinded]))
        #expect(refusal { try member.perform(.allow(device: device, name, shown: "“harmless”")) } == .notAllowedHere)
        let stays = try #require(rows.first { $0.shownName == "sync/stays" }).row
        #expect(refusal { _ = try keychain.changeCompanion(.allow(device: device), rows: [stays]) } == .itemNotFound)
        #expect(refusal { _ = try keychain.changeCompanion(.allow(device: device), rows: [other.row]) } != nil)
        #expect(
            try keychain.copyForCircle([other.row], companion: device).allSatisfy { if case .omitted = $0.reply { true } else { false } })
        // It is put in place there, opens, and is copied for nobody.
        let entry = try #require(items.first)
        guard case .item(let row, _, let item, _) = entry.reply else { throw Refusal(.internalError) }
        let listed = try #require(rows.first { $0.row == row }?.name)
        let rest: SecretBytes? = SecretBytes(copying: entry.takeBytes())
        let there = companion.rooms.keychain
        guard case .placed = try there.put(item, rest: rest, epoch: 1, name: listed, replacing: nil) else { throw Refusal(.internalError) }
        #expect(try companion.read("token") == "value of token")
        let placed = try #require(try there.syncRows().rows.first)
        #expect(placed.name == placed.item)
        #expect(refusal { _ = try there.copyForCircle([placed.row], companion: device) } == .notAllowedHere)
        #expect(try there.copyForCircle([placed.row]).allSatisfy { if case .omitted = $0.reply { true } else { false } })
        #expect(refusal { _ = try there.changeCompanion(.allow(device: device), rows: [placed.row]) } == .notAllowedHere)
        // What is taken from it leaves nothing behind, not even among the deleted items.
        #expect(try there.deleteSynchronized(item: placed.item, mark: placed.mark) == .deleted)
        #expect(try there.deletedItems(ofAllOwners: false).isEmpty)
    }

    @Test(
        "A token is made after a prompt that names the items and the time, and redeemed after a prompt there; then nobody is asked",
        .proves("C-029")) func tokenIsApprovedOnce() throws
    {
        let (member, server) = (try Device(), try Device())
        try member.perform(.begin(name: "desk"))
        try member.perform(.open)
        try member.add("token", "value of token")
        let keychain = member.rooms.keychain
        let rows = try keychain.syncRows().rows.map(\.row)
        // The command line names no item by a blinded name of its own.
        let own = CircleRequest.makeToken(name: "ci", seconds: 60, .empty, shown: "“harmless”")
        #expect(refusal { try member.perform(own) } == .notAllowedHere)
        #expect(refusal { _ = try keychain.makeToken(name: "ci", seconds: 60, rows: rows) } != nil)
        #expect(try member.perform(.view).view.tokens.isEmpty)
        let user = try member.rooms.user([.passcode(Rooms.passcode)])
        let (made, entry) = try keychain.makeToken(name: "ci", seconds: 5400, rows: rows)
        user.leave()
        let consent = try #require(user.requests.first?.consent)
        #expect(user.requests.count == 1 && consent.purpose == .makeToken && consent.offered == .once)
        #expect(consent.item == "90 minutes" && consent.owner == "“sync/token”" && consent.program == "ci")
        let token = try #require(made.document)
        let seed = entry.takeBytes()
        #expect(seed.count == JoinToken.seedBytes)
        func redeem() throws -> CircleReply {
            let secret: SecretBytes? = SecretBytes(copying: seed)
            return try server.rooms.keychain.redeem(token, seed: secret)
        }
        #expect(refusal { _ = try redeem() } != nil)
        let there = try server.rooms.user([.passcode(Rooms.passcode)])
        let request = try #require(try redeem().document)
        there.leave()
        #expect(there.requests.map { $0.consent?.purpose } == [.enterAsCompanion] && there.requests.first?.consent?.program == "desk")
        let statement = try #require(try member.perform(.admitByToken(request: request)).document)
        #expect(try server.perform(.enterByToken(statement: statement)).view.isCompanion)
        #expect(try member.perform(.view).view.companions.map(\.names.all.count) == [1])
    }

    @Test("The names without an item are taken off a companion's list, after a prompt that says how many there are") func goneNames() throws
    {
        let (member, _, _) = try companion { member in
            for name in ["token", "other"] { try member.add(name, "value of \(name)") }
            return try member.rooms.keychain.syncRows().rows.map(\.row)
        }
        let keychain = member.rooms.keychain
        let device = try #require(try member.perform(.view).view.companions.first).device.device
        #expect(refusal { _ = try keychain.changeCompanion(.disallow(device: device), rows: []) } == .itemNotFound)
        let row = try #require(try keychain.syncRows().rows.first { $0.shownName == "sync/token" })
        #expect(try keychain.deleteSynchronized(item: row.item, mark: row.mark) == .deleted)
        #expect(refusal { _ = try keychain.changeCompanion(.disallow(device: device), rows: []) } != nil)
        #expect(try member.perform(.view).view.companions.first?.names.all.count == 2)
        let user = try member.rooms.user([.passcode(Rooms.passcode)])
        let view = try keychain.changeCompanion(.disallow(device: device), rows: []).view
        user.leave()
        #expect(user.requests.map { $0.consent?.purpose } == [.disallowItems])
        #expect(user.requests.first?.consent?.owner == "1 name without an item on this device")
        #expect(view.companions.first?.names.all.count == 1)
    }
}

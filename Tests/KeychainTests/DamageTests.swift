import Foundation
import Keychain
import KeychainStore
import Testing
import VaubanAccessPolicy
import VaubanKeychainModel
import VaubanKeychainWire
import VaubanLinuxHost
import VaubanRefusal

@Suite struct DamageTests {
    private let name: [AttributeName: AttributeValue] = [.account: .text("a"), .service: .text("s")]
    private let other: [AttributeName: AttributeValue] = [.account: .text("b"), .service: .text("s")]

    enum Part: CaseIterable { case secretBinding, wrappedKey, secret, metadataBinding, metadata }

    private func halves(_ from: RowHalves, taking parts: Set<Part>, _ change: (Part) -> [UInt8]) -> RowHalves {
        func part(_ part: Part, _ bytes: [UInt8]) -> [UInt8] { parts.contains(part) ? change(part) : bytes }
        return RowHalves(
            secretBinding: part(.secretBinding, from.secretBinding), wrappedKey: part(.wrappedKey, from.wrappedKey),
            secret: part(.secret, from.secret), metadataBinding: part(.metadataBinding, from.metadataBinding),
            metadata: part(.metadata, from.metadata))
    }

    private func bytes(_ part: Part, of halves: RowHalves) -> [UInt8] {
        switch part {
        case .secretBinding: halves.secretBinding
        case .wrappedKey: halves.wrappedKey
        case .secret: halves.secret
        case .metadataBinding: halves.metadataBinding
        case .metadata: halves.metadata
        }
    }

    @Test("One changed byte quarantines a row", arguments: Part.allCases)
    func flippedByteQuarantinesRow(_ part: Part) throws {
        let room = try Room()
        try room.add(name, value: "v")
        try room.add(other, value: "w")
        let row = try #require(try room.rows().first)
        let tampered = halves(row.halves, taking: [part]) { part in
            var bytes = bytes(part, of: row.halves)
            bytes[bytes.count / 2] ^= 1
            return bytes
        }
        try room.tamper(row, with: tampered)
        #expect(try room.find([.service: .text("s")], limit: .all).map(\.value) == ["w"])
        #expect(Refusal.Reason.of { _ = try room.find(name) } == .itemNotFound)
        #expect(try room.database.quarantinedCount() == 1)
        try room.add(name, value: "again")
        #expect(try room.find(name).first?.value == "again")
    }

    @Test("On a full disk a damaged row hides no other one, and is quarantined once there is room")
    func damagedRowOnFullDisk() throws {
        let room = try Room(pagesMax: 160)
        // It takes many pages to quarantine the first one.
        try room.add([.service: .text("s"), .account: .text("0")], value: String(repeating: "x", count: 60_000))
        var accounts = 1
        for size in [5000, 1] {
            while Refusal.Reason.of({
                try room.add([.service: .text("s"), .account: .text("\(accounts)")], value: String(repeating: "x", count: size))
            }) == nil {
                accounts += 1
            }
        }
        try room.sqlite("UPDATE item SET metadata = zeroblob(length(metadata)) WHERE id = 1")
        for _ in 0..<2 { #expect(try room.find([:], limit: .all).count == accounts - 1) }
        #expect(Refusal.Reason.of { _ = try room.find([.account: .text("0")]) } == .itemNotFound)
        #expect(Refusal.Reason.of { try room.add([.service: .text("s"), .account: .text("0")]) } == .storageFull)
        #expect(try room.database.quarantinedCount() == 0)
        try room.sqlite("DELETE FROM item WHERE id > 5")
        #expect(try room.find([:], limit: .all).count == 4)
        #expect(try room.database.quarantinedCount() == 1)
        try room.add([.service: .text("s"), .account: .text("0")], value: "again")
        #expect(try room.find([.account: .text("0")]).first?.value == "again")
    }

    @Test("Adding over a damaged row succeeds", arguments: Part.allCases)
    func addingOverDamagedRowSucceeds(_ part: Part) throws {
        let room = try Room()
        try room.add(name, value: "v")
        let row = try #require(try room.rows().first)
        try room.tamper(row, with: halves(row.halves, taking: [part]) { _ in [1, 2, 3] })
        try room.add(name, value: "again")
        #expect(try room.find(name).first?.value == "again")
        #expect(try room.database.quarantinedCount() == 1)
    }

    @Test("Halves of two items never fit together") func halvesOfTwoItemsNeverFit() throws {
        let room = try Room()
        try room.add(name, value: "v")
        try room.add(other, value: "w")
        let rows = try room.rows()
        let swapped = halves(rows[0].halves, taking: [.secretBinding, .wrappedKey, .secret]) { bytes($0, of: rows[1].halves) }
        try room.tamper(rows[0], with: swapped)
        #expect(Refusal.Reason.of { _ = try room.find(name) } == .itemNotFound)
        #expect(try room.find(other).first?.value == "w")
    }

    @Test("Halves of two writes never fit together") func halvesOfTwoWritesNeverFit() throws {
        let room = try Room()
        try room.add(name, value: "old")
        let before = try #require(try room.rows().first)
        try room.update(name, value: "new")
        let after = try #require(try room.rows().first)
        // The old value under the new attributes; all parts of the old value are genuine.
        let rolledBack = halves(after.halves, taking: [.secretBinding, .wrappedKey, .secret]) { bytes($0, of: before.halves) }
        try room.tamper(after, with: rolledBack)
        #expect(Refusal.Reason.of { _ = try room.find(name) } == .itemNotFound)
        #expect(try room.database.quarantinedCount() == 1)
    }

    @Test("Index columns of another row never fit") func indexColumnsOfAnotherRowNeverFit() throws {
        let room = try Room()
        try room.add(name, value: "v")
        let row = try #require(try room.rows().first)
        let blinds = RowBlinds(primary: row.blinds.primary.reversed(), list: row.blinds.list, lookups: [], device: nil)
        let changed = StoredRow(
            item: row.item, kind: row.kind, protection: row.protection, generation: row.generation, blinds: blinds, halves: row.halves)
        #expect(try room.database.update([RowChange(old: row.handle, row: changed, changesBlinds: true)]) == .written)
        #expect(Refusal.Reason.of { _ = try room.find([:]) } == .itemNotFound)
        #expect(try room.database.quarantinedCount() == 1)
    }

    @Test("A column of another protection class never fits") func columnOfAnotherClassNeverFits() throws {
        let room = try Room()
        try room.add(name, value: "v", .whenUnlocked)
        let row = try #require(try room.rows().first)
        let changed = StoredRow(
            item: row.item, kind: row.kind, protection: ProtectionClass.always.number, generation: row.generation, blinds: row.blinds,
            halves: row.halves)
        #expect(try room.database.update([RowChange(old: row.handle, row: changed, changesBlinds: true)]) == .written)
        #expect(Refusal.Reason.of { _ = try room.find([:]) } == .itemNotFound)
    }

    @Test("A write over a row that has changed is refused") func staleWritesAreRefused() throws {
        let room = try Room()
        try room.add(name, value: "v")
        let row = try #require(try room.rows().first)
        try room.update(name, value: "w")
        #expect(try room.database.update([RowChange(old: row.handle, row: row, changesBlinds: false)]) == .stale)
        #expect(try room.database.delete([row.handle]) == false)
        try room.database.quarantine(row, .metadata, date: 0)
        #expect(try room.find(name).first?.value == "w")
        #expect(try room.database.quarantinedCount() == 0)
    }
}

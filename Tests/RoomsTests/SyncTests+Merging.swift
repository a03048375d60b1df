// Merging what two devices changed of one item, through the client library and the real rooms (Specs/sync.md, "Parts").

import TestSupport
import Testing
import VaubanAccessPolicy
import VaubanKeychainClient
import VaubanKeychainModel
import VaubanKeychainWire
import VaubanRefusal
import VaubanSecretBytes
import VaubanSyncModel

extension SyncTests {
    @Test(
        "Changes of different parts of an item are put in place together, and of a part that both changed the later one", .proves("C-217"))
    func merging() throws {
        let (first, second) = try circle()
        try first.add("a", "one")
        let (_, name, item, rest) = try first.copy("a")
        let made: SecretBytes? = SecretBytes(copying: rest)
        guard case .placed(_, _, _, let digests) = try second.rooms.keychain.put(item, rest: made, epoch: 1, name: name, replacing: nil)
        else { throw Refusal(.internalError) }
        let common = try #require(digests)
        /// What the first device has is merged with what the second one has.
        func merge(receivedWins: Bool, common: PartDigests) throws -> MergedItem {
            let (_, name, item, bytes) = try first.copy("a")
            let rest: SecretBytes? = SecretBytes(copying: bytes)
            let here = try second.copy("a").row
            let outcome = try second.rooms.keychain.put(
                item, rest: rest, epoch: 1, name: name, replacing: here.mark,
                merging: PartMerge(common: [common], receivedWins: receivedWins))
            guard case .merged(let merged) = outcome else { throw Refusal(.internalError) }
            let row = try second.copy("a").row
            #expect(merged.mark == row.mark && merged.changed == row.changed && (merged.mark == here.mark) == (merged.content == .here))
            return merged
        }
        func comment(_ device: Device) throws -> AttributeValue? {
            var query = Rooms.query("sync", "a")
            query.includesSynchronizable = true
            query.returns.insert(.attributes)
            return try device.rooms.keychain.copyMatching(query).first?.record?.attributes[.comment]
        }
        // Digests of one item are the same on all devices.
        let row = try first.copy("a").row
        #expect(try first.rooms.keychain.parts(of: [row.row, .max]).map(\.parts) == [common])
        try second.comment("a", "here")
        try first.update("a", to: "two")
        var merged = try merge(receivedWins: true, common: common)
        #expect(merged.content == .both && merged.contested == [] && merged.parts[.value] != common[.value])
        #expect(try second.read("a") == "two" && comment(second) == .text("here"))
        #expect(try second.earlier("a") == ["one"])
        // It is later than both, so nothing of it is decided again.
        #expect(try second.copy("a").row.changed > first.copy("a").row.changed)
        // The same again: there is nothing new.
        merged = try merge(receivedWins: false, common: common)
        #expect(merged.content == .here && merged.contested == [])
        // The earlier change lacks what the later one has.
        let known = try #require(try first.rooms.keychain.parts(of: [row.row]).first).parts
        try first.comment("a", "there")
        try second.update("a", to: "three")
        merged = try merge(receivedWins: false, common: known)
        #expect(merged.content == .here && merged.contested == [.comment])
        #expect(try second.read("a") == "three" && comment(second) == .text("here"))
        // Both changed the value: the later one replaces the one here, which goes to the history.
        try first.update("a", to: "won")
        merged = try merge(receivedWins: true, common: known)
        #expect(merged.content == .received && merged.contested == [.value, .comment])
        #expect(try second.read("a") == "won" && comment(second) == .text("there"))
        #expect(try second.earlier("a") == ["three", "two", "one"])
    }

    @Test("Items of one name that were added separately are not merged", .proves("C-217")) func mergingOtherItem() throws {
        let (first, second) = try circle()
        try first.add("a", "one")
        try second.add("a", "two")
        let row = try second.copy("a").row
        let common = try #require(try second.rooms.keychain.parts(of: [row.row]).first).parts
        try second.comment("a", "here")
        for receivedWins in [false, true] {
            let (_, name, item, bytes) = try first.copy("a")
            let rest: SecretBytes? = SecretBytes(copying: bytes)
            let outcome = try second.rooms.keychain.put(
                item, rest: rest, epoch: 1, name: name, replacing: try second.copy("a").row.mark,
                merging: PartMerge(common: [common], receivedWins: receivedWins))
            guard case .merged(let merged) = outcome else { throw Refusal(.internalError) }
            #expect(merged.content == (receivedWins ? .received : .here) && merged.contested == nil)
            #expect(try second.read("a") == (receivedWins ? "one" : "two"))
        }
        #expect(try second.earlier("a") == ["two"])
    }
}

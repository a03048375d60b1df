import EnclaveWire
import Foundation
import Keychain
import KeychainStore
import Synchronization
import Testing
import VaubanAccessPolicy
import VaubanKeychainModel
import VaubanKeychainWire
import VaubanRefusal

/// Rows whose keys are missing, permanently or not.
@Suite struct GoneRowTests {
    private let name: [AttributeName: AttributeValue] = [.account: .text("a"), .service: .text("s")]
    private let other: [AttributeName: AttributeValue] = [.account: .text("b"), .service: .text("s")]

    @Test("A row whose class key was destroyed with the passcode is removed") func rowOfDestroyedClassKeyIsRemoved() throws {
        let room = try Room()
        try room.add(name, .whenPasscodeSetThisDeviceOnly)
        try room.enclave.renew(.metadata(.whenPasscodeSetThisDeviceOnly), destroyingOld: true)
        room.leasedKeys.forget(Room.user)
        #expect(Refusal.Reason.of { _ = try room.find(name) } == .itemNotFound)
        #expect(try room.rows().isEmpty)
        #expect(try room.database.quarantinedCount() == 0)
    }

    /// An earlier copy of the enclave's state may open it.
    @Test("A row of another class, which came back with an earlier file after its key was destroyed, is quarantined")
    func rowThatCameBackIsQuarantined() throws {
        let room = try Room()
        try room.add(name)
        let keys = room.enclave.state.withLock { $0.keys }
        try room.enclave.renew(.metadata(.whenUnlocked), destroyingOld: true)
        room.leasedKeys.forget(Room.user)
        #expect(Refusal.Reason.of { _ = try room.find(name) } == .itemNotFound)
        #expect(try room.rows().isEmpty)
        #expect(try room.database.quarantinedCount() == 1)
        room.enclave.set {
            $0.keys = keys
            $0.destroyed = []
        }
        room.leasedKeys.forget(Room.user)
        _ = try room.examine()
        #expect(try room.find(name).first?.value == "value")
    }

    @Test("A row whose class key is unknown is quarantined") func rowOfUnknownClassKeyIsQuarantined() throws {
        let room = try Room()
        try room.add(name)
        try room.enclave.renew(.metadata(.whenUnlocked), forgettingOld: true)
        room.leasedKeys.forget(Room.user)
        #expect(Refusal.Reason.of { _ = try room.find(name) } == .itemNotFound)
        #expect(try room.rows().isEmpty)
        #expect(try room.database.quarantinedCount() == 1)
    }

    /// Regardless of an earlier refusal, a row is removed only if the enclave reports its class key as destroyed.
    @Test("A row is removed only if the enclave reports its class key as destroyed", arguments: [Refusal.Reason.keyDestroyed, .keyUnknown])
    func existingKeyRemovesNothing(_ reason: Refusal.Reason) throws {
        let room = try Room()
        try room.add(name, value: "v", control: .userPresence)
        room.enclave.set { $0.userAnswers = Refusal(reason) }
        #expect(Refusal.Reason.of { _ = try room.find(name) } == .itemNotFound)
        #expect(try room.database.quarantinedCount() == 1)
        room.enclave.set { $0.userAnswers = nil }
        try room.add(name, value: "w")
        #expect(try room.find(name).first?.value == "w")
    }

    @Test("An item that does not open, and that another request removes at that moment, is not found")
    func removedMeanwhile() throws {
        let room = try Room()
        try room.add(name, value: "v")
        let reference = Room.Reference(room)
        room.enclave.set { state in
            state.beforeOpen = {
                guard let room = reference.room, let row = try room.rows().first else { return }
                room.enclave.set { $0.sealed = [:] }
                _ = try room.database.delete([row.handle])
            }
        }
        let copy = KeychainRequest.transfer(room.query(name), ItemAttributes([.account: .text("c")]), keepsOriginal: true)
        #expect(Refusal.Reason.of { try room.serve(copy) } == .itemNotFound)
        #expect(try room.rows().isEmpty && room.database.quarantinedCount() == 0)
    }

    @Test("Discarding removes only rows that cannot be opened") func discardRemovesOnlyUnopenableRows() throws {
        let room = try Room()
        try room.add(name, .whenPasscodeSetThisDeviceOnly)
        try room.add([.account: .text("c")], .whenPasscodeSetThisDeviceOnly)
        let aside = try #require(try room.rows().first)
        #expect(try room.database.quarantine(aside, .metadata, date: 0))
        try room.add(other, value: "stays")
        try room.enclave.renew(.metadata(.whenPasscodeSetThisDeviceOnly), destroyingOld: true)
        // It needs no key, so it works before the first unlock too.
        room.enclave.lock(room.leasedKeys, to: .beforeFirstUnlock)
        #expect(try room.serve(.discard).messages == [.done])
        #expect(try room.rows().count == 1)
        #expect(try room.database.quarantinedCount() == 0)
        room.enclave.set { $0.lock = .unlocked }
        #expect(try room.find(other).first?.value == "stays")
    }

    private func erase(_ room: Room) throws {
        for protection in ProtectionClass.allCases { try room.enclave.renew(.metadata(protection), destroyingOld: true) }
        try room.enclave.renew(.firstUnlockIndex, destroyingOld: true)
        try room.enclave.renew(.deviceIndex, destroyingOld: true)
        room.leasedKeys.forget(Room.user)
    }

    /// Returns every byte of the user's files.
    private func disk(_ room: Room) throws -> Data {
        try FileManager.default.contentsOfDirectory(atPath: room.userFolder).reduce(into: Data()) {
            $0.append(try Data(contentsOf: URL(fileURLWithPath: "\(room.userFolder)/\($1)")))
        }
    }

    @Test("An erased keychain is emptied and can be used", arguments: [true, false])
    func erasedKeychainIsEmptiedAndUsable(byDiscarding: Bool) throws {
        let room = try Room()
        for number in 0..<50 { try room.add([.account: .text("\(number)")], value: String(repeating: "x", count: 2000)) }
        try room.add(name, value: "v")
        let rows = try room.rows()
        try room.delete([.account: .text("7")])
        let before = try disk(room)
        for row in rows where row.item != rows[7].item { #expect(before.range(of: Data(row.item)) != nil) }
        try erase(room)
        if byDiscarding { try room.serve(.discard) } else { #expect(Refusal.Reason.of { _ = try room.find(name) } == .itemNotFound) }
        let after = try disk(room)
        #expect(after.count < before.count / 4)
        for row in rows {
            #expect(after.range(of: Data(row.item)) == nil)
            #expect(after.range(of: Data(row.halves.secret.prefix(48))) == nil)
            #expect(after.range(of: Data(row.blinds.primary)) == nil)
        }
        try room.add(name, value: "new")
        try room.restart()
        #expect(try room.find(name).first?.value == "new")
        #expect(try room.rows().count == 1)
        #expect(try room.serve(.discard).messages == [.done])
        #expect(try room.rows().count == 1)
    }

    /// Two requests find the keychain erased; the second must not remove what the first one's caller added.
    @Test("Items that were added after an erasure stay") func itemsAddedAfterErasureStay() throws {
        let room = try Room()
        try room.add(name)
        let recorded = try #require(try room.database.indexKeyGenerations()[100])
        try erase(room)
        try room.add(other, value: "new")
        #expect(try room.database.empty(ifIndexKey: 100, is: recorded) == false)
        #expect(try room.find(other).first?.value == "new")
    }

    @Test("Unknown index keys are refused, and nothing changes") func unknownIndexKeysAreRefusedWithoutChanges() throws {
        let room = try Room()
        try room.add(name, value: "v")
        let before = room.enclave.state.withLock { $0.keys }
        try room.enclave.renew(.firstUnlockIndex, forgettingOld: true)
        try room.restart()
        #expect(Refusal.Reason.of { _ = try room.find(name) } == .stateUnreadable)
        #expect(try room.serve(.discard).messages == [.done])
        #expect(try room.rows().count == 1)
        // The right keybag returns.
        room.enclave.state.withLock { $0.keys = before }
        try room.restart()
        #expect(try room.find(name).first?.value == "v")
    }
}

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
import VaubanUserModel

/// The last verified copy: when it exists, when it is removed, and what restoring it does.
@Suite struct RestoreTests {
    private func name(_ account: String) -> [AttributeName: AttributeValue] { [.account: .text(account), .service: .text("s")] }

    private func files(_ room: Room) throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: room.userFolder).sorted() }

    private func hasCopy(_ room: Room) -> Bool { FileManager.default.fileExists(atPath: room.file + ".verified") }

    private func damage(_ room: Room) throws {
        try room.restart()
        for suffix in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: room.file + suffix) }
        try Data(repeating: 7, count: 10_000).write(to: URL(fileURLWithPath: room.file))
    }

    private func offered(_ room: Room, as caller: Caller = Caller(user: Room.user)) throws -> RestorableCopy {
        guard case .restorable(let copy)? = try room.serve(.restore(copyOf: nil), as: caller).messages.first else {
            throw Refusal(.internalError)
        }
        return copy
    }

    @Test("A damaged database is restored from the copy on request") func damagedDatabaseIsRestoredFromCopyOnRequest() throws {
        let room = try Room()
        try room.add(name("kept"), value: "v")
        try room.add(name("deleted"), value: "old")
        #expect(try room.examine().copy?.rows == 2)
        try room.delete(name("deleted"))
        try room.add(name("later"), value: "lost")
        try damage(room)
        #expect(Refusal.Reason.of { _ = try room.find(name("kept")) } == .stateUnreadable)
        // Never silently: a restart, a request or a check restores nothing.
        try room.restart()
        #expect(Refusal.Reason.of { _ = try room.examine() } == .stateUnreadable)
        let copy = try offered(room)
        #expect(copy.rows == 2 && copy.damagedSince != nil && abs(copy.date - (copy.damagedSince ?? 0)) < 3_600_000_000)
        #expect(Refusal.Reason.of { try room.serve(.restore(copyOf: copy.date - 1)) } == .itemNotFound)
        #expect(Refusal.Reason.of { _ = try room.find(name("kept")) } == .stateUnreadable)
        try room.serve(.restore(copyOf: copy.date))
        #expect(try room.find(name("kept")).first?.value == "v")
        #expect(try room.find(name("deleted")).first?.value == "old")
        #expect(Refusal.Reason.of { _ = try room.find(name("later")) } == .itemNotFound)
        #expect(try files(room).contains("keychain.db.quarantined-1") && !files(room).contains("keychain.db.damaged"))
        #expect(try Data(contentsOf: URL(fileURLWithPath: room.file + ".quarantined-1")) == Data(repeating: 7, count: 10_000))
        try room.add(name("after"), value: "w")
        try room.restart()
        #expect(try room.find([.service: .text("s")], limit: .all).count == 3)
        #expect(try room.examine().found == 0)
        #expect(Refusal.Reason.of { _ = try offered(room) } == .notAllowedHere)
    }

    @Test("A database that is missing beside its copy is restored from it, and not begun anew")
    func missingDatabaseIsNotBegunAnew() throws {
        let room = try Room()
        try room.add(name("a"), value: "v")
        _ = try room.examine()
        try room.restart()
        for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: room.file + suffix) }
        for _ in 1...2 {
            #expect(Refusal.Reason.of { _ = try room.find(name("a")) } == .stateUnreadable)
            #expect(Refusal.Reason.of { try room.add(name("b")) } == .stateUnreadable)
            try room.restart()
        }
        #expect(try files(room).contains("keychain.db.damaged") && !files(room).contains("keychain.db"))
        let copy = try offered(room)
        #expect(copy.rows == 1 && copy.damagedSince == nil)
        try room.serve(.restore(copyOf: copy.date))
        #expect(try room.find(name("a")).first?.value == "v")
        #expect(try !files(room).contains("keychain.db.damaged"))
        // The user accepts the loss.
        try room.restart()
        for suffix in ["", "-wal", "-shm", ".verified"] { try? FileManager.default.removeItem(atPath: room.file + suffix) }
        try room.add(name("a"), value: "new")
        #expect(try room.find(name("a")).first?.value == "new")
    }

    @Test("An intact database is never replaced") func intactDatabaseIsNeverReplaced() throws {
        let room = try Room()
        try room.add(name("a"), value: "v")
        let date = try #require(try room.examine().copy?.date)
        try room.update(name("a"), value: "newer")
        #expect(Refusal.Reason.of { try room.serve(.restore(copyOf: nil)) } == .notAllowedHere)
        #expect(Refusal.Reason.of { try room.serve(.restore(copyOf: date)) } == .notAllowedHere)
        #expect(try room.find(name("a")).first?.value == "newer")
    }

    @Test("A missing or damaged copy is not offered") func missingOrDamagedCopyIsNotOffered() throws {
        let room = try Room()
        try room.add(name("a"))
        try damage(room)
        #expect(Refusal.Reason.of { _ = try offered(room) } == .itemNotFound)
        try Data(repeating: 9, count: 10_000).write(to: URL(fileURLWithPath: room.file + ".verified"))
        #expect(Refusal.Reason.of { _ = try offered(room) } == .itemNotFound)
        #expect(Refusal.Reason.of { _ = try room.find(name("a")) } == .stateUnreadable)
    }

    /// A file that was put in place by hand, with the marker still present, is set aside and not overwritten.
    @Test("Restoring keeps the damaged file") func restoringKeepsTheDamagedFile() throws {
        let room = try Room()
        try room.add(name("a"), value: "v")
        _ = try room.examine()
        try damage(room)
        #expect(Refusal.Reason.of { _ = try room.find(name("a")) } == .stateUnreadable)
        try Data([1, 2, 3]).write(to: URL(fileURLWithPath: room.file))
        try room.serve(.restore(copyOf: try offered(room).date))
        #expect(try room.find(name("a")).first?.value == "v")
        #expect(try Data(contentsOf: URL(fileURLWithPath: room.file + ".quarantined-2")) == Data([1, 2, 3]))
    }

    @Test("A failed check keeps the earlier copy") func failedCheckKeepsEarlierCopy() throws {
        let room = try Room()
        try room.add(name("a"), value: "v")
        _ = try room.examine()
        let before = try Data(contentsOf: URL(fileURLWithPath: room.file + ".verified"))
        try room.add(name("b"), value: "w")
        try room.sql("DELETE FROM lookup")
        #expect(try room.examine().copy == nil)
        #expect(try Data(contentsOf: URL(fileURLWithPath: room.file + ".verified")) == before)
        #expect(try room.examine().copy?.rows == 2)
        #expect(try Data(contentsOf: URL(fileURLWithPath: room.file + ".verified")) != before)
    }

    // MARK: What ends the copy

    @Test("Erasing removes the copy") func erasingRemovesTheCopy() throws {
        let room = try Room()
        try room.add(name("a"), value: "v")
        _ = try room.examine()
        try #require(hasCopy(room))
        for purpose in [KeyLease.Purpose.firstUnlockIndex, .deviceIndex] { try room.enclave.renew(purpose, destroyingOld: true) }
        for protection in ProtectionClass.allCases { try room.enclave.renew(.metadata(protection), destroyingOld: true) }
        room.leasedKeys.forget(Room.user)
        // The first request finds the keychain erased.
        #expect(Refusal.Reason.of { _ = try room.find(name("a")) } == .itemNotFound)
        #expect(!hasCopy(room))
    }

    @Test("The copy is removed before an erased keychain is emptied, so that a kill in between leaves none")
    func copyIsRemovedBeforeEmptying() throws {
        let room = try Room()
        try room.add(name("a"), value: "v")
        _ = try room.examine()
        try #require(hasCopy(room))
        for purpose in [KeyLease.Purpose.firstUnlockIndex, .deviceIndex] { try room.enclave.renew(purpose, destroyingOld: true) }
        for protection in ProtectionClass.allCases { try room.enclave.renew(.metadata(protection), destroyingOld: true) }
        try room.restart()
        try room.sql("CREATE TRIGGER stays BEFORE DELETE ON lookup BEGIN SELECT RAISE(ABORT, 'stays'); END")
        #expect(Refusal.Reason.of { _ = try room.find(name("a")) } == .storageFailed)
        #expect(!hasCopy(room))
        #expect(try room.rows().count == 1)
        try room.sql("DROP TRIGGER stays")
        #expect(Refusal.Reason.of { _ = try room.find(name("a")) } == .itemNotFound)
        #expect(try room.rows().isEmpty)
    }

    @Test("Discarding removes the copy") func discardingRemovesTheCopy() throws {
        let room = try Room()
        try room.add(name("a"), value: "v", .whenPasscodeSetThisDeviceOnly)
        try room.add(name("b"), value: "w")
        _ = try room.examine()
        try room.delete(name("a"))
        // The row is only in the copy, and its key is destroyed.
        try room.enclave.renew(.metadata(.whenPasscodeSetThisDeviceOnly), destroyingOld: true)
        try room.serve(.discard)
        #expect(!hasCopy(room))
        #expect(try room.find(name("b")).first?.value == "w")
    }

    @Test("The copy is removed before its keys are destroyed") func copyIsRemovedBeforeItsKeysAreDestroyed() throws {
        let room = try Room()
        try room.add(name("a"), value: "v")
        _ = try room.examine()
        try room.enclave.renew(.metadata(.whenUnlocked))
        try room.rewrap()
        #expect(room.enclave.state.withLock { $0.timesRetired } == 1)
        #expect(!hasCopy(room))
        #expect(try room.examine().copy?.state == .kept)
    }

    // MARK: Callers

    @Test("Restoring in system mode prompts the user") func restoringInSystemModePromptsUser() throws {
        let room = try Room()
        let cli = Callers.commandLine()
        try room.add("a", value: "v", as: cli)
        try room.serve(.examine, as: cli)
        try damage(room)
        let copy = try offered(room, as: cli)
        #expect(room.consents.isEmpty)
        room.userIsAway()
        #expect(Refusal.Reason.of { try room.serve(.restore(copyOf: copy.date), as: cli) } == .noPromptAgent)
        #expect(Refusal.Reason.of { _ = try room.get("a", as: cli) } == .stateUnreadable)
        room.userSays(.once)
        try room.serve(.restore(copyOf: copy.date), as: cli)
        #expect(room.consents.map(\.purpose) == [.restore, .restore])
        #expect(try room.get("a", as: cli) == ["cli=v"])
    }
}

import EnclaveWire
import Foundation
import Keychain
import KeychainStore
import Synchronization
import Testing
import VaubanAccessPolicy
import VaubanDER
import VaubanKeychainModel
import VaubanKeychainWire
import VaubanRefusal

/// Rows that move from an older class key to the current one.
@Suite struct RewrapTests {
    private let service: [AttributeName: AttributeValue] = [.service: .text("s")]
    private func name(_ account: String) -> [AttributeName: AttributeValue] { [.account: .text(account), .service: .text("s")] }

    private func current(_ room: Room, _ protection: ProtectionClass) -> [UInt8]? {
        room.enclave.state.withLock { $0.keys.first { $0.name.purpose == .metadata(protection) }?.name.generation }
    }

    @Test("Rewrapping leaves the secret half unchanged") func rewrappingLeavesSecretHalfUnchanged() throws {
        let room = try Room()
        try room.add(name("a"), value: "v")
        try room.add(name("b"), value: "guarded", control: .userPresence)
        let before = try room.rows()
        try room.enclave.renew(.metadata(.whenUnlocked))
        #expect(try room.rewrap() == RewrapProgress(done: 2, left: 0, kept: 0))
        #expect(room.enclave.state.withLock { $0.timesOpened } == 0)
        for (old, new) in zip(before, try room.rows()) {
            #expect(new.generation == current(room, .whenUnlocked) && new.generation != old.generation)
            #expect(new.halves.secret == old.halves.secret && new.halves.secretBinding == old.halves.secretBinding)
            #expect(new.halves.wrappedKey != old.halves.wrappedKey && new.halves.metadata != old.halves.metadata)
            #expect(new.blinds == old.blinds && new.item == old.item)
        }
        #expect(try room.find(name("a")).first?.value == "v")
        #expect(try room.find(name("b")).first?.value == "guarded")
        // After a second renewal, and an update in between, the secret half's own binding is two generations old.
        try room.update(name("a"), to: [.label: .text("l")])
        try room.enclave.renew(.metadata(.whenUnlocked))
        #expect(try room.rewrap().done == 2)
        #expect(try room.find(name("a")).first?.value == "v")
        #expect(try room.rewrap() == RewrapProgress(done: 0, left: 0, kept: 0))
    }

    /// If the enclave requires a passcode first, the row and its class key stay, the item can be read and changed as before, and it moves
    /// later.
    @Test("Rows that wait for the passcode stay intact and move later") func rowsWaitingForPasscodeStayIntact() throws {
        let room = try Room()
        try room.add(name("a"), value: "v")
        try room.add(name("b"), value: "guarded", control: .userPresence)
        try room.add(name("c"), value: "guarded too", control: .userPresence)
        try room.update(name("c"), to: [:], value: "another")
        try room.enclave.renew(.metadata(.whenUnlocked))
        room.enclave.state.withLock { $0.passcodeIsLongAgo = true }
        #expect(try room.rewrap() == RewrapProgress(done: 1, left: 0, kept: 3))
        #expect(room.enclave.state.withLock { $0.timesRetired } == 0)
        #expect(try room.database.quarantinedCount() == 0)
        #expect(try room.find(name("b")).first?.value == "guarded")
        // A change prompts the user, so its value is available and is sealed again.
        try room.update(name("b"), to: [.label: .text("l")])
        #expect(try room.find(name("b")).first?.value == "guarded")
        #expect(try room.rewrap() == RewrapProgress(done: 0, left: 0, kept: 2))
        room.enclave.state.withLock { $0.passcodeIsLongAgo = false }
        #expect(try room.rewrap() == RewrapProgress(done: 2, left: 0, kept: 0))
        #expect(room.enclave.state.withLock { $0.timesRetired } == 1)
        #expect(try room.find(name("c")).first?.value == "another")
    }

    @Test("Halves of two generations never fit together") func halvesOfTwoGenerationsNeverFit() throws {
        let room = try Room()
        try room.add(name("a"), value: "v")
        let before = try #require(try room.rows().first)
        try room.enclave.renew(.metadata(.whenUnlocked))
        _ = try room.rewrap()
        let after = try #require(try room.rows().first)
        try room.tamper(
            after,
            with: RowHalves(
                secretBinding: after.halves.secretBinding, wrappedKey: before.halves.wrappedKey, secret: after.halves.secret,
                metadataBinding: after.halves.metadataBinding, metadata: after.halves.metadata))
        #expect(Refusal.Reason.of { _ = try room.find(name("a")) } == .itemNotFound)
        #expect(try room.database.quarantinedCount() == 1)
    }

    @Test("Rows are rewrapped in batches, and then older keys are retired") func rewrappingWorksInBatchesAndRetiresOlderKeys() throws {
        let room = try Room()
        for number in 0..<600 {
            try room.add(name("\(number)"), value: "value \(number)", number % 3 == 0 ? .afterFirstUnlock : .whenUnlocked)
        }
        try room.enclave.renew(.metadata(.whenUnlocked))
        try room.enclave.renew(.metadata(.afterFirstUnlock))
        var left: [Int] = []
        var done = 0
        repeat {
            #expect(room.enclave.state.withLock { $0.timesRetired } == 0)
            let progress = try room.rewrap()
            #expect(progress.done <= 256 && progress.done > 0)
            done += progress.done
            left.append(progress.left)
            // As after a kill: only the rows remain.
            try room.restart()
        } while left.last != 0
        #expect(done == 600 && left == [344, 88, 0])
        #expect(room.enclave.state.withLock { $0.timesRetired } == 1)
        #expect(room.enclave.state.withLock { $0.keys.count } == ProtectionClass.allCases.count + 2)
        for number in [0, 1, 300, 599] { #expect(try room.find(name("\(number)")).first?.value == "value \(number)") }
    }

    @Test("A batch is limited by bytes") func batchIsLimitedByBytes() throws {
        let room = try Room()
        for number in 0..<6 { try room.add(name("\(number)"), value: String(repeating: "x", count: 1 << 20)) }
        try room.enclave.renew(.metadata(.whenUnlocked))
        let first = try room.rewrap()
        #expect(first.done == 4 && first.left == 2)
        #expect(try room.rewrap() == RewrapProgress(done: 2, left: 0, kept: 0))
    }

    @Test("Rows of locked classes are rewrapped after the unlock") func lockedClassesWait() throws {
        let room = try Room()
        try room.add(name("a"), value: "v")
        try room.add(name("c"), value: "w", .afterFirstUnlock)
        try room.enclave.renew(.metadata(.whenUnlocked))
        try room.enclave.renew(.metadata(.afterFirstUnlock))
        room.enclave.lock(room.leasedKeys)
        #expect(try room.rewrap() == RewrapProgress(done: 1, left: 0, kept: 1))
        room.enclave.set { $0.lock = .unlocked }
        #expect(try room.rewrap() == RewrapProgress(done: 1, left: 0, kept: 0))
        #expect(room.enclave.state.withLock { $0.keys.count } == ProtectionClass.allCases.count + 2)
    }

    @Test("A quarantined row keeps its class key") func quarantinedRowKeepsItsKey() throws {
        let room = try Room()
        try room.add(name("a"), value: "v")
        let row = try #require(try room.rows().first)
        #expect(try room.database.quarantine(row, .metadata, date: 0))
        try room.enclave.renew(.metadata(.whenUnlocked))
        #expect(try room.rewrap() == RewrapProgress(done: 0, left: 0, kept: 1))
        #expect(room.enclave.state.withLock { $0.timesRetired } == 0)
    }

    /// It may be repaired and put back.
    @Test("While a database is set aside, its class keys stay, and its rows open when it is put back")
    func keysOfADatabaseThatIsSetAsideStay() throws {
        let room = try Room()
        try room.add(name("a"), value: "v")
        // The last connection moves the log into the file.
        try room.database.close()
        try room.restart()
        for suffix in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: room.file + suffix) }
        let intact = try Data(contentsOf: URL(fileURLWithPath: room.file))
        try Data(repeating: 7, count: 10_000).write(to: URL(fileURLWithPath: room.file))
        #expect(Refusal.Reason.of { _ = try room.find(name("a")) } == .stateUnreadable)
        // The user begins with an empty keychain.
        try FileManager.default.removeItem(atPath: room.file + ".damaged")
        try room.add(name("b"), value: "w")
        try room.enclave.renew(.metadata(.whenUnlocked))
        for _ in 1...2 {
            let refusal = Refusal.of { try room.rewrap() }
            #expect(refusal?.reason == .notAllowedHere && refusal?.detail?.contains("keychain.db.quarantined-1") == true)
        }
        #expect(room.enclave.state.withLock { $0.timesRetired } == 0)
        #expect(try room.rows().first?.generation == current(room, .whenUnlocked))
        try room.database.close()
        try room.restart()
        for suffix in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: room.file + suffix) }
        try FileManager.default.removeItem(atPath: room.file + ".quarantined-1")
        try intact.write(to: URL(fileURLWithPath: room.file))
        #expect(try room.find(name("a")).first?.value == "v")
    }

    @Test("Without the file that was set aside, older keys are retired") func removedFileNeedsNoKeys() throws {
        let room = try Room()
        try room.add(name("a"), value: "v")
        try Data([7]).write(to: URL(fileURLWithPath: room.file + ".quarantined-1"))
        try room.enclave.renew(.metadata(.whenUnlocked))
        #expect(Refusal.Reason.of { try room.rewrap() } == .notAllowedHere)
        try FileManager.default.removeItem(atPath: room.file + ".quarantined-1")
        #expect(try room.rewrap() == RewrapProgress(done: 0, left: 0, kept: 0))
        #expect(room.enclave.state.withLock { $0.timesRetired } == 1)
    }

    /// As when the folder is not mounted: an empty database needs no key, but the right one returns.
    @Test("An empty database retires no key of the database that was used before") func emptyDatabaseRetiresNothing() throws {
        let room = try Room()
        try room.add(name("a"), value: "v")
        // The enclave knows the end of the log.
        _ = try room.enclave.anchorLog(try room.database.logRows(after: 0, count: 10).map(\.link))
        #expect(room.enclave.state.withLock { $0.logEnd.number } > 0)
        try room.enclave.renew(.metadata(.whenUnlocked))
        try room.restart()
        let away = room.userFolder + ".away"
        try FileManager.default.moveItem(atPath: room.userFolder, toPath: away)
        #expect(Refusal.Reason.of { _ = try room.find(name("a")) } == .itemNotFound)
        #expect(Refusal.Reason.of { try room.rewrap() } == .notAllowedHere)
        #expect(room.enclave.state.withLock { $0.timesRetired } == 0)
        try room.restart()
        try FileManager.default.removeItem(atPath: room.userFolder)
        try FileManager.default.moveItem(atPath: away, toPath: room.userFolder)
        #expect(try room.find(name("a")).first?.value == "v")
        #expect(try room.rewrap() == RewrapProgress(done: 1, left: 0, kept: 0))
        #expect(room.enclave.state.withLock { $0.timesRetired } == 1)
    }

    @Test("A row that is written meanwhile is left for the next batch") func aRowThatIsWrittenMeanwhileIsLeftForTheNextBatch() throws {
        let room = try Room()
        try room.add(name("a"), value: "v")
        try room.add(name("b"), value: "w")
        try room.enclave.renew(.metadata(.whenUnlocked))
        let meanwhile = Room.Reference(room)
        room.enclave.set { state in
            state.beforeRewrap = {
                guard let room = meanwhile.room else { return }
                try room.serve(.delete(room.query([.account: .text("a")]), atOnce: true))
            }
        }
        // The row was deleted, so it no longer matches, and there is one row less.
        let progress = try room.rewrap()
        #expect(progress.done == 1 && progress.left == 1)
        #expect(try room.rewrap() == RewrapProgress(done: 0, left: 0, kept: 0))
        #expect(try room.find(service, limit: .all).map(\.value) == ["w"])
    }

    /// An add that was sealed under a key that is retired before the write starts over under the current one.
    @Test("No row is written under a key that is being retired") func noRowIsWrittenUnderAKeyThatIsBeingRetired() throws {
        let room = try Room()
        try room.add(name("a"), value: "v")
        let meanwhile = Room.Reference(room)
        room.enclave.set { state in
            state.afterSeal = {
                try meanwhile.room?.enclave.renew(.metadata(.whenUnlocked))
                try meanwhile.room?.rewrap()
            }
        }
        try room.add(name("b"), value: "w")
        #expect(room.enclave.state.withLock { $0.timesRetired } == 1)
        #expect(Set(try room.rows().map(\.generation)) == [try #require(current(room, .whenUnlocked))])
        #expect(try room.find(service, limit: .all).compactMap(\.value).sorted() == ["v", "w"])
    }

    /// A search that holds a row whose key is removed meanwhile reads the row's present state.
    @Test("A search opens a row that is rewrapped meanwhile") func searchOpensARowThatIsRewrappedMeanwhile() throws {
        let room = try Room()
        try room.add(name("a"), value: "v")
        try room.enclave.renew(.metadata(.whenUnlocked))
        let meanwhile = Room.Reference(room)
        room.enclave.set { state in state.beforeOpen = { try meanwhile.room?.rewrap() } }
        #expect(try room.find(name("a")).first?.value == "v")
        #expect(room.enclave.state.withLock { $0.timesRetired } == 1)
        #expect(try room.database.quarantinedCount() == 0)
    }
}

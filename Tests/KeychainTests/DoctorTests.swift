import EnclaveWire
import Foundation
import GRDB
import Keychain
import KeychainStore
import Synchronization
import Testing
import VaubanAccessPolicy
import VaubanKeychainModel
import VaubanKeychainWire
import VaubanRefusal

/// What a check of a whole database finds, repairs and leaves.
@Suite struct DoctorTests {
    private func name(_ account: String) -> [AttributeName: AttributeValue] { [.account: .text(account), .service: .text("s")] }

    @Test("An intact keychain passes, and a verified copy is kept") func intactKeychainPassesAndCopyIsKept() throws {
        let room = try Room()
        try room.add(name("a"), value: "v")
        try room.add(name("b"), value: "w", .always)
        try room.add(name("c"), value: "x", control: .userPresence)
        try room.add([.server: .text("d")], value: nil, kind: .internetPassword)
        try room.add(name("e"), value: "y", control: .applicationPassword, password: "p")
        let before = try room.rows()
        let report = try room.examine()
        #expect(report.rows == 5 && report.checked == 5 && report.unopened == 2 && report.locked == 0 && report.found == 0)
        #expect(report.findings.isEmpty && report.quarantine.isEmpty)
        #expect(report.copy?.state == .kept && report.copy?.rows == 5)
        #expect(room.enclave.state.withLock { $0.promptCount } == 0)
        // The check changes nothing.
        #expect(try room.rows() == before)
        #expect(FileManager.default.fileExists(atPath: room.file + ".verified"))
        for suffix in ["-wal", "-shm", "-journal", ".new"] {
            #expect(!FileManager.default.fileExists(atPath: room.file + ".verified" + suffix))
        }
    }

    // MARK: A disk that is nearly full

    private func unfinished(_ room: Room) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: room.userFolder).filter { $0.contains(".new") }
    }

    @Test("A copy that does not fit the disk is not begun, and the earlier one stays")
    func fullDiskKeepsEarlierCopy() throws {
        let room = try Room()
        try room.add(name("a"), value: "v")
        let earlier = try #require(try room.examine().copy)
        try room.add(name("b"), value: "w")
        let outcome = try room.database.keepVerified(CopyRoom(bytesMax: 1 << 30, bytesReserved: 1 << 60))
        guard case .noRoom(let missing?) = outcome else { Issue.record("\(outcome)"); return }
        #expect(missing > 0 && missing < 1 << 60)
        #expect(try room.database.verifiedCopy() == VerifiedGeneration(date: earlier.date, rows: 1))
        #expect(try unfinished(room).isEmpty)
        // Its own limit applies first.
        #expect(try room.database.keepVerified(CopyRoom(bytesMax: 1, bytesReserved: 1 << 60)) == .tooLarge)
    }

    @Test("A check that keeps no copy reports the earlier one, if there is one")
    func reportNamesEarlierCopy() throws {
        let room = try Room()
        try room.add(name("a"))
        room.enclave.lock(room.leasedKeys)
        #expect(try room.examine().earlier == nil)
        room.enclave.set { $0.lock = .unlocked }
        let kept = try #require(try room.examine().copy)
        #expect(try room.examine().earlier == nil)
        room.enclave.lock(room.leasedKeys)
        let earlier = try #require(try room.examine().earlier)
        #expect(earlier.rows == 1 && earlier.date >= kept.date)
    }

    @Test("Opening a database removes unfinished files of a killed process and nothing else")
    func unfinishedFilesAreRemovedAtOpen() throws {
        let room = try Room()
        try room.add(name("a"), value: "v")
        #expect(try room.examine().copy?.state == .kept)
        try room.database.close()
        let before = try Set(FileManager.default.contentsOfDirectory(atPath: room.userFolder))
        for left in [".verified.new", ".verified.new-journal", ".verified.new-wal", ".verified.new-shm", ".new", ".new-journal"] {
            try Data(count: 100_000).write(to: URL(fileURLWithPath: room.file + left))
        }
        try room.restart()
        #expect(try room.find(name("a")).first?.value == "v")
        #expect(try unfinished(room).isEmpty)
        #expect(try before.isSubset(of: Set(FileManager.default.contentsOfDirectory(atPath: room.userFolder))))
        #expect(try room.database.verifiedCopy()?.rows == 1)
    }

    @Test("Progress is reported for many rows") func progressIsReportedForManyRows() throws {
        let room = try Room()
        for number in 0..<300 { try room.add(name("\(number)")) }
        let reports = try room.serve(.examine).messages.compactMap { if case .examined(let report) = $0 { report } else { nil } }
        #expect(reports.map(\.checked) == [128, 256, 300, 300])
        #expect(reports.map(\.copy?.state) == [nil, nil, nil, .kept])
    }

    @Test("Rows of locked classes are counted, and prevent a copy") func lockedClassesAreCountedAndPreventACopy() throws {
        let room = try Room()
        try room.add(name("a"))
        try room.add(name("c"), .afterFirstUnlock)
        try room.add(name("d"), .always)
        room.enclave.lock(room.leasedKeys)
        let locked = try room.examine()
        #expect(locked.checked == 2 && locked.locked == 1 && locked.found == 0 && locked.copy == nil)
        room.enclave.lock(room.leasedKeys, to: .beforeFirstUnlock)
        let before = try room.examine()
        #expect(before.checked == 0 && before.locked == 3 && before.found == 0 && before.copy == nil)
        #expect(try room.database.quarantinedCount() == 0)
    }

    // MARK: What a read would quarantine

    enum Damage: CaseIterable { case metadataBinding, metadata, secretBinding, wrappedKey, secret }

    @Test("A row that cannot be opened is quarantined", arguments: Damage.allCases, [nil, AccessControlFlags.userPresence])
    func unopenableRowIsQuarantined(_ damage: Damage, _ control: AccessControlFlags?) throws {
        let room = try Room()
        try room.add(name("a"), value: "v", control: control)
        try room.add(name("b"), value: "w")
        let row = try #require(try room.rows().first)
        try room.tamper(row, with: row.halves.flipped(damage))
        let report = try room.examine()
        let finding = try #require(report.findings.first)
        #expect(report.checked == 1 && report.found == 1 && report.repaired == 0 && report.copy == nil)
        let reason: DoctorFinding.Reason =
            damage == .metadataBinding || damage == .secretBinding ? .binding : damage == .metadata ? .metadata : .digest
        #expect(finding == DoctorFinding(reason, row: row.id, protection: row.protection))
        #expect(report.quarantine.map(\.reason) == [reason] && report.quarantine.map(\.count) == [1])
        #expect(report.quarantine.first?.since == 800_000_000_000_000)
        #expect(try room.find(name("b")).first?.value == "w")
        // The next check finds it again, as a quarantined row.
        let again = try room.examine()
        #expect(again.found == 0 && again.quarantine.count == 1 && again.copy?.state == .kept)
    }

    /// Only the enclave can detect this, so keychaind asks it about each row, even about those that it would open only with the user.
    @Test("An item key that the enclave cannot unwrap is reported", arguments: [nil, AccessControlFlags.userPresence])
    func unwrappableKeyIsReported(_ control: AccessControlFlags?) throws {
        let room = try Room()
        try room.add(name("a"), value: "v", control: control)
        room.enclave.set { $0.sealed = [:] }
        let report = try room.examine()
        #expect(report.findings.map(\.reason) == [.wrappedKey] && report.unopened == 0 && report.checked == 0)
        #expect(room.enclave.state.withLock { $0.promptCount } == 0)
    }

    @Test("A row whose key was destroyed with the passcode is removed") func rowOfDestroyedKeyIsRemoved() throws {
        let room = try Room()
        try room.add(name("a"), .whenPasscodeSetThisDeviceOnly)
        try room.enclave.renew(.metadata(.whenPasscodeSetThisDeviceOnly), destroyingOld: true)
        room.leasedKeys.forget(Room.user)
        #expect(try room.examine().findings.map(\.reason) == [.keyDestroyed])
        #expect(try room.rows().isEmpty)
    }

    @Test("Findings are limited and counted") func findingsAreLimitedAndCounted() throws {
        let room = try Room()
        for number in 0..<100 { try room.add(name("\(number)")) }
        for row in try room.rows() { try room.tamper(row, with: row.halves.flipped(.metadata)) }
        let report = try room.examine()
        #expect(report.found == 100 && report.findings.count == DoctorReport.findingsMax)
        #expect(report.quarantine.map(\.count) == [100])
    }

    // MARK: Repairs

    @Test("Index columns are rebuilt from verified content") func indexColumnsAreRebuiltFromVerifiedContent() throws {
        let room = try Room()
        try room.add(name("a"), value: "v", .always)
        let row = try #require(try room.rows().first)
        let device = try #require(row.blinds.device)
        let wrong = [
            RowBlinds(primary: row.blinds.primary.reversed(), list: row.blinds.list, lookups: [[1]], device: device),
            RowBlinds(primary: row.blinds.primary, list: [], lookups: [], device: device),
            RowBlinds(primary: row.blinds.primary, list: row.blinds.list, lookups: [], device: nil),
        ]
        for blinds in wrong {
            let before = try #require(try room.rows().first)
            let changed = StoredRow(
                item: row.item, kind: row.kind, protection: row.protection, generation: row.generation, blinds: blinds, halves: row.halves)
            #expect(try room.database.update([RowChange(old: before.handle, row: changed, changesBlinds: true)]) == .written)
            let report = try room.examine()
            #expect(report.findings == [DoctorFinding(.indexColumns, row: row.id, protection: row.protection, isRepaired: true)])
            #expect(report.checked == 1 && report.copy == nil)
            #expect(try room.rows() == [row])
            #expect(try room.find(name("a")).first?.value == "v")
        }
        #expect(try room.examine().copy?.state == .kept)
        #expect(try room.database.quarantinedCount() == 0)
    }

    @Test("Lookups are rebuilt") func lookupsAreRebuilt() throws {
        let room = try Room()
        try room.add(name("a"), value: "v")
        try room.add(name("b"), value: "w")
        try room.sql("DELETE FROM lookup WHERE item = 1")
        #expect(Refusal.Reason.of { _ = try room.find(name("a")) } == .itemNotFound)
        try room.sql("INSERT INTO lookup(blind, item) VALUES (x'00', 2), (x'00', 77), (x'01', 77)")
        let report = try room.examine()
        #expect(report.findings.map(\.reason) == [.lookups, .lookups, .orphanedLookup, .orphanedLookup] && report.repaired == 4)
        #expect(try room.find(name("a")).first?.value == "v")
        #expect(try room.examine().found == 0)
    }

    /// SQLite's own indexes are redundant too.
    @Test("Indexes of SQLite are rebuilt") func sqliteIndexesAreRebuilt() throws {
        let room = try Room()
        for number in 0..<20 { try room.add(name("\(number)"), value: "v") }
        try room.sql(
            """
            PRAGMA writable_schema = ON;
            UPDATE sqlite_schema SET sql = replace(sql, 'item(kind)', 'item(kind+1)') WHERE name = 'item_kind';
            PRAGMA writable_schema = OFF
            """)
        try room.restart()
        try room.sql("REINDEX item_kind")
        try room.sql(
            """
            PRAGMA writable_schema = ON;
            UPDATE sqlite_schema SET sql = replace(sql, 'item(kind+1)', 'item(kind)') WHERE name = 'item_kind';
            PRAGMA writable_schema = OFF
            """)
        try room.restart()
        #expect(Refusal.Reason.of { _ = try room.find([:], limit: .all) } == .itemNotFound)
        let report = try room.examine()
        #expect(report.findings == [DoctorFinding(.fileIndexes, isRepaired: true)] && report.checked == 20)
        #expect(try room.find([:], limit: .all).count == 20)
        #expect(try room.examine().found == 0)
    }

    @Test("A row that opens again leaves the quarantine") func rowThatOpensAgainLeavesQuarantine() throws {
        let room = try Room()
        try room.add(name("a"), value: "v")
        try room.add(name("b"), value: "w")
        // An older keybag was restored, which does not know the key; then the right one returned.
        let keys = room.enclave.state.withLock { $0.keys }
        try room.enclave.renew(.metadata(.whenUnlocked), forgettingOld: true)
        room.leasedKeys.forget(Room.user)
        #expect(try room.examine().findings.map(\.reason) == [.keyUnknown, .keyUnknown])
        try room.add(name("b"), value: "newer")
        let renewed = room.enclave.state.withLock { $0.keys.first { $0.name.purpose == .metadata(.whenUnlocked) } }
        room.enclave.set { $0.keys = keys + [renewed].compactMap(\.self) }
        room.leasedKeys.forget(Room.user)
        let report = try room.examine()
        // The name of the other row is taken.
        #expect(report.findings.map(\.reason) == [.readmitted] && report.quarantine.map(\.count) == [1])
        #expect(try room.find(name("a")).first?.value == "v")
        #expect(try room.find(name("b")).first?.value == "newer")
    }

    @Test("Rows that open again leave the quarantine, however many batches they are") func manyRowsLeaveQuarantine() throws {
        let room = try Room()
        let count = KeychainLimits.batchRowsMax + 2
        // Several of the first fill a batch by themselves.
        for number in 0..<count { try room.add(name("\(number)"), value: String(repeating: "v", count: number < 6 ? 1_000_000 : 1)) }
        let keys = room.enclave.state.withLock { $0.keys }
        try room.enclave.renew(.metadata(.whenUnlocked), forgettingOld: true)
        room.leasedKeys.forget(Room.user)
        #expect(try room.examine().quarantine.map(\.count) == [count])
        let renewed = room.enclave.state.withLock { $0.keys.first { $0.name.purpose == .metadata(.whenUnlocked) } }
        room.enclave.set { $0.keys = keys + [renewed].compactMap(\.self) }
        room.leasedKeys.forget(Room.user)
        #expect(try room.examine().quarantine.isEmpty)
        #expect(try room.find([:], limit: .all).count == count)
    }

    @Test("Every quarantined row is tried again, also behind many that stay") func allRowsAreTriedAgain() throws {
        let room = try Room()
        try room.add(name("a"), value: "v")
        let row = try #require(try room.rows().first)
        #expect(try room.database.quarantine(row, .metadata, date: 0))
        // The same row with a damaged half, more often than a check once tried, and before the intact one.
        let columns = """
            item, kind, protection, generation, primary_blind, device_blind, blinds, device_blinds, metadata_binding, secret_binding, \
            wrapped_key, secret, date, reason, state
            """
        try room.sql(
            """
            WITH RECURSIVE number(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < 1100)
            INSERT INTO quarantine(id, metadata, \(columns)) SELECT -n, zeroblob(80), \(columns) FROM number, quarantine WHERE id > 0;
            UPDATE quarantine SET id = id + 2000
            """)
        #expect(try room.database.quarantinedCount() == 1101)
        let report = try room.examine()
        #expect(report.findings.map(\.reason) == [.readmitted] && report.quarantine.map(\.count) == [1100])
        #expect(try room.find(name("a")).first?.value == "v")
    }

    // MARK: Callers

    @Test("Only the command line checks and restores the keychain") func onlyCommandLineChecksAndRestores() throws {
        let room = try Room()
        let (cli, mail) = (Callers.commandLine(), Callers.installed("/usr/bin/mail"))
        try room.add("a", value: "v", as: mail)
        #expect(Refusal.Reason.of { try room.serve(.examine, as: mail) } == .notAllowedHere)
        #expect(Refusal.Reason.of { try room.serve(.restore(copyOf: nil), as: mail) } == .notAllowedHere)
        #expect(Refusal.Reason.of { try room.serve(.examine, as: Callers.script()) } == .notAllowedHere)
        // The items of all owners, without a prompt.
        guard case .examined(let report)? = try room.serve(.examine, as: cli).messages.dropLast().last else {
            throw Refusal(.internalError)
        }
        #expect(report.checked >= 1 && report.locked == 0 && report.found == 0 && room.consents.isEmpty)
    }
}

extension Room {
    func examine() throws -> DoctorReport {
        guard case .examined(let report)? = try serve(.examine).messages.dropLast().last else { throw Refusal(.internalError) }
        return report
    }

    /// Changes the file, as a program with access to it could.
    func sql(_ text: String) throws {
        var configuration = Configuration()
        configuration.foreignKeysEnabled = false
        let queue = try DatabaseQueue(path: file, configuration: configuration)
        try queue.writeWithoutTransaction { try $0.execute(sql: text) }
        try queue.close()
    }

    /// Returns the stored time by which deleted items expire.
    func storedTime() throws -> Int64? {
        let queue = try DatabaseQueue(path: file)
        let time = try queue.read { try Int64.fetchOne($0, sql: "SELECT value FROM setting WHERE name = 'retention'") }
        try queue.close()
        return time
    }
}

extension RowHalves {
    fileprivate func flipped(_ damage: DoctorTests.Damage) -> RowHalves {
        func part(_ bytes: [UInt8], _ isHit: Bool) -> [UInt8] {
            var bytes = bytes
            // The first byte of a binding is its form; in the middle are numbers that any row could have.
            if isHit { bytes[damage == .metadataBinding || damage == .secretBinding ? 0 : bytes.count / 2] ^= 1 }
            return bytes
        }
        return RowHalves(
            secretBinding: part(secretBinding, damage == .secretBinding), wrappedKey: part(wrappedKey, damage == .wrappedKey),
            secret: part(secret, damage == .secret), metadataBinding: part(metadataBinding, damage == .metadataBinding),
            metadata: part(metadata, damage == .metadata))
    }
}

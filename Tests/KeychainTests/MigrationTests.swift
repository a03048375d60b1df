import EnclaveWire
import Foundation
import GRDB
import Keychain
import KeychainStore
import Synchronization
import TestSupport
import Testing
import VaubanAccessPolicy
import VaubanDER
import VaubanKeychainModel
import VaubanKeychainWire
import VaubanRefusal

/// Databases of every earlier step of the schema, as they were stored then (Vectors/keychain-database), and of steps that do not exist yet.
/// A new step comes with a stored database of the previous step: `VAUBAN_STORE_DATABASE=schema-7` creates it.
@Suite struct MigrationTests {
    /// The operations on each stored database, by its name.
    private static let stored = [
        "format-1": ["1 items"], "schema-2": ["1 items", "2 generations"],
        "schema-3": ["1 items", "2 generations", "3 history"], "schema-4": ["1 items", "2 generations", "3 history", "4 tombstones"],
        "schema-5": ["1 items", "2 generations", "3 history", "4 tombstones", "5 access log"],
        "schema-6": ["1 items", "2 generations", "3 history", "4 tombstones", "5 access log", "6 log uses"],
    ]

    private func room(_ name: String) throws -> Room {
        let stored = try StoredDatabase(name)
        return try Room(database: stored.file, keys: stored.keys, sealed: stored.sealed)
    }

    private func steps(_ file: String) throws -> [String] {
        try read(file) { try String.fetchAll($0, sql: "SELECT identifier FROM grdb_migrations ORDER BY identifier") }
    }

    private func schema(_ file: String) throws -> Set<String> {
        try read(file) { Set(try String.fetchAll($0, sql: "SELECT type || ' ' || name || ' ' || ifnull(sql, '') FROM sqlite_schema")) }
    }

    private func read<Value>(_ file: String, _ body: (Database) throws -> Value) throws -> Value {
        let queue = try DatabaseQueue(path: file)
        defer { try? queue.close() }
        return try queue.unsafeRead(body)
    }

    @Test("A stored database of each migration is upgraded", arguments: stored.keys.sorted())
    func storedDatabaseOfEachMigrationIsUpgraded(_ name: String) throws {
        let room = try room(name)
        #expect(try steps(room.file) == Self.stored[name])
        let before = try room.rows(.genericPassword) + room.rows(.internetPassword)
        #expect(before.count >= 5)
        // Checks every row with every index, as far as the stored database has its keys.
        let report = try room.examine()
        #expect(report.found == 0 && report.locked == 0 && report.checked >= before.count, "\(report)")
        #expect(try room.rows(.genericPassword) + room.rows(.internetPassword) == before)
        let fresh = try Room()
        try fresh.add([.account: .text("a")])
        #expect(try schema(room.file) == schema(fresh.file))
        #expect(try steps(room.file) == steps(fresh.file))
        try room.add([.account: .text("new")], value: "v")
        try room.restart()
        #expect(try room.find([.account: .text("new")]).first?.value == "v")
        // The earlier value of an item is kept from now on, or was kept already.
        let hadHistory = ["schema-3", "schema-4", "schema-5", "schema-6"].contains(name)
        #expect(try room.versions([.account: .text("plain")]).count == (hadHistory ? 1 : 0))
        try room.update([.account: .text("plain")], value: "the newest")
        #expect(try room.earlier([.account: .text("plain")], number: 1) == (hadHistory ? "a second value" : "plain value"))
        if hadHistory { #expect(try room.earlier([.account: .text("plain")], number: 2) == "plain value") }
        let deleted = try room.deleted()
        #expect(deleted.map { $0.record.attributes[.account] } == (hadHistory ? [.text("deleted")] : []))
        for item in deleted {
            try room.history(.undelete(item.item))
            #expect(try room.find([.account: .text("deleted")]).first?.value == "a deleted value")
        }
    }

    @Test("Every older migration has a stored database") func everyOlderMigrationHasAStoredDatabase() throws {
        let room = try Room()
        try room.add([.account: .text("a")])
        let today = try steps(room.file)
        #expect(today == ["1 items", "2 generations", "3 history", "4 tombstones", "5 access log", "6 log uses"])
        for count in 1...today.count {
            #expect(Self.stored.values.contains(Array(today.prefix(count))), "nothing is stored of \(today[count - 1])")
        }
    }

    @Test(
        "A database of a later version is refused and not touched",
        arguments: [
            "INSERT INTO grdb_migrations VALUES ('5 of tomorrow')", "INSERT INTO grdb_migrations VALUES ('0')", "PRAGMA user_version = 1",
            "PRAGMA user_version = -1",
        ])
    func laterVersionsDatabaseIsRefusedUntouched(_ change: String) throws {
        let room = try Room()
        try room.add([.account: .text("a")], value: "v")
        try room.restart()
        try room.sql(change)
        let before = try FileManager.default.contentsOfDirectory(atPath: room.userFolder).sorted()
        let bytes = try Data(contentsOf: URL(fileURLWithPath: room.file))
        for _ in 0..<2 {
            #expect(Refusal.Reason.of { _ = try room.find([.account: .text("a")]) } == .stateUnreadable)
            #expect(Refusal.Reason.of { try room.add([.account: .text("b")]) } == .stateUnreadable)
            #expect(Refusal.Reason.of { try room.serve(.discard) } == .stateUnreadable)
            #expect(Refusal.Reason.of { _ = try room.examine() } == .stateUnreadable)
            #expect(Refusal.Reason.of { try room.serve(.restore(copyOf: nil)) } == .stateUnreadable)
            try room.restart()
        }
        #expect(try Data(contentsOf: URL(fileURLWithPath: room.file)) == bytes)
        // To read such a file, SQLite creates its shared memory and an empty log beside it.
        let beside = ["keychain.db-shm", "keychain.db-wal"]
        #expect(try FileManager.default.contentsOfDirectory(atPath: room.userFolder).filter { !beside.contains($0) }.sorted() == before)
        #expect((try? Data(contentsOf: URL(fileURLWithPath: room.file + "-wal")))?.isEmpty ?? true)
        // The version that has the step finds everything.
        try room.sql(
            change.hasPrefix("PRAGMA")
                ? "PRAGMA user_version = 0" : "DELETE FROM grdb_migrations WHERE identifier IN ('0', '5 of tomorrow')")
        #expect(try room.find([.account: .text("a")]).first?.value == "v")
    }

    /// Writes a database of the present schema with the keys of its enclave, if a name is given.
    @Test("A database of the present schema can be stored for later tests") func aDatabaseOfTodaysSchemaCanBeStored() throws {
        let room = try Room()
        try room.add([.account: .text("plain"), .service: .text("s")], value: "plain value")
        try room.add([.account: .text("present"), .service: .text("s")], value: "guarded value", control: .userPresence)
        try room.add([.account: .text("device"), .service: .text("s")], value: "device value", .always)
        try room.add([.account: .text("nothing"), .service: .text("s")], value: nil, .afterFirstUnlock)
        try room.add([.server: .text("example.org")], value: "internet value", kind: .internetPassword)
        try room.add([.account: .text("older"), .service: .text("s")], value: "of an older key", .afterFirstUnlockThisDeviceOnly)
        try room.enclave.renew(.metadata(.afterFirstUnlockThisDeviceOnly))
        try room.update([.account: .text("plain")], value: "a second value")
        try room.add([.account: .text("deleted"), .service: .text("s")], value: "a deleted value")
        try room.delete([.account: .text("deleted")])
        let lines = room.enclave.stored
        #expect(lines.filter { $0.hasPrefix("sealed") }.count == 8)
        guard let name = ProcessInfo.processInfo.environment["VAUBAN_STORE_DATABASE"] else { return }
        try room.restart()
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("Vectors/keychain-database")
        try FileManager.default.copyItem(at: URL(fileURLWithPath: room.file), to: folder.appendingPathComponent("\(name).db"))
        let text = "# What the fake enclave of the tests held for this database.\n" + lines.joined(separator: "\n") + "\n"
        try Data(text.utf8).write(to: folder.appendingPathComponent("\(name).keys"))
    }
}

extension FakeEnclave {
    /// The row in the form that `StoredDatabase` reads.
    fileprivate var stored: [String] {
        return state.withLock { state in
            state.keys.map { "key \($0.name.asKeyName.purpose) \(hexadecimal($0.name.generation)) \(hexadecimal($0.bytes))" }
                + state.sealed.compactMap { wrapped, sealed in
                    guard let row = try? sealed.row.encoded() else { return nil }
                    return "sealed \(hexadecimal(wrapped)) \(hexadecimal(row)) \(hexadecimal(sealed.key))"
                }
        }
    }
}

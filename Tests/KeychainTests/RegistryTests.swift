import Foundation
import Keychain
import KeychainStore
import Testing
import VaubanKeychainModel
import VaubanLinuxHost
import VaubanRefusal

/// A database that is checked while requests still hold it.
@Suite struct RegistryTests {
    private let name: [AttributeName: AttributeValue] = [.account: .text("a"), .service: .text("s")]

    /// A request that still holds a database with detected damage cannot write to it, since the write would be set aside.
    @Test("A file with detected damage accepts no writes") func suspectFileAcceptsNoWrites() throws {
        let room = try Room()
        for number in 0..<60 { try room.add([.account: .text("a\(number)")], value: String(repeating: "x", count: 500)) }
        let row = try #require(try room.rows().first)
        try room.restart()
        var pages = try Data(contentsOf: URL(fileURLWithPath: room.file))
        try #require(pages.count > 30 * 4096)
        // The first pages are the roots of tables and indexes, which opening reads.
        for page in 20..<pages.count / 4096 {
            pages.replaceSubrange(page * 4096..<page * 4096 + 100, with: repeatElement(0xEE, count: 100))
        }
        try pages.write(to: URL(fileURLWithPath: room.file))
        let held = try room.database
        let all = RowSelection(kind: 1, protection: nil, lookup: nil, filter: [], usesDeviceIndex: false)
        #expect(throws: StorageError.self) { try held.rows(of: all, after: 0, count: .max, bytesMax: .max) }
        #expect(held.isSuspect)
        #expect(throws: StorageError.failed("the keychain database must be checked first")) { try held.delete([row.handle]) }
        #expect(throws: StorageError.failed("the keychain database must be checked first")) { _ = try held.insert(row) }
        #expect(Refusal.Reason.of { _ = try room.find(name) } == .stateUnreadable)
        // It was closed for every request before it was set aside.
        #expect(throws: StorageError.self) { try held.indexKeyGenerations() }
        #expect(throws: StorageError.self) { _ = try held.insert(row) }
    }

    // MARK: Idle databases

    private func registry(_ limits: DatabaseLimits, owner: @escaping @Sendable (UInt32) -> UInt32 = { $0 }) throws -> (
        DatabaseRegistry, String
    ) {
        let folder = NSTemporaryDirectory() + "registry-" + UUID().uuidString
        return (DatabaseRegistry(state: try PrivateFolder(path: folder, creating: true), limits: limits, owner: owner), folder)
    }

    private func descriptors() throws -> Int { try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count }

    @Test("Few databases are open at once, and the least recently used closes first")
    func idleDatabasesClose() throws {
        let (registry, folder) = try registry(DatabaseLimits(openMax: 8, openPerOwnerMax: 8, descriptorsKept: 0))
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let first = try registry.database(of: 1)
        let before = try descriptors()
        for user in UInt32(2)...150 {
            _ = try registry.database(of: user)
            #expect(registry.openCount <= 8)
        }
        // Six descriptors for each, and those that the other tests of this process hold.
        #expect(try descriptors() < before + 500)
        // A database that a request holds is never closed, however long ago it was used.
        #expect(try registry.database(of: 1) === first)
        #expect(try first.rowCount() == 0)
        // A closed database is opened again with its content.
        #expect(try registry.database(of: 2).claim(indexKey: 100, generation: [1, 2, 3, 4, 5, 6, 7, 8]) == nil)
        for user in UInt32(3)...20 { _ = try registry.database(of: user) }
        #expect(try registry.database(of: 2).indexKeyGenerations() == [100: [1, 2, 3, 4, 5, 6, 7, 8]])
    }

    @Test("A further database is refused while all are in use, and opens when one is free")
    func allInUseIsARefusal() throws {
        let (registry, folder) = try registry(DatabaseLimits(openMax: 3, openPerOwnerMax: 3, descriptorsKept: 0))
        defer { try? FileManager.default.removeItem(atPath: folder) }
        var held = try (UInt32(1)...3).map { try registry.database(of: $0) }
        #expect(throws: StorageError.busy) { _ = try registry.database(of: 4) }
        #expect(try registry.database(of: 2) === held[1])
        held.removeFirst()
        _ = try registry.database(of: 4)
        #expect(registry.openCount == 3)
        #expect(Refusal(StorageError.busy).reason == .unavailable)
    }

    @Test("The uids of one owner share its limit of open databases")
    func oneOwnerHasItsShare() throws {
        let (registry, folder) = try registry(
            DatabaseLimits(openMax: 100, openPerOwnerMax: 2, descriptorsKept: 0), owner: { $0 >= 100_000 ? 1000 : $0 })
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let held = try [1000, 1001].map { try registry.database(of: $0) }
        for user in UInt32(100_000)..<100_050 { _ = try registry.database(of: user) }
        #expect(registry.openCount == 3)
        let more = try registry.database(of: 100_000)
        #expect(throws: StorageError.busy) { _ = try registry.database(of: 100_001) }
        withExtendedLifetime((held, more)) {}
    }

    @Test("Owners at their limit leave room for the next owner")
    func someRoomIsLeftForOthers() throws {
        let (registry, folder) = try registry(DatabaseLimits(openMax: 40, openPerOwnerMax: 16, descriptorsKept: 0), owner: { $0 / 100 })
        defer { try? FileManager.default.removeItem(atPath: folder) }
        var held: [KeychainDatabase] = []
        for owner in UInt32(1)...4 {
            for uid in 0..<UInt32(16) { if let database = try? registry.database(of: owner * 100 + uid) { held.append(database) } }
        }
        #expect(registry.openCount == held.count)
        #expect(throws: Never.self) { _ = try registry.database(of: 9900) }
        // Idle databases hinder no request.
        held = []
        for owner in UInt32(10)..<50 { _ = try registry.database(of: owner * 100) }
        #expect(registry.openCount == 40)
        let more = try (0..<UInt32(3)).map { try registry.database(of: 9900 + $0) }
        #expect(more.count == 3)
    }

    @Test("A user's folder names its holder before it contains anything else")
    func foldersAreBoundWhenTheyAreMade() throws {
        let path = NSTemporaryDirectory() + "registry-" + UUID().uuidString
        defer { try? FileManager.default.removeItem(atPath: path) }
        let state = try PrivateFolder(path: path, creating: true)
        let registry = DatabaseRegistry(state: state, holderName: { $0 == 7 ? "anna" : nil })
        for user: UInt32 in [7, 8] { _ = try registry.database(of: user) }
        #expect(try StateHolder.read(in: state.subfolder("7", creating: false)) == StateHolder(uid: 7, name: "anna"))
        // A number without a name is not bound to anything.
        #expect(try StateHolder.read(in: state.subfolder("8", creating: false)) == nil)
    }

    @Test("A shortage of descriptors is a refusal and closes idle databases")
    func shortageIsARefusal() throws {
        let (registry, folder) = try registry(DatabaseLimits(openMax: 100, openPerOwnerMax: 100, descriptorsKept: 1 << 20))
        defer { try? FileManager.default.removeItem(atPath: folder) }
        #expect(throws: StorageError.busy) { _ = try registry.database(of: 1) }
        #expect(registry.openCount == 0)
    }

    /// A request that began under a key that was retired must not write under it, even if the database was closed meanwhile.
    @Test("Closed class keys stay closed when a database is opened again")
    func closedGenerationsOutliveTheDatabase() throws {
        let room = try Room(limits: DatabaseLimits(openMax: 1, openPerOwnerMax: 1, descriptorsKept: 0))
        try room.add(name)
        let row = try #require(try room.rows().first)
        #expect(try room.database.delete([row.handle]))
        let generation = RowGeneration(protection: row.protection, generation: row.generation)
        #expect(try room.database.close([generation]) == [generation])
        _ = try room.databases.database(of: Room.user + 1)
        #expect(room.databases.openCount == 1)
        #expect(try room.database.insert(row) == .retired)
    }

    /// After a request detected damage and ended, the next one checks the whole file.
    @Test("A suspect database stays suspect after closing idle")
    func suspicionOutlivesTheDatabase() throws {
        let room = try Room(limits: DatabaseLimits(openMax: 1, openPerOwnerMax: 1, descriptorsKept: 0))
        for number in 0..<60 { try room.add([.account: .text("a\(number)")], value: String(repeating: "x", count: 500)) }
        try room.restart()
        var pages = try Data(contentsOf: URL(fileURLWithPath: room.file))
        // The first pages are the roots of tables and indexes, which opening reads.
        for page in 20..<pages.count / 4096 {
            pages.replaceSubrange(page * 4096..<page * 4096 + 100, with: repeatElement(0xEE, count: 100))
        }
        try pages.write(to: URL(fileURLWithPath: room.file))
        let all = RowSelection(kind: 1, protection: nil, lookup: nil, filter: [], usesDeviceIndex: false)
        #expect(throws: StorageError.self) { _ = try room.database.rows(of: all, after: 0, count: .max, bytesMax: .max) }
        _ = try room.databases.database(of: Room.user + 1)
        #expect(Refusal.Reason.of { _ = try room.find(name) } == .stateUnreadable)
    }
}

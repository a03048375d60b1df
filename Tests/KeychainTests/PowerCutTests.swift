import Foundation
import Glibc
import KeychainStore
import SimulatedHost
import Synchronization
import Testing
import VaubanLinuxHost

/// The store's own database, killed or cut off from power at every write of SQLite, over real files: acknowledged changes exist, others
/// exist completely or not at all, and the store opens and continues to work.
///
/// The assumptions about the disk: a sync makes all earlier writes to that file durable; a sector of 512 bytes is kept or lost as a whole;
/// a write harms nothing beside it. Writes between two syncs may reach the disk in any order.
@Suite struct PowerCutTests {
    /// Ten thousand in all by default.
    private static let trialsMax = (getenv("VAUBAN_POWER_CUTS").flatMap { Int(String(cString: $0)) } ?? 10_000) / parts
    private static let parts = 8

    @Test("A power cut after any write loses nothing that was acknowledged", arguments: 0..<parts)
    func powerCutAfterAnyWriteLosesNothingAcknowledged(_ part: Int) throws {
        var trials = 0
        var lost = 0
        var history = UInt64(part) * 1_000_000
        while trials < Self.trialsMax {
            history += 1
            let isFull = history % 3 == 0
            let past = try StoreHistory(seed: history, steps: 12, fullDisk: isFull)
            #expect(past.disk.count > 0)
            for moment in 0...past.disk.count where trials < Self.trialsMax {
                for end in RecordedDisk.End.allCases where trials < Self.trialsMax {
                    trials += 1
                    var chance = SplitMix64(seed: history &* 1_000_003 &+ UInt64(moment) &* 31 &+ UInt64(trials))
                    let kept = try trial(
                        of: past, moment: moment, end: end, chance: &chance,
                        name: "history \(history), after \(moment) operations, \(end), trial \(trials)")
                    if !kept { lost += 1 }
                }
            }
        }
        // If every end had kept everything, or lost it, nothing would have been tested.
        #expect(lost > trials / 100 && lost < trials)
    }

    /// The first request to a new keychain waits for all of them, one after the other.
    @Test("A new database waits for the disk a few times only") func newDatabaseRarelySyncs() throws {
        let folder = try RecordedDisk.makeFolder()
        defer { try? FileManager.default.removeItem(atPath: folder.path) }
        let disk = try RecordedDisk(folder)
        try KeychainDatabase(folder: folder).close()
        // Those that put it into WAL mode, once it is in its place.
        #expect((1...12).contains(disk.syncs))
    }

    /// Returns whether the newest of the allowed contents exists.
    private func trial(
        of past: StoreHistory, moment: Int, end: RecordedDisk.End, chance: inout SplitMix64, name: @autoclosure () -> String
    ) throws -> Bool {
        let folder = try RecordedDisk.make(past.disk.left(after: moment, by: end, &chance))
        defer { try? FileManager.default.removeItem(atPath: folder.path) }
        let allowed = past.allowed(after: moment)
        // The next start can be cut off too.
        if chance.below(10) == 0 {
            let disk = try RecordedDisk(folder)
            let database = try open(folder, name())
            let again = try RecordedDisk.make(disk.left(after: chance.below(disk.count + 1), by: end, &chance))
            defer { try? FileManager.default.removeItem(atPath: again.path) }
            try database.close()
            return try look(at: again, allowed: allowed, chance: &chance, name: "\(name()), and once more")
        }
        return try look(at: folder, allowed: allowed, chance: &chance, name: name())
    }

    private func open(_ folder: PrivateFolder, _ name: String) throws -> KeychainDatabase {
        do { return try KeychainDatabase(folder: folder) } catch {
            Issue.record("it does not open: \(error): \(name)")
            throw error
        }
    }

    private func look(at folder: PrivateFolder, allowed: [StoreContent], chance: inout SplitMix64, name: String) throws -> Bool {
        let database = try open(folder, name)
        defer { try? database.close() }
        let content = try StoreContent(of: database)
        // The difference is too large to print.
        let isAllowed = allowed.contains(content)
        #expect(
            isAllowed,
            """
            \(name): \(content.rows.count) rows and \(content.past.count) of the past, allowed \
            \(allowed.map { [$0.rows.count, $0.past.count] })
            """
        )
        if chance.below(16) == 0 {
            #expect(try database.examineFile() == .whole, "\(name)")
            // The store continues to work.
            try database.record(indexKey: 7, generation: [7])
            #expect(try StoreContent(of: database).indexKeys[7] == [7], "\(name)")
        }
        return content == allowed.last
    }

    /// A database that was being created, or moved into place, is created again.
    @Test("An unfinished database is created again") func unfinishedDatabaseIsRecreated() throws {
        let made = try RecordedDisk.makeFolder()
        defer { try? FileManager.default.removeItem(atPath: made.path) }
        let disk = try RecordedDisk(made)
        try KeychainDatabase(folder: made).close()
        var chance = SplitMix64(seed: 1)
        for moment in 0...disk.count {
            for end in RecordedDisk.End.allCases {
                // Before the rename only the temporary name exists.
                let files = disk.left(after: moment, by: end, &chance).filter { $0.key.hasPrefix("keychain.db.new") }
                let folder = try RecordedDisk.make(files)
                defer { try? FileManager.default.removeItem(atPath: folder.path) }
                let database = try open(folder, "while it is made, after \(moment), \(end)")
                #expect(try StoreContent(of: database) == StoreContent())
                try database.close()
            }
        }
    }
}

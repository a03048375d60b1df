import Testing
import VaubanCommands

/// What a folder of backups remembers between runs (Specs/backup.md).
@Suite struct BackupMemoryTests {
    private static let day: Int64 = 86_400 * 1_000_000

    private func digest(_ number: Int) -> [UInt8] { [UInt8](repeating: 0, count: 30) + [UInt8(number >> 8), UInt8(number & 255)] }

    @Test("Nightly runs read every part within a week, a seventh each night") func readingIsSpread() {
        let digests = (0..<700).map(digest)
        var memory = BackupMemory()
        var now = 1000 * Self.day
        // A first run has read all that it has written.
        for digest in digests { memory.checked[digest] = now }
        memory.date = now
        for night in 1...21 {
            now += Self.day
            let due = memory.due(of: digests, at: now)
            #expect(due.count == 100, "night \(night)")
            for digest in due { memory.checked[digest] = now }
            memory.date = now
            if night >= 7 { #expect(digests.allSatisfy { now - (memory.checked[$0] ?? 0) < BackupMemory.checkMicroseconds }) }
        }
    }

    @Test("A part that was not read for a week is read, even after a pause and whatever the clock showed") func readingIsMadeUpFor() {
        let digests = (0..<50).map(digest)
        let now = 1000 * Self.day
        var memory = BackupMemory()
        #expect(memory.due(of: digests, at: now) == Set(digests))
        memory.date = now
        #expect(memory.due(of: digests, at: now) == Set(digests))
        for digest in digests { memory.checked[digest] = now }
        // Each run reads at least one part, and after a pause all of them.
        #expect(memory.due(of: digests, at: now).count == 1)
        #expect(memory.due(of: [], at: now).isEmpty)
        #expect(memory.due(of: digests, at: now + Self.day / 24).count == 1)
        #expect(memory.due(of: digests, at: now + 7 * Self.day) == Set(digests))
        #expect(memory.due(of: digests, at: now + 100 * Self.day) == Set(digests))
        // Back in time by a month: the dates are in the future.
        #expect(memory.due(of: digests, at: now - 30 * Self.day) == Set(digests))
        // A new part is read before those that were.
        #expect(memory.due(of: digests + [digest(50)], at: now) == [digest(50)])
    }

    @Test("A memory reads back as it was written, and a truncated one is refused") func bytesAreRead() throws {
        var memory = BackupMemory()
        memory.date = 5
        memory.lists = [digest(3), digest(4)]
        memory.rotted = [digest(5): [[UInt8](repeating: 8, count: 16), [UInt8](repeating: 9, count: 16)], digest(6): []]
        memory.databases = [1: 2, .max: 0]
        memory.gone = [[UInt8](repeating: 7, count: 16): 3]
        memory.checked = [digest(1): -1, digest(2): .max]
        #expect(BackupMemory(memory.bytes) == memory)
        #expect(BackupMemory(BackupMemory().bytes) == BackupMemory())
        for count in 0..<memory.bytes.count where (memory.bytes.count - count) % 40 != 0 {
            #expect(BackupMemory(Array(memory.bytes.prefix(count))) == nil, "\(count) bytes")
        }
    }

    @Test("A memory without lists, of an earlier version, is read") func earlierBytesAreRead() throws {
        func number(_ number: Int64) -> [UInt8] { withUnsafeBytes(of: number.bigEndian) { Array($0) } }
        let item = [UInt8](repeating: 7, count: 16)
        let bytes = number(5) + [0, 0, 0, 1] + number(1) + number(2) + [0, 0, 0, 1] + item + number(3) + digest(1) + number(4)
        let memory = try #require(BackupMemory(bytes))
        #expect(memory.date == 5 && memory.databases == [1: 2] && memory.gone == [item: 3] && memory.checked == [digest(1): 4])
        #expect(memory.lists.isEmpty && memory.rotted.isEmpty)
        // It knows no list, so every one counts as that of its databases.
        #expect(memory.holds(of: digest(2)))
        #expect(BackupMemory(memory.bytes) == memory)
    }

    @Test("A database contains everything in the last list and in the one before, but not in any other") func listsAreTold() {
        var memory = BackupMemory()
        memory.lists = [digest(2), digest(1)]
        #expect(memory.holds(of: digest(1)) && memory.holds(of: digest(2)))
        #expect(!memory.holds(of: digest(3)))
        // A damaged list is rebuilt from all parts.
        #expect(memory.holds(of: nil))
    }
}

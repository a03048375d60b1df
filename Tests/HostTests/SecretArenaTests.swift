import Foundation
import Glibc
import Synchronization
import TestSupport
import Testing
import VaubanLinuxHost

/// The memory for secrets: zeroed, separate, reused, and protected as the machine allows. Each kind of memory is tested by switching the
/// better ones off.
@Suite struct SecretArenaTests {
    struct Kept: Sendable, CustomTestStringConvertible {
        let backing: SecretArena.PageProtection
        let without: Set<HardeningFeature>
        var testDescription: String { "\(backing)" }
    }

    static let all = [
        Kept(backing: .secretFile, without: []), Kept(backing: .locked, without: [.memfdSecret]),
        Kept(backing: .unlocked, without: [.memfdSecret, .mlock]),
    ]

    private func arena(_ kept: Kept) throws -> SecretArena {
        let arena = SecretArena(without: kept.without)
        if arena.backing != kept.backing { try Test.cancel("this machine does not give \(kept.backing) memory") }
        return arena
    }

    @Test("Missing protections of memory are reported", arguments: all) func missingProtectionsAreReported(_ kept: Kept) throws {
        let arena = try arena(kept)
        // A machine with too low a limit reports that in any case.
        #expect(arena.missing.subtracting([.mlock]) == kept.without.subtracting([.mlock]))
        if kept.without.contains(.mlock) { #expect(arena.missing.contains(.mlock)) }
    }

    @Test("Memory for secrets is zero, aligned and reused", arguments: all, [1, 15, 16, 63, 64, 65, 500, 4095, 4096, 4097, 1 << 20])
    func memoryIsZeroAlignedAndReused(_ kept: Kept, _ count: Int) throws {
        let arena = try arena(kept)
        var seen: Set<UInt> = []
        for _ in 0..<3 {
            let storage = try #require(arena.take(count))
            #expect(storage.count == count && storage.allSatisfy { $0 == 0 })
            let address = UInt(bitPattern: storage.baseAddress)
            #expect(address % 16 == 0)
            seen.insert(address)
            _ = storage.initializeMemory(as: UInt8.self, repeating: 0xA5)
            arena.giveBack(storage)
        }
        if count <= 4096 { #expect(seen.count == 1) }
    }

    @Test("Returned memory is erased", arguments: all) func returnedSlotIsErased(_ kept: Kept) throws {
        let arena = try arena(kept)
        let storage = try #require(arena.take(256))
        _ = storage.initializeMemory(as: UInt8.self, repeating: 0xA5)
        arena.giveBack(storage)
        // The pages are still mapped, so the test can read them; beyond the link to the next free slot they are empty.
        #expect(storage.dropFirst(8).allSatisfy { $0 == 0 })
        #expect(storage.prefix(8).allSatisfy { $0 != 0xA5 })
    }

    /// More secrets at once than one chunk holds and than the limit on locked memory allows: none is refused, and none overlaps another.
    @Test("Secrets do not overlap, however many there are", arguments: all) func secretsDoNotOverlap(_ kept: Kept) throws {
        let arena = try arena(kept)
        var held: [UnsafeMutableRawBufferPointer] = []
        for number in 0..<4000 { held.append(try #require(arena.take([20, 64, 100, 1000, 4096][number % 5]))) }
        for _ in 0..<16 { held.append(try #require(arena.take(1 << 20))) }
        for (number, storage) in held.enumerated() { _ = storage.initializeMemory(as: UInt8.self, repeating: UInt8(number % 251)) }
        for (number, storage) in held.enumerated() { #expect(storage.allSatisfy { $0 == UInt8(number % 251) }) }
        for storage in held { arena.giveBack(storage) }
    }

    @Test("Threads get separate memory", arguments: all) func threadsGetSeparateMemory(_ kept: Kept) throws {
        let arena = try arena(kept)
        let faults = Mutex(0)
        DispatchQueue.concurrentPerform(iterations: 8) { thread in
            var random = SystemRandomNumberGenerator()
            var held: [UnsafeMutableRawBufferPointer] = []
            for _ in 0..<3000 {
                let count = Int.random(in: 1...5000, using: &random)
                guard let storage = arena.take(count) else { return faults.withLock { $0 += 1 } }
                if storage.contains(where: { $0 != 0 }) { faults.withLock { $0 += 1 } }
                _ = storage.initializeMemory(as: UInt8.self, repeating: UInt8(thread + 1))
                held.append(storage)
                if held.count > 20 {
                    let old = held.remove(at: Int.random(in: 0..<held.count, using: &random))
                    if old.contains(where: { $0 != UInt8(thread + 1) }) { faults.withLock { $0 += 1 } }
                    arena.giveBack(old)
                }
            }
            for storage in held { arena.giveBack(storage) }
        }
        #expect(faults.withLock { $0 } == 0)
    }

    /// The kernel's flags of the pages: `dd` no dump, `lo` locked, `wf` empty in a child, `dc` not in a child.
    @Test("The pages for secrets have the expected flags of the kernel", arguments: all, [100, 100_000])
    func pagesHaveTheExpectedFlags(_ kept: Kept, _ count: Int) throws {
        let arena = try arena(kept)
        let storage = try #require(arena.take(count))
        defer { arena.giveBack(storage) }
        let flags = try flags(of: UInt(bitPattern: storage.baseAddress))
        #expect(flags.contains("dd"))
        #expect(flags.contains("wf") || flags.contains("dc"))
        #expect(flags.contains("lo") == !kept.without.contains(.mlock))
    }

    private func flags(of address: UInt) throws -> Set<String> {
        let text = try #require(SmallFile.text(path: "/proc/self/smaps", max: 16 << 20))
        var isInside = false
        for line in text.split(separator: "\n") {
            let words = line.split(separator: " ")
            let ends = words.first?.split(separator: "-").compactMap { UInt($0, radix: 16) } ?? []
            if ends.count == 2 { isInside = ends[0] <= address && address < ends[1] }
            if isInside, words.first == "VmFlags:" { return Set(words.dropFirst().map(String.init)) }
        }
        return []
    }
}

import Glibc
import SimulatedHost
import TestSupport
import Testing
import VaubanLinuxHost

/// A state write, cut off or failed at every step, over every disk that can result.
@Suite struct StateWriteTests {
    private static let old = [UInt8](1...40)
    private static let new = [UInt8](101...160)
    private static let third = [UInt8](repeating: 7, count: 9000)

    private static let right: WriteTrial.Replace = { (folder, bytes) throws(SystemError) in
        try DurableFile("state", in: folder).replace(with: bytes)
    }

    private func disk(holding bytes: [UInt8]?) throws -> DiskImage {
        let disk = SimulatedDisk()
        if let bytes { try Self.right(disk.root, bytes) }
        return disk.image
    }

    @Test("A write leaves the old or the new content after any power cut", arguments: [nil, [], old, third])
    func writeLeavesOldOrNewContentAfterAnyCut(_ before: [UInt8]?) throws {
        let start = try disk(holding: before)
        var trial = WriteTrial(Self.right)
        for fault in try trial.faults(start, Self.new) { try trial.run(start, fault, writing: Self.new, allowed: [before]) }
        print("state write over \(before.map { "\($0.count) bytes" } ?? "nothing"): \(trial.account)")
        #expect(trial.violations == [])
        // Ten bytes or none: the steps are the same, and none of them was left out.
        #expect(trial.steps == 6 && trial.images > 100)
    }

    /// A write after an interrupted write, over every possible remainder of the latter.
    @Test("A write after an interrupted one leaves the old or the new content")
    func writeAfterAnInterruptedOneLeavesOldOrNewContent() throws {
        var first = WriteTrial(Self.right), second = WriteTrial(Self.right)
        let start = try disk(holding: Self.old)
        for fault in try first.faults(start, Self.new) { try first.run(start, fault, writing: Self.new, allowed: [Self.old]) }
        for left in first.left {
            // What was never durable may still be lost in the second cut.
            for fault in try second.faults(left, Self.third) {
                try second.run(left, fault, writing: Self.third, allowed: [Self.old, Self.new])
            }
        }
        print("state write after each of \(first.left.count) disks that a cut-off write left: \(second.account)")
        #expect(second.violations == [])
        #expect(first.left.count > 20 && second.images > 10_000)
    }

    /// A killed process may leave content that only the kernel has. A process that builds on it makes it durable first.
    @Test("Content that a syncing read returned survives a power cut") func syncingReadSurvivesAPowerCut() throws {
        var trial = WriteTrial(Self.right)
        let start = try disk(holding: Self.old)
        for fault in try trial.faults(start, Self.new) { try trial.run(start, fault, writing: Self.new, allowed: [Self.old]) }
        var unsynced = 0
        for left in trial.left {
            for isSyncing in [false, true] {
                let disk = SimulatedDisk(left)
                guard case .bytes(let bytes) = try DurableFile("state", in: disk.root).read(max: 100, syncing: isSyncing) else {
                    Issue.record("the file is absent")
                    continue
                }
                let survivors = try #require(disk.image.survivors(max: 10_000))
                let isKept = survivors.allSatisfy { $0.files["state"] == bytes }
                if isSyncing { #expect(isKept) } else if !isKept { unsynced += 1 }
            }
        }
        print("read after each of \(trial.left.count) disks: \(unsynced) of them would have taken back what a plain read showed")
        #expect(unsynced > 0)
    }

    @Test("A failed sync is reported") func failedSyncIsReported() throws {
        let start = try disk(holding: Self.old)
        for step in 0...1 {
            let disk = SimulatedDisk(start)
            disk.prepare(.broken(at: step))
            let fault = #expect(throws: SystemError.self) { try DurableFile("state", in: disk.root).read(max: 100, syncing: true) }
            #expect(fault?.code == EIO)
        }
        let disk = SimulatedDisk(start)
        disk.prepare(.unreadable)
        #expect(throws: SystemError.self) { try DurableFile("state", in: disk.root).read(max: 100) }
    }

    /// The simulation is effective: the same enumeration finds every one of these writes wrong.
    @Test("The simulation detects every flawed way to write", arguments: Flaw.allCases) func flawedWriteIsDetected(_ flaw: Flaw) throws {
        let start = try disk(holding: Self.old)
        var trial = WriteTrial(flaw.replace)
        for fault in try trial.faults(start, Self.new) { try trial.run(start, fault, writing: Self.new, allowed: [Self.old]) }
        print(
            "\(flaw): \(trial.account), \(trial.violations.count) kinds of violations: \(trial.violations.sorted().joined(separator: ", "))"
        )
        #expect(trial.violations.contains(flaw.violation))
    }

    /// The rate is printed and not checked: it shows what an enumeration over this disk costs.
    @Test("The simulated disk is fast enough to enumerate power cuts") func simulatedDiskIsFastEnough() throws {
        let disk = SimulatedDisk()
        let file = DurableFile("state", in: disk.root)
        let clock = ContinuousClock()
        disk.prepare()
        let writing = try clock.measure {
            for round in 0..<30_000 { try file.replace(with: [UInt8](repeating: UInt8(round & 255), count: 400)) }
        }
        #expect(disk.steps == 180_000)
        disk.prepare(tracing: true)
        try file.replace(with: Self.new)
        let trace = disk.trace
        var images = 0
        let looking = try clock.measure {
            for _ in 0..<500 { for image in trace { images += try #require(image.survivors(max: 1000)).count } }
        }
        print("180000 steps in \(writing); \(images) survivors of cuts in \(looking)")
        #expect(images > 500 * trace.count)
    }

    @Test("Long random histories keep the last write") func longSeededHistoriesKeepTheLastWrite() throws {
        var chance = SplitMix64(seed: 3)
        let disk = SimulatedDisk()
        var possible: Set<[UInt8]?> = [nil]
        var cuts = 0, steps = 0
        for round in 0..<20_000 {
            let bytes = [UInt8](repeating: UInt8(truncatingIfNeeded: round), count: chance.below(6000))
            let faults: [SimulatedDisk.Fault?] = [
                nil, nil, .broken(at: chance.below(7)), .full(from: chance.below(7)), .readOnly(from: chance.below(7)),
            ]
            disk.prepare(faults[chance.below(faults.count)], tracing: true)
            let wasWritten = (try? Self.right(disk.root, bytes)) != nil
            steps += disk.steps
            if wasWritten { possible = [bytes] } else { possible.insert(bytes) }
            let images = disk.trace
            switch chance.below(4) {
            case 0: disk.image = disk.image.survivor(&chance)
            case 1:
                // The write was cut off in between, so it may exist or not, and so may what it replaced.
                let last = wasWritten ? images.last : images[chance.below(images.count)]
                disk.image = try #require(last).survivor(&chance)
            default: continue
            }
            cuts += 1
            let shown = disk.image.files["state"]
            #expect(possible.contains(shown))
            possible = [shown]
        }
        print("20000 writes by seed: \(steps) steps, \(cuts) power cuts")
        #expect(cuts > 5000)
    }
}

/// Flawed ways of writing a state file that work while nothing goes wrong.
enum Flaw: CaseIterable, Sendable {
    case noSyncOfTheFile, renameBeforeSync, noSyncOfTheFolder, inPlace, removeBeforeRename, shortWriteTakenForAll

    var violation: String {
        switch self {
        case .noSyncOfTheFile, .renameBeforeSync, .inPlace: "torn after a power cut"
        case .noSyncOfTheFolder: "not durable when it returned"
        case .removeBeforeRename: "absent after a kill"
        case .shortWriteTakenForAll: "torn after a kill"
        }
    }

    var replace: WriteTrial.Replace {
        { (folder, bytes) throws(SystemError) in
            if self != .inPlace { folder.remove("state.new") }
            let file = self == .inPlace ? try folder.truncate("state") : try folder.create("state.new")
            let result: Result<Int, SystemError> = bytes.withUnsafeBytes { content in
                do throws(SystemError) {
                    var written = try file.write(content, at: 0)
                    while written < content.count && self != .shortWriteTakenForAll {
                        written += try file.write(UnsafeRawBufferPointer(rebasing: content[written...]), at: written)
                    }
                    return .success(written)
                } catch {
                    return .failure(error)
                }
            }
            _ = try result.get()
            if self == .removeBeforeRename { folder.remove("state") }
            if self == .renameBeforeSync { try folder.rename("state.new", to: "state") }
            if self != .noSyncOfTheFile { try file.sync() }
            if self != .inPlace && self != .renameBeforeSync { try folder.rename("state.new", to: "state") }
            if self != .noSyncOfTheFolder { try folder.sync() }
        }
    }
}

// Changes of different parts of an item by devices that did not know of each other's (Specs/sync.md, "Parts").

import Testing
import VaubanSyncModel

@Suite("Merging parts of synchronized items")
struct SyncMergeTests {
    private static let skews: [[Int64]] = [[0, 0], [0, 31_536_000_000_000], [31_536_000_000_000, 0]]

    // MARK: The function

    @Test("A part that one device changed is its, and one that both changed is the later change's", arguments: [true, false])
    func parts(receivedWins: Bool) {
        let merge = PartMerge(common: [PartDigests([.value: 1, .comment: 1, .label: 1, .alias: 1])], receivedWins: receivedWins)
        let here = PartDigests([.value: 2, .comment: 1, .label: 2, .alias: 2])
        let received = PartDigests([.value: 1, .comment: 2, .label: 3, .alias: 2])
        let result = merge.result(here: here, received: received)
        #expect(result.fromEarlier == [receivedWins ? .value : .comment])
        #expect(result.contested == [.label])
    }

    @Test("A part that one device had merged, and the other changed with knowledge of that, is not contested") func crossing() {
        // Here: a value of the other device that it had before its present one, and no longer the common one.
        let merge = PartMerge(common: [PartDigests([.value: 2]), PartDigests([.value: 1])], receivedWins: false)
        #expect(merge.result(here: PartDigests([.value: 2]), received: PartDigests([.value: 3])).fromEarlier == [.value])
        // The same on the other device.
        let other = PartMerge(common: [PartDigests([.value: 1])], own: [PartDigests([.value: 2])], receivedWins: true)
        #expect(other.result(here: PartDigests([.value: 3]), received: PartDigests([.value: 2])).fromEarlier == [.value])
    }

    @Test("An attribute that one device added or removed is there or gone, unless the other changed it") func absence() {
        let common = PartDigests([.value: 1, .comment: 1])
        let (removed, added) = (PartDigests([.value: 1]), PartDigests([.value: 1, .comment: 1, .label: 1]))
        let merge = PartMerge(common: [common], receivedWins: true)
        #expect(merge.result(here: removed, received: added).fromEarlier == [.comment])
        #expect(merge.result(here: added, received: removed).fromEarlier == [.label])
        let changed = PartDigests([.value: 1, .comment: 2])
        #expect(merge.result(here: removed, received: changed) == merge.result(here: PartDigests([.value: 1]), received: changed))
        #expect(merge.result(here: removed, received: changed).contested == [.comment])
    }

    @Test("Digests are read as they are written, and only in the order of the parts") func bytes() {
        let all = PartDigests(Dictionary(uniqueKeysWithValues: ItemPart.allCases.map { ($0, UInt64.max - UInt64($0.rawValue)) }))
        #expect(PartDigests(bytes: all.bytes) == all && all.bytes.count == PartDigests.bytesMax)
        #expect(all[.publicKeyHash] == .max - 15 && PartDigests([:])[.value] == 0)
        let pair = PartDigests([.value: 1, .label: 2]).bytes
        #expect(PartDigests(bytes: Array(pair[9...] + pair[..<9])) == nil)
        #expect(PartDigests(bytes: pair.dropLast()) == nil && PartDigests(bytes: [99] + pair[1..<9]) == nil)
        #expect(PartDigests(bytes: [1] + [UInt8](repeating: 0, count: 8)) == nil)
    }

    // MARK: Two devices

    @Test("Changes of different parts on two devices are both kept, in whatever order they synchronize", arguments: skews, [0, 1])
    func bothKept(_ skews: [Int64], first: Int) throws {
        for sendsFirst in [true, false] {
            var world = MergingWorld(skews: skews)
            world.edit(.value, by: 0)
            if sendsFirst { world.run(0) }
            world.edit(.comment, by: 1)
            world.run(first)
            let fault = world.end()
            #expect(fault == nil)
            let item = try #require(world.devices[0].item)
            #expect(item.parts[.value]?.number == 4 && item.parts[.comment]?.number == 5 && item.parts[.label]?.number == 3)
            #expect(world.devices.map(\.conflicts).reduce(0, +) >= 1)
        }
    }

    @Test("A part that a device takes back to an earlier value keeps that value") func takenBack() throws {
        // The second device restores an earlier value, without knowing that the first one changed another part.
        var world = MergingWorld(skews: [0, 0], valuesMax: 2)
        world.edit(.value, by: 0)
        world.run(0)
        world.run(1)
        world.edit(.comment, by: 0)
        world.edit(.label, by: 0)
        world.edit(.value, by: 1)
        let restored = try #require(world.devices[1].item?.parts[.value])
        #expect(restored.number == 7 && restored.digest == 2)
        world.run(1)
        let fault = world.end()
        #expect(fault == nil)
        #expect(world.devices[0].item?.parts[.value] == restored)
    }

    private enum Step: CaseIterable { case value, comment, run }

    @Test("Two devices lose no change to one of another part, after any six changes and runs", arguments: skews) func search(
        _ skews: [Int64]
    ) {
        var count = 0
        var faults: [String] = []
        func follow(_ world: MergingWorld, _ path: [String], steps: Int) {
            guard faults.isEmpty else { return }
            guard steps > 0 else {
                var last = world
                count += 1
                if let fault = last.end() { faults.append("\(path): \(fault)") }
                return
            }
            for step in Step.allCases {
                for number in 0..<2 {
                    var next = world
                    switch step {
                    case .value: next.edit(.value, by: number)
                    case .comment: next.edit(.comment, by: number)
                    case .run: next.run(number)
                    }
                    follow(next, path + ["\(step) by \(number)"], steps: steps - 1)
                }
            }
        }
        follow(MergingWorld(skews: skews), [], steps: 6)
        #expect(faults == [])
        #expect(count == 46_656)
    }

    /// Plays at random, and returns what is wrong.
    private func fault(
        _ seed: Int, skews: [Int64], valuesMax: Int = .max, kills: [MergingDevice.Kill] = [.never], mayLose: Bool = false
    ) -> String? {
        var random = SeededGenerator(UInt64(seed) &* 7919 &+ 1)
        var world = MergingWorld(skews: skews, valuesMax: valuesMax)
        for _ in 0..<40 {
            let number = Int.random(in: 0..<skews.count, using: &random)
            switch Int.random(in: 0..<8, using: &random) {
            case 0...3: world.edit(MergingWorld.parts[Int.random(in: 0..<3, using: &random)], by: number)
            case 4: world.devices[number].rewrap()
            default:
                let kill = kills[Int.random(in: 0..<kills.count, using: &random)]
                world.run(number, filesMax: Bool.random(using: &random) ? 1 : .max, killed: kill)
            }
        }
        return world.end(mayLose: mayLose)
    }

    @Test("Two devices lose no change to one of another part in long random runs that read late", arguments: 0..<500)
    func late(_ seed: Int) { #expect(fault(seed, skews: Self.skews[seed % 3]) == nil) }

    @Test("Nothing is lost if runs are killed after they put a merged item in place", arguments: 0..<500) func killed(_ seed: Int) {
        #expect(fault(seed, skews: [0, 0], kills: [.never, .afterMerging]) == nil)
    }

    @Test("Devices end alike whenever their runs are killed, and if they set earlier values again", arguments: 0..<500)
    func killedAnywhere(_ seed: Int) {
        #expect(fault(seed, skews: Self.skews[seed % 3], kills: MergingDevice.Kill.allCases, mayLose: true) == nil)
        #expect(fault(seed, skews: Self.skews[seed % 3], valuesMax: 3, kills: MergingDevice.Kill.allCases, mayLose: true) == nil)
    }

    @Test("Three devices end alike", arguments: 0..<500) func three(_ seed: Int) {
        let skews: [Int64] = seed % 2 == 0 ? [0, 0, 0] : [0, 31_536_000_000_000, -1_000_000]
        #expect(fault(seed, skews: skews, kills: MergingDevice.Kill.allCases, mayLose: true) == nil)
    }

    @Test("Three devices that change one part each, and synchronize in turn, keep all three changes", arguments: 0..<6)
    func threeParts(_ order: Int) throws {
        let orders = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]]
        var world = MergingWorld(skews: [0, 0, 0])
        for number in 0..<3 { world.edit(MergingWorld.parts[number], by: number) }
        for number in orders[order] { world.run(number) }
        let fault = world.end()
        #expect(fault == nil)
        let item = try #require(world.devices[0].item)
        #expect(MergingWorld.parts.map { item.parts[$0]?.number } == [4, 5, 6])
    }

    // MARK: What is not known

    @Test("Without a noted version that both knew, the conflict is decided for the whole item") func unknown() {
        var world = MergingWorld(skews: [0, 0])
        let name = MergingDevice.name
        world.edit(.value, by: 0)
        for number in 0..<2 { world.run(number) }
        world.edit(.comment, by: 1)
        world.run(1)
        // An earlier state has no versions.
        let entries = world.devices[0].state.ledger.entries.mapValues { entry in
            var entry = entry
            entry.versions = []
            return entry
        }
        world.devices[0].state.ledger = SyncLedger(device: world.devices[0].device, entries: entries)
        #expect(world.devices[0].state.ledger.unknownVersions(read: world.devices[0].state.read) == [name])
        world.edit(.label, by: 0)
        world.run(0)
        var fault = world.end(mayLose: true)
        #expect(fault == nil)
        // The next conflict is merged again.
        world.edit(.value, by: 0)
        world.edit(.comment, by: 1)
        fault = world.end(mayLose: true)
        #expect(fault == nil)
        #expect(world.devices[0].item?.parts[.value]?.number == 7 && world.devices[1].item?.parts[.comment]?.number == 8)
    }

    @Test("A state has the last eight versions of an item, and none after one that it does not know") func versionsMax() {
        var world = MergingWorld(skews: [0, 0])
        let name = MergingDevice.name
        for _ in 0..<12 {
            world.edit(.value, by: 0)
            world.run(0)
        }
        #expect(world.devices[0].state.ledger.entries[name]?.versions.count == SyncedVersion.countMax)
        world.run(1)
        #expect(world.devices[1].state.ledger.entries[name]?.versions.count == SyncedVersion.countMax)
        world.edit(.comment, by: 0)
        world.run(0, killed: .afterWriting)
        world.edit(.comment, by: 0)
        world.run(0)
        let versions = world.devices[0].state.ledger.entries[name]?.versions ?? []
        #expect(versions.map(\.file.number) == [Int64(world.devices[0].files.count)])
    }
}

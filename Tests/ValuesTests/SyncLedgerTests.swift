// Merging synchronized items among three devices whose clocks disagree: even if changes arrive late, twice or out of order, all devices end
// with the newest change of every item, and no value is lost.

import Testing
import VaubanSyncModel

@Suite("Merging synchronized items")
struct SyncLedgerTests {
    /// The first operation with an effect is a write; the others follow in every order.
    @Test(
        "Three devices converge without loss after any five operations and runs in any order, even if files are late, doubled or reordered",
        arguments: 0..<3)
    func everyOrderConverges(_ first: Int) {
        var world = SyncedWorld()
        world.take(.write, by: first)
        var search = SyncedSearch()
        search.follow(world, SyncedSearch.Path(["write by \(first)"]), operations: 4)
        #expect(search.fault == nil)
        // At least this many orders begin this way, even without those that contain an operation without effect.
        #expect(search.count > 10_000)
    }

    @Test("Devices converge without loss after long random runs with lost, doubled and reordered changes", arguments: 0..<40)
    func randomRunsConverge(_ seed: Int) {
        var random = SeededGenerator(UInt64(seed) &+ 1)
        var world = SyncedWorld()
        for _ in 0..<60 {
            let (number, name) = (Int.random(in: 0..<3, using: &random), [UInt8.random(in: 1...3, using: &random)])
            switch Int.random(in: 0..<6, using: &random) {
            case 0, 1: world.take(.write, by: number, on: name)
            case 2: world.take([.delete, .undelete, .rename][Int.random(in: 0..<3, using: &random)], by: number, on: name)
            case 3:
                world.devices[number].rewrap()
                world.devices[number].edit(name, at: world.time)
            case 4: world.devices[number].publish(at: world.time)
            default:
                let all = world.devices.flatMap(\.log).shuffled(using: &random)
                for change in all.prefix(all.count / 2) + all.prefix(3) { world.devices[number].read(change, at: world.time) }
            }
        }
        world.exchangeAll { $0.shuffled(using: &random) + $0 }
        world.check("seed \(seed)")
    }

    @Test(
        "Items that were lost or rolled back come back from the other devices, and nothing deleted returns", arguments: 0..<1000
    )
    func rollbacksAreNoChanges(_ seed: Int) {
        var random = SeededGenerator(UInt64(seed) &+ 100)
        var world = SyncedWorld()
        let names = (1...4).map { [UInt8($0)] }
        func work(_ steps: Int) {
            for _ in 0..<steps {
                let number = Int.random(in: 0..<3, using: &random)
                let step: SyncedWorld.Step = [.write, .write, .delete, .undelete, .rename][Int.random(in: 0..<5, using: &random)]
                world.take(step, by: number, on: names[Int.random(in: 0..<4, using: &random)])
                if Int.random(in: 0..<3, using: &random) == 0 { world.take(.exchange, by: Int.random(in: 0..<3, using: &random)) }
            }
        }
        work(10)
        world.exchangeAll { $0 }
        let earlier = world.devices[0].keychain
        work(10)
        world.exchangeAll { $0 }
        let before = world.devices[1].items.mapValues(\.value)
        if seed % 2 == 0 {
            world.devices[0].keychain = earlier
        } else {
            for name in names.prefix(seed % 4 + 1) { world.devices[0].lose(name) }
        }
        world.exchangeAll { $0 }
        for device in world.devices { #expect(device.items.mapValues(\.value) == before) }
        #expect(world.devices[0].ledger.pending.isEmpty)
    }

    /// A device joins when the others have items and deletions, and its user restores an earlier state of one of them.
    private func joins(_ seed: Int, restoring: (inout SyncedDevice, [[UInt8]: SyncedDevice.Item]) -> Void) -> SyncedWorld {
        var random = SeededGenerator(UInt64(seed) &+ 7000)
        var world = SyncedWorld()
        // Dates show what was restored only if the clocks agree.
        world.devices = (1...3).map { SyncedDevice($0, skew: 0) }
        func work(_ steps: Int) {
            for _ in 0..<steps {
                let step: SyncedWorld.Step = [.write, .write, .delete][Int.random(in: 0..<3, using: &random)]
                world.take(step, by: Int.random(in: 0..<2, using: &random), on: [UInt8.random(in: 1...6, using: &random)])
            }
            for _ in 0..<2 { for number in 0..<2 { world.take(.exchange, by: number) } }
        }
        let joining = world.devices.removeLast()
        work(12)
        let backup = world.devices[seed % 2].items
        work(12)
        world.devices.append(joining)
        restoring(&world.devices[2], backup)
        return world
    }

    @Test(
        "Items restored on a joining device do not bring back what others deleted, before or after it has read of the deletions",
        arguments: 0..<300)
    func restoredItemsStayDeleted(_ seed: Int) {
        let first = joins(seed) { device, backup in for (name, item) in backup { device.restore(name, item) } }
        var later = joins(seed) { _, _ in }
        later.take(.exchange, by: 2)
        _ = joins(seed) { _, backup in for (name, item) in backup { later.devices[2].restore(name, item) } }
        for var world in [first, later] {
            let before = world.devices[0].items.mapValues(\.value)
            world.exchangeAll { $0 }
            for device in world.devices { #expect(device.items.mapValues(\.value) == before) }
            world.check("seed \(seed)")
            // An item added under the name of a deleted one is new, whatever the clocks show.
            for name in (1...6).map({ [UInt8($0)] }) where world.devices[2].items[name] == nil {
                world.take(.write, by: 2, on: name)
            }
            world.exchangeAll { $0 }
            for device in world.devices { #expect(device.items.count == 6) }
            world.check("seed \(seed), added")
        }
    }

    @Test("A run that is killed after it changed the keychain deletes and changes nothing on other devices", arguments: 0..<400)
    func killedRunsAreNoChanges(_ seed: Int) {
        var random = SeededGenerator(UInt64(seed) &+ 2000)
        var world = SyncedWorld()
        for _ in 0..<12 {
            let step: SyncedWorld.Step = [.write, .write, .delete, .undelete, .rename][Int.random(in: 0..<5, using: &random)]
            world.take(step, by: Int.random(in: 1..<3, using: &random), on: [UInt8.random(in: 1...3, using: &random)])
            if Int.random(in: 0..<3, using: &random) == 0 { world.take(.exchange, by: Int.random(in: 1..<3, using: &random)) }
        }
        for number in 1..<3 { world.take(.exchange, by: number) }
        for number in 1..<3 { world.take(.exchange, by: number) }
        let before = world.devices[1].items.mapValues(\.value)
        // The first device reads some of the changes, and is killed at each of them.
        for change in world.devices[1...].flatMap(\.log).prefix(Int.random(in: 1..<9, using: &random)) {
            world.devices[0].read(change, at: world.time, isKilled: true)
        }
        world.exchangeAll { $0 }
        for device in world.devices { #expect(device.items.mapValues(\.value) == before) }
    }

    @Test("Changes of an earlier removed device that a removed device had repeated are repeated by a device that knows them")
    func repetitionsAreRepeated() {
        // The third device changes an item, which only the second reads. The second removes the third; then the first, which has read
        // nothing of this, removes the second.
        var world = SyncedWorld()
        world.take(.write, by: 2)
        world.devices[2].publish(at: world.time)
        for change in world.devices[2].log { world.devices[1].read(change, at: world.time) }
        _ = world.devices.removeLast()
        world.devices[1].ledger.repeatAll()
        world.devices[1].publish(at: world.time)
        let second = world.devices.removeLast()
        world.devices.append(SyncedDevice(7, skew: 0))
        for change in second.log { world.devices[1].read(change, at: world.time) }
        world.devices[1].ledger.repeatChanges(ofOthersThan: Set(world.devices.map(\.ledger.device)))
        world.exchangeAll { $0 }
        for device in world.devices { #expect(device.items.mapValues(\.value) == [[1]: 1]) }
    }

    @Test("A device that joins after a removed device's files are gone has everything that the others have", arguments: 0..<400)
    func removedFilesAreNotNeeded(_ seed: Int) {
        var random = SeededGenerator(UInt64(seed) &+ 5000)
        var world = SyncedWorld()
        let names = (1...4).map { [UInt8($0)] }
        func work(_ steps: Int, _ devices: ClosedRange<Int>) {
            for _ in 0..<steps {
                let number = Int.random(in: devices, using: &random)
                let step: SyncedWorld.Step = [.write, .write, .delete, .undelete, .rename][Int.random(in: 0..<5, using: &random)]
                world.take(step, by: number, on: names[Int.random(in: 0..<4, using: &random)])
                if Int.random(in: 0..<3, using: &random) == 0 { world.take(.exchange, by: Int.random(in: devices, using: &random)) }
            }
        }
        work(20, 0...2)
        // The first device removes the last one: it reads everything, and writes everything again. The other device has read some, and
        // repeats that.
        world.devices[2].publish(at: world.time)
        for change in world.devices[1...].flatMap(\.log).shuffled(using: &random) { world.devices[0].read(change, at: world.time) }
        for change in world.devices[2].log.prefix(seed % 8) { world.devices[1].read(change, at: world.time) }
        let removed = world.devices.removeLast()
        world.devices[0].stamp(at: world.time)
        world.devices[0].ledger.repeatAll()
        world.devices[1].ledger.repeatChanges(ofOthersThan: Set(world.devices.map(\.ledger.device)))
        // The others keep working, and a run that is killed repeats everything once more.
        if seed % 3 == 0 { world.devices[0].ledger.repeatAll() }
        work(seed % 5, 0...1)
        world.exchangeAll { $0.shuffled(using: &random) + $0 }
        // From here on, the removed device's files are gone for every device.
        world.devices.append(SyncedDevice(9, skew: 5))
        world.exchangeAll { $0.shuffled(using: &random) }
        let newest = world.devices[0].items.mapValues(\.value)
        for device in world.devices { #expect(device.items.mapValues(\.value) == newest) }
        let last = Dictionary(grouping: world.devices.flatMap(\.log) + removed.log, by: \.name).compactMapValues {
            $0.max { $0.stamp < $1.stamp }
        }
        for (name, change) in last { #expect(newest[name] == change.value) }
    }

    @Test(
        "A device's changes that are still the newest are enough for devices that were rolled back and for devices that join",
        arguments: 0..<400)
    func newestChangesSuffice(_ seed: Int) {
        var random = SeededGenerator(UInt64(seed) &+ 9000)
        var world = SyncedWorld()
        var earlier = world.devices[0]
        for step in 0..<40 {
            let (number, name) = (Int.random(in: 0..<3, using: &random), [UInt8.random(in: 1...4, using: &random)])
            world.take(SyncedWorld.Step.allCases[Int.random(in: 0..<5, using: &random)], by: number, on: name)
            if step == seed % 40 {
                world.devices[0].publish(at: world.time)
                earlier = world.devices[0]
            }
            guard Int.random(in: 0..<6, using: &random) == 0 else { continue }
            // All have read what this device wrote. It keeps only its own changes that are still the newest; those of others are in their
            // files.
            world.devices[number].publish(at: world.time)
            let log = world.devices[number].log
            for other in world.devices.indices where other != number {
                for change in log { world.devices[other].read(change, at: world.time) }
            }
            let ledger = world.devices[number].ledger
            world.devices[number].log = log.filter { $0.stamp.device == ledger.device && ledger.entries[$0.name]?.stamp == $0.stamp }
        }
        world.exchangeAll { $0.shuffled(using: &random) }
        world.check("seed \(seed)")
        // A whole device is rolled back. The folder still has what it has written since.
        earlier.log = world.devices[0].log
        earlier.history = world.devices[0].history
        world.devices[0] = earlier
        world.devices.append(SyncedDevice(9, skew: 5))
        world.exchangeAll { $0.shuffled(using: &random) + $0 }
        world.check("seed \(seed), put back")
    }

    @Test("Encrypting a row again is not a change, and a repeated change keeps its stamp")
    func onlyChangesAreStamped() {
        var device = SyncedDevice(1, skew: 0)
        device.write([1], 1, at: 5)
        device.publish(at: 6)
        device.rewrap()
        device.stamp(at: 7)
        #expect(device.ledger.pending.isEmpty)
        let before = device.ledger.entries[[1]]?.stamp
        device.ledger.repeatAll()
        #expect(device.ledger.pending == [[1]] && device.ledger.entries[[1]]?.stamp == before)
        device.delete([1])
        device.stamp(at: 1)
        let deletion = device.ledger.entries[[1]]
        #expect(deletion?.mark == nil && deletion.map { $0.stamp > before ?? $0.stamp } == true)
    }
}

// What two devices that change the same item are told, and what is kept (Specs/sync.md, "Conflicts").

import Testing
import VaubanSyncModel

@Suite("Conflicts of synchronized items")
struct SyncConflictTests {
    /// Devices with one item that the first two share.
    private func shared(skew: Int64 = 0) -> SyncedWorld {
        var world = SyncedWorld()
        world.devices = [SyncedDevice(1, skew: 0), SyncedDevice(2, skew: skew), SyncedDevice(3, skew: 0)]
        world.take(.write, by: 0)
        world.take(.exchange, by: 0)
        world.take(.exchange, by: 1)
        return world
    }

    @Test("A device whose change was not sent when a later one arrives is told that it was replaced, once") func unsent() {
        var world = shared()
        for number in 0..<2 { world.take(.write, by: number) }
        world.take(.exchange, by: 1)
        for _ in 0..<2 { for number in 0..<2 { world.take(.exchange, by: number) } }
        #expect(world.devices[0].conflicts == [.replaced])
        #expect(world.devices[1].conflicts.isEmpty)
        #expect(world.devices[0].history.values.contains(2) && world.devices[0].items[[1]]?.value == 3)
    }

    @Test("A device that changes an item before it reads an earlier change is told that its own is kept, once") func unread() {
        var world = shared()
        world.take(.write, by: 0)
        world.take(.exchange, by: 0)
        world.take(.write, by: 1)
        for _ in 0..<2 { for number in [1, 0] { world.take(.exchange, by: number) } }
        #expect(world.devices[1].conflicts == [.kept])
        #expect(world.devices[0].conflicts.isEmpty)
        #expect(world.devices[0].history.values.contains(2) && world.devices[0].items[[1]]?.value == 3)
    }

    @Test("A change made with knowledge of the other is no conflict, even if the other is written again") func inTurn() {
        var world = shared()
        world.take(.write, by: 1)
        world.devices[0].ledger.repeatAll()
        world.devices[0].publish(at: world.time)
        world.take(.exchange, by: 1)
        world.devices[0].ledger.repeatAll()
        for number in [0, 1, 2] { world.take(.exchange, by: number) }
        world.take(.write, by: 2)
        for number in [2, 0, 1] { world.take(.exchange, by: number) }
        for device in world.devices { #expect(device.conflicts.isEmpty && device.items[[1]]?.value == 3) }
    }

    @Test("A device that takes its own change back from its files reports no conflict with what it had read before") func takenBack() {
        var world = shared()
        world.take(.write, by: 1)
        for number in [1, 0] { world.take(.exchange, by: number) }
        world.take(.write, by: 0)
        for number in [0, 1] { world.take(.exchange, by: number) }
        world.devices[0].lose([1])
        let files = world.devices[0].log + world.devices[1].log
        world.devices[0].run(reading: files, at: world.time)
        #expect(world.devices[0].conflicts.isEmpty && world.devices[0].items[[1]]?.value == 3)
    }

    @Test("A device is told that another deleted what it changed, or changed what it deleted") func deletions() {
        var world = shared()
        world.take(.write, by: 0)
        world.take(.delete, by: 1)
        for number in [1, 0] { world.take(.exchange, by: number) }
        #expect(world.devices[0].conflicts == [.deleted] && world.devices[0].items.isEmpty)
        // The clock of the other device is ahead, so that its change is later than the deletion.
        world = shared(skew: 1000)
        world.take(.delete, by: 0)
        world.take(.write, by: 1)
        for number in [1, 0] { world.take(.exchange, by: number) }
        #expect(world.devices[0].conflicts == [.returned] && world.devices[0].items[[1]]?.value == 2)
    }

    @Test("The same state of an item on two devices, and items of a device that does not know what it has read, are no conflicts")
    func restored() throws {
        var world = shared()
        let copy = try #require(world.devices[0].items[[1]])
        world.devices[2].restore([1], copy)
        for number in [2, 0, 1] { world.take(.exchange, by: number) }
        for device in world.devices { #expect(device.conflicts.isEmpty) }
        for number in 0..<2 { world.take(.write, by: number) }
        world.devices[0].stamp(at: world.time)
        world.devices[0].ledger.forgetConflicts()
        for number in [1, 0] { world.take(.exchange, by: number) }
        #expect(world.devices[0].conflicts.isEmpty && world.devices[0].items[[1]]?.value == 3)
    }

    @Test("The value that lost a conflict stays in the history through received changes of attributes, and leaves it after ten values")
    func attributesDisplaceNothing() {
        var world = shared()
        for number in 0..<2 { world.take(.write, by: number) }
        func exchange() { for number in [1, 0] { world.take(.exchange, by: number) } }
        exchange()
        for _ in 0..<11 {
            world.time += 10
            world.devices[1].edit([1], at: world.time)
            exchange()
        }
        #expect(world.devices[0].history.values == [1, 2])
        for _ in 0..<10 {
            world.take(.write, by: 1)
            exchange()
        }
        #expect(world.devices[0].history.values == Set(3...12) && world.devices[0].history.displaced == [1, 2])
    }
}

// Merging synchronized items, with many more devices than a circle can have.

import Testing
import VaubanSyncModel

@Suite("Merging synchronized items of many devices")
struct SyncLedgerCrowdTests {
    @Test("Ten thousand devices with clocks up to a year off converge without loss after they change and delete the same items")
    func tenThousandDevicesConverge() {
        var random = SeededGenerator(10_000)
        var world = SyncedWorld()
        world.devices = (0..<10_000).map { number in
            SyncedDevice(
                device: [UInt8(number >> 8), UInt8(number & 255)] + [UInt8](repeating: 7, count: 14),
                skew: Int64.random(in: -Self.year...Self.year, using: &random))
        }
        for _ in 0..<600 {
            // Some devices return, so that they change items that they know from others.
            let number = Bool.random(using: &random) ? Int.random(in: 0..<20, using: &random) : Int.random(in: 0..<10_000, using: &random)
            let step: SyncedWorld.Step = [.write, .write, .write, .delete, .undelete, .rename][Int.random(in: 0..<6, using: &random)]
            world.take(step, by: number, on: [UInt8.random(in: 1...24, using: &random)])
            world.devices[number].publish(at: world.time)
            if Int.random(in: 0..<3, using: &random) == 0 {
                let all = world.devices.flatMap(\.log).shuffled(using: &random)
                world.devices[number].run(reading: Array(all.prefix(all.count / 2)), at: world.time)
            }
        }
        world.exchangeAll { $0 }
        // The run did something: there are many values and items.
        #expect(world.values > 200 && world.devices[9_999].items.count > 2)
        world.check("ten thousand devices")
    }

    /// A year in microseconds.
    private static let year: Int64 = 31_536_000_000_000
}

// Compaction of the files of vauban sync among devices to which files come late, in any order or never, whose runs are killed, and which
// are rolled back (Specs/sync.md, "Compaction"). A fourth device joins late, and a fifth after the end.

import Synchronization
import Testing
import VaubanCommands
import VaubanRefusal
import VaubanSyncModel

@Suite("Compaction among devices")
struct CompactionSimulationTests {
    @Test(
        "All devices end with the newest changes, and nothing deleted returns, if files come late or never and runs are killed anywhere",
        arguments: 0..<50 as Range<UInt64>)
    func devicesConverge(_ seed: UInt64) throws {
        var circle = SimulatedCircle(seed: seed)
        for _ in 0..<120 { try circle.step() }
        try circle.synchronizeAll()
        #expect(circle.compactions > 0, "nothing was compacted")
        try circle.check()
        try circle.add(9)
        try circle.synchronizeAll()
        try circle.check()
    }

    @Test("A device whose state and database are rolled back ends with what the others have", arguments: 0..<30 as Range<UInt64>)
    func putBackDevicesConverge(_ seed: UInt64) throws {
        var circle = SimulatedCircle(seed: seed &+ 1000)
        for _ in 0..<40 { try circle.step() }
        // Everything that the device has written so far is carried, so nothing exists only there.
        try circle.synchronizeAll()
        let number = Int(seed % 3)
        let earlier = circle.devices[number].disk
        for _ in 0..<80 { try circle.step() }
        try circle.synchronizeAll()
        circle.devices[number].disk = earlier
        circle.devices[number].disk.isEarlier = true
        for _ in 0..<20 { try circle.step(among: circle.devices.indices.filter { $0 != number }) }
        try circle.synchronizeAll()
        try circle.check()
    }

    @Test("Items lost during compaction come back", arguments: 0..<20 as Range<UInt64>)
    func lostItemsComeBack(_ seed: UInt64) throws {
        var circle = SimulatedCircle(seed: seed &+ 2000)
        for step in 0..<120 {
            try circle.step()
            if step % 10 == 9 {
                // An item that no device has read yet would be lost for good.
                try circle.synchronizeAll()
                circle.loseItem()
            }
        }
        try circle.synchronizeAll()
        try circle.check()
        try circle.add(9)
        try circle.synchronizeAll()
        try circle.check()
    }

    @Test(
        "Files stay until every member has read what was rewritten, and a member that was away then has everything",
        arguments: 0..<10 as Range<UInt64>)
    func awayDevicesKeepFiles(_ seed: UInt64) throws {
        var circle = SimulatedCircle(seed: seed &+ 3000)
        try circle.synchronizeAll()
        let away = 2
        let others = [0, 1]
        circle.isJoining = false
        for _ in 0..<150 { try circle.step(among: others) }
        for number in others {
            #expect(circle.devices[number].folder.names(in: .device(circle.devices[number].device)).contains("00000002"))
            let run = try SimulatedRun(circle.devices[number], now: 0)
            #expect(run.state.recorded == nil)
            if run.state.compaction.map({ $0.end > 0 }) == true {
                #expect(run.state.awaited(among: run.view.members).map(\.device).contains(circle.devices[away].device))
            }
        }
        try circle.synchronizeAll()
        try circle.synchronizeAll()
        #expect(circle.compactions > 0)
        try circle.check()
    }
}

/// Devices of one circle, and the carrier between them.
struct SimulatedCircle {
    var devices = [CompactingDevice(3), CompactingDevice(1), CompactingDevice(2)]
    /// Whether a fourth device joins later.
    var isJoining = true
    /// The number of records made.
    private(set) var compactions = 0
    private var time: Int64 = 1000
    private var values: UInt16 = 0
    private var dice: Dice
    /// The newest change of each item by any device; nil for a deletion.
    private var newest: [[UInt8]: (stamp: SyncStamp, value: UInt16?)] = [:]

    init(seed: UInt64) {
        dice = Dice(state: seed &* 0x9E37_79B9_7F4A_7C15 &+ 1)
        for number in devices.indices { devices[number].members = devices.map(\.member) }
    }

    /// SplitMix64.
    private struct Dice: RandomNumberGenerator {
        var state: UInt64

        mutating func next() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var mixed = state
            mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
            mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
            return mixed ^ (mixed >> 31)
        }
    }

    private mutating func roll(_ sides: Int) -> Int { Int.random(in: 0..<sides, using: &dice) }

    private mutating func rollName() -> [UInt8] { [UInt8](repeating: UInt8(roll(4) + 1), count: 16) }

    /// Makes something happen to some of the devices.
    mutating func step(among some: [Int]? = nil) throws {
        time += 10
        let some = some ?? Array(devices.indices)
        let number = some[roll(some.count)]
        let name = rollName()
        switch roll(10) {
        case 0, 1, 2:
            values += 1
            devices[number].write(name, values, at: time)
        case 3: devices[number].delete(name)
        case 4 where isJoining && devices.count == 3 && roll(10) == 0: try add(4, knownToAll: false)
        case 4: devices[number].members = devices.map(\.member)
        case 5: carry(from: some[roll(some.count)], to: number, all: false)
        case 6: carry(from: some[roll(some.count)], to: number, all: true)
        case 7: try run(number, killedAfter: roll(6) + 1)
        default: try run(number, killedAfter: nil)
        }
    }

    /// Adds a device, of which the others learn later.
    mutating func add(_ number: UInt8, knownToAll: Bool = true) throws {
        devices.append(CompactingDevice(number))
        let members = devices.map(\.member)
        for number in knownToAll ? Array(devices.indices) : [devices.count - 1] { devices[number].members = members }
    }

    mutating func loseItem() {
        let number = roll(devices.count)
        devices[number].lose(rollName())
    }

    /// Carries what a device has written to another device's copy: all of it, or some of what is new, replaced or gone.
    private mutating func carry(from writer: Int, to reader: Int, all: Bool) {
        guard writer != reader else { return }
        let section = devices[writer].section + "/"
        let (source, target) = (devices[writer].folder, devices[reader].folder)
        let names = Set(source.files.keys).union(target.files.keys).filter { $0.hasPrefix(section) }.sorted()
        for name in names where source.files[name] != target.files[name] {
            if all || roll(2) == 0 { target.files[name] = source.files[name] }
        }
    }

    private static let limits = CompactionLimits(filesMin: 4, unreportedMax: 2, removedMax: 2)

    /// Has a device run, up to one of its steps.
    private mutating func run(_ number: Int, killedAfter steps: Int?) throws {
        let counter = Counter(steps ?? .max)
        let limits = CompactionLimits(
            filesMin: Self.limits.filesMin, unreportedMax: Self.limits.unreportedMax, removedMax: Self.limits.removedMax,
            didStep: { try counter.count($0) })
        var run = try SimulatedRun(devices[number], now: time)
        run.didStep = { try counter.count($0) }
        run.didMerge = { try counter.countMerge() }
        do { try run.synchronize(limits) } catch is Killed {}
        if counter.recorded { compactions += 1 }
        for change in run.written where newest[change.name].map({ $0.stamp < change.stamp }) ?? true {
            newest[change.name] = (change.stamp, change.value)
        }
        devices[number] = run.device
        lastFaults[number] = run.faults
    }

    private var lastFaults: [Int: [String]] = [:]

    /// Carries everything to every device, until all have read everything.
    mutating func synchronizeAll() throws {
        for number in devices.indices { devices[number].members = devices.map(\.member) }
        for _ in 0..<6 {
            for number in devices.indices {
                for other in devices.indices { carry(from: other, to: number, all: true) }
                time += 10
                try run(number, killedAfter: nil)
            }
        }
    }

    /// Checks that all devices have the newest change of each item and nothing else, and that none reports a fault.
    func check() throws {
        for (number, device) in devices.enumerated() {
            let name = "device \(device.device[0])"
            #expect(lastFaults[number] == [], "\(name)")
            let values = device.disk.items.mapValues(\.value)
            #expect(values == newest.compactMapValues(\.value), "\(name)")
        }
    }
}

/// Counts the steps of a run, and kills it.
private final class Counter: Sendable {
    private struct State {
        var left: Int
        var recorded = false
    }
    private let state: Mutex<State>

    init(_ steps: Int) { state = Mutex(State(left: steps)) }

    var recorded: Bool { state.withLock(\.recorded) }

    func count(_ step: CompactionStep) throws {
        if step == .recorded { state.withLock { $0.recorded = true } }
        try count()
    }

    func countMerge() throws { try count() }

    private func count() throws {
        try state.withLock { state in
            state.left -= 1
            if state.left == 0 { throw Killed() }
        }
    }
}

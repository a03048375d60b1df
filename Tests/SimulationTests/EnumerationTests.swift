import SimulatedHost
import Testing

/// The enclave and its model over every short sequence of operations, events and faults.
@Suite struct EnumerationTests {
    /// Worlds with the same future are continued once; the counts show how many sequences each represents.
    @Test("Every sequence of five steps matches the model") func everySequenceOfFiveStepsMatchesTheModel() throws {
        var enumeration = try Enumeration()
        var worlds: [Int] = []
        for depth in 1...5 {
            worlds.append(enumeration.level.count)
            try enumeration.advance(Step.plain, isLast: depth == 5)
        }
        let coverage = enumeration.coverage
        print(
            "five steps out of \(Step.plain.count): \(Self.words(enumeration.sequencesAtTheEnd)) sequences, merged to \(worlds) worlds and "
                + "\(coverage.steps) steps; \(coverage.rowsRead) rows read with nothing, the passcode and a finger")
        #expect(worlds.count == 5 && worlds[4] > 1000 && coverage.steps > 40_000)
    }

    /// Two operations, each of which may fail at every step of the disk, be killed at every instant, and lose power at every instant with
    /// everything that the disk may keep; and any step after them.
    @Test("Every fault at every instant leaves the old or the new state") func everyFaultAtEveryInstantLeavesTheOldOrTheNew() throws {
        var enumeration = try Enumeration()
        var worlds: [Int] = []
        for depth in 1...3 {
            worlds.append(enumeration.level.count)
            try enumeration.advance(Step.plain, withFaults: depth < 3, isLast: depth == 3)
        }
        let coverage = enumeration.coverage
        print(
            "two steps with every fault and one without: \(worlds) worlds, \(coverage.steps) steps, \(coverage.failing) on a failing disk, "
                + "\(coverage.kills) kills, \(coverage.survivors) disks left by power cuts, \(coverage.restarts) of them different")
        #expect(coverage.failing > 1000 && coverage.kills > 1000 && coverage.survivors > 10_000)
    }

    /// The steps that matter most for keys and attempts.
    private static let core: [Step] =
        [.set, .roll, .remove, .unlock, .unlockWrong, .lock, .add].map { .operation($0) }
        + [.event(.restart), .event(.minutePasses), .killed(.change, instant: 12), .failing(.unlock, .broken(at: 7))]

    /// The same without merging, to find even what no model, file or status shows.
    @Test("Every sequence of four core steps alone matches the model") func everySequenceOfFourCoreStepsMatchesTheModel() throws {
        var count = 0
        func explore(_ world: World, _ depth: Int) throws {
            for step in Self.core {
                do {
                    let after = try world.after(step)
                    count += 1
                    if depth > 1 { try explore(after, depth - 1) } else { try after.observe(rows: count.isMultiple(of: 8)) }
                } catch let difference as Difference {
                    throw Counterexample(path: world.path + [step], difference: difference)
                }
            }
        }
        try explore(World(), 4)
        print("four steps out of \(Self.core.count), nothing merged: \(count) steps")
        #expect(count == 11 + 121 + 1331 + 14_641)
    }

    private static func words(_ count: Double) -> String { "\(Int(count))" }
}

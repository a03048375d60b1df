import SimulatedHost

/// Long sequences by seed.
enum Sampling {
    /// Returns a step of any kind. It does not depend on the steps around it, so that steps can be left out.
    static func step(_ chance: inout SplitMix64) -> Step {
        let operation = Operation.allCases[chance.below(Operation.allCases.count)]
        switch chance.below(20) {
        case 0..<10: return .operation(operation)
        case 10..<14: return .event(Event.allCases[chance.below(Event.allCases.count)])
        case 14: return .event(.hourPasses)
        case 15: return .killed(operation, instant: chance.below(64))
        case 16: return .powerCut(operation, instant: chance.below(64), seed: chance.next())
        default:
            let step = chance.below(30)
            let faults: [SimulatedDisk.Fault] = [
                .full(from: step), .short(at: step), .broken(at: step), .broken(at: step), .readOnly(from: step),
            ]
            return .failing(operation, faults[chance.below(faults.count)])
        }
    }

    static func steps(_ count: Int, seed: UInt64) -> [Step] {
        var chance = SplitMix64(seed: seed)
        return (0..<count).map { _ in step(&chance) }
    }

    /// Returns the first difference between the steps and the model; nil if there is none.
    static func failure(of steps: [Step], flaw: Flaw? = nil) throws -> Counterexample? {
        var world = try World(flaw: flaw)
        for (index, step) in steps.enumerated() {
            do {
                world = try world.after(step)
                try world.observe(rows: index.isMultiple(of: 16))
            } catch let difference as Difference {
                return Counterexample(path: Array(steps.prefix(index + 1)), difference: difference)
            }
        }
        return nil
    }

    /// Returns the same failure, or another one, with as few steps as leaving out one at a time achieves.
    static func shortened(_ failure: Counterexample, flaw: Flaw? = nil) throws -> Counterexample {
        var shortest = failure
        var index = 0
        while index < shortest.path.count {
            var fewer = shortest.path
            fewer.remove(at: index)
            if let found = try Self.failure(of: fewer, flaw: flaw) { shortest = found } else { index += 1 }
        }
        return shortest
    }
}

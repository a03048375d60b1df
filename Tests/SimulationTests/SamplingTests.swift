import Testing

@Suite struct SamplingTests {
    private static let seeds = 120
    private static let stepsEach = 200

    @Test("Long random sequences match the model") func longSequencesMatchTheModel() throws {
        var steps = 0
        for seed in 1...UInt64(Self.seeds) {
            let sequence = Sampling.steps(Self.stepsEach, seed: seed)
            if let failure = try Sampling.failure(of: sequence) {
                Issue.record("seed \(seed), \(failure.path.count) steps; shortened: \(try Sampling.shortened(failure))")
                return
            }
            steps += sequence.count
        }
        print("sampled: \(Self.seeds) seeds of \(Self.stepsEach) steps, \(steps) steps")
    }

    /// A comparison that accepts a flawed host would prove nothing.
    @Test("Every planted flaw is found", arguments: Flaw.allCases) func everyPlantedFlawIsFound(_ flaw: Flaw) throws {
        for seed in 1...300 as ClosedRange<UInt64> {
            guard let failure = try Sampling.failure(of: Sampling.steps(80, seed: seed), flaw: flaw) else { continue }
            print("\(flaw.rawValue): found by seed \(seed), \(try Sampling.shortened(failure, flaw: flaw))")
            return
        }
        Issue.record("\(flaw.rawValue) was not found")
    }
}

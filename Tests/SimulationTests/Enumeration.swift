import SimulatedHost

// Every sequence, breadth first. Worlds with the same future are continued once, and counted for all of them.

/// How much was covered.
struct Coverage {
    /// Steps that were performed and compared.
    var steps = 0
    /// Operations that ran on a failing disk, kills, and disks that power cuts left.
    var failing = 0, kills = 0, survivors = 0
    /// Disks after a cut over which the enclave was started again.
    var restarts = 0
    /// Rows of the worlds in which each was read with all evidence that a user can present.
    var rowsRead = 0
}

/// A failure, with the steps that lead to it.
struct Counterexample: Error, CustomStringConvertible {
    let path: [Step]
    let difference: Difference
    var description: String { "after \(path.map(\.description).joined(separator: ", ")): \(difference)" }
}

struct Enumeration {
    private(set) var coverage = Coverage()
    /// Worlds by their future, and the number of sequences that lead to an equal one.
    private(set) var level: [StateKey: (world: World, methods: Double)]

    init() throws {
        let start = try World()
        level = [StateKey(start): (start, 1)]
    }

    var sequences: Double { level.values.reduce(0) { $0 + $1.methods } }

    /// Performs every step in every world of the level.
    mutating func advance(_ steps: [Step], withFaults: Bool = false, isLast: Bool = false) throws {
        var next: [StateKey: (world: World, methods: Double)] = [:]
        for (world, methods) in level.values {
            for step in steps {
                var reached: [World] = []
                try claiming(world.path + [step]) {
                    if withFaults, case .operation(let operation) = step {
                        reached = try everyWay(operation, in: world)
                    } else {
                        reached = [try world.after(step)]
                        coverage.steps += 1
                    }
                    for after in reached { try after.observe(rows: false) }
                }
                if isLast {
                    sequencesAtTheEnd += methods * Double(reached.count)
                    continue
                }
                for after in reached {
                    let key = StateKey(after)
                    next[key, default: (after, 0)].methods += methods
                }
            }
        }
        level = next
        for (world, _) in level.values {
            try claiming(world.path) { try world.observe(rows: true) }
            coverage.rowsRead += world.rows.count
        }
    }

    /// Sequences that end with the last level, which is not kept.
    private(set) var sequencesAtTheEnd = 0.0

    private func claiming(_ path: [Step], _ body: () throws -> Void) throws {
        do { try body() } catch let difference as Difference { throw Counterexample(path: path, difference: difference) }
    }

    /// Performs the operation alone; with every fault at every step of the disk; killed at every instant; and with a power cut at every
    /// instant, for everything that the disk may keep. Worlds with the same files after a cut count as one.
    private mutating func everyWay(_ operation: Operation, in world: World) throws -> [World] {
        let calm = try Trial(world, operation, tracing: true)
        coverage.steps += 1
        var reached = [calm.after]
        for steps in calm.trace.indices {
            try cut(calm, at: steps, as: .killed(operation, instant: steps), into: &reached)
        }
        for step in 0..<calm.trace.count - 1 {
            for fault in [.full(from: step), .short(at: step), .broken(at: step), .readOnly(from: step)] as [SimulatedDisk.Fault] {
                do {
                    let trial = try Trial(world, operation, fault: fault, tracing: true)
                    coverage.failing += 1
                    reached.append(trial.after)
                    try cut(trial, at: trial.trace.count - 1, as: .failing(operation, fault), into: &reached)
                } catch let difference as Difference {
                    throw Difference("\(fault): \(difference)")
                }
            }
        }
        var seen: Set<StateKey> = []
        return reached.filter { seen.insert(StateKey($0)).inserted }
    }

    private struct Left: Hashable {
        let files: [String: [UInt8]]
        let isCompared: Bool
        let power: Bool
    }
    private var left: Set<Left> = []

    private mutating func cut(_ trial: Trial, at steps: Int, as step: Step, into reached: inout [World]) throws {
        let image = trial.trace[steps]
        var images = [(image, false)]
        coverage.kills += 1
        if !image.isDurable {
            guard let survivors = image.survivors(max: 20_000) else { throw Difference("too many disks may be left") }
            coverage.survivors += survivors.count
            images += survivors.map { ($0, true) }
        }
        for (image, power) in images {
            let files = try trial.files(in: image, after: steps)
            // The content of a temporary file is never read; only its existence matters.
            var names = image.files.mapValues { _ in [UInt8]() }
            names["keybag"] = files.bags[0].bytes
            names["attempts"] = files.records[0].bytes
            let isCompared = trial.comparesBy.map { $0 <= steps } ?? false
            guard left.insert(Left(files: names, isCompared: isCompared, power: power)).inserted else { continue }
            coverage.restarts += 1
            reached.append(try trial.cut(at: steps, leaving: image, files, power: power, path: step))
        }
    }
}

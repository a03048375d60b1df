import Foundation

/// Prints the tables, in microseconds.
enum Report {
    static func print(_ rounds: [Round], _ plan: Plan) {
        guard let best = rounds.min(by: { $0.get.median < $1.get.median }),
            let bestAdd = rounds.min(by: { $0.add.median < $1.add.median }),
            let lowest = rounds.map(\.floor).min(by: { $0.median < $1.median })
        else { return }
        // Uses the lowest floor of all rounds, so that other load cannot improve a ratio.
        let floor = 2 * lowest.median
        say("The quietest of \(rounds.count) rounds for each; \(plan.items) items; microseconds.\n")
        row(["", "median", "p99", "ratio"])
        row(["floor: 200 bytes there and back, \(plan.floorTrips) times", text(lowest.median), text(lowest.p99), ""])
        row(["floor of a get: two of them", text(floor), "", "1.0"])
        row(["get by service and account, value returned", text(best.get.median), text(best.get.p99), text(best.get.median / floor)])
        row(["", "", "", ""])
        row(["bare synced SQLite transaction", text(bestAdd.bare.median), text(bestAdd.bare.p99), "1.0"])
        row(["durable add", text(bestAdd.add.median), text(bestAdd.add.p99), text(bestAdd.addRatio)])

        say("\nWhere the time of a get goes, step by step (medians):\n")
        for (name, from, samples) in best.steps {
            let added = samples.median - (from.map { best.steps[$0].samples.median } ?? 0)
            row([name, text(samples.median), "+\(text(added))", ""])
        }
        costs(of: "a get", best.getCosts, count: best.gets, samples: best.get)
        costs(of: "an add and a bare transaction, which is the client's", bestAdd.addCosts, count: bestAdd.adds, samples: bestAdd.add)

        say("\nEvery round (get / floor, add / bare transaction):\n")
        for round in rounds {
            say(
                "  floor \(text(round.floor.median))  get \(text(round.get.median)) = \(text(round.getRatio))"
                    + "  bare \(text(round.bare.median))  add \(text(round.add.median)) = \(text(round.addRatio))")
        }
    }

    private static func costs(of what: String, _ costs: [(name: String, cost: ProcessCost)], count: Int, samples: Samples) {
        say("\nProcessor time of \(what), by process (means):\n")
        row(["", "us", "in kernel", "sleeps", "waited for a processor"])
        let per = Double(max(count, 1))
        for (name, cost) in costs {
            row([
                name, text(cost.cpuMicroseconds / per), "\(Int((cost.systemPart * 100).rounded())) %", text(Double(cost.sleeps) / per),
                text(cost.waitsMicroseconds / per),
            ])
        }
        let total = costs.map { $0.cost.cpuMicroseconds }.reduce(0, +) / per
        row(["together; one took \(text(samples.mean)) in the mean", text(total), "", "", ""])
    }

    private static func text(_ number: Double) -> String { String(format: "%.1f", number) }

    private static func row(_ cells: [String]) {
        let widths = [56, 10, 10, 10, 24]
        let line = zip(cells, widths).enumerated().map { index, cell in
            let pad = String(repeating: " ", count: max(cell.1 - cell.0.count, 0))
            return index == 0 ? cell.0 + pad : pad + cell.0
        }
        say("  " + line.joined())
    }

    private static func say(_ text: String) { Swift.print(text) }
}

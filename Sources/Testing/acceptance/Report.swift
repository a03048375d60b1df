internal import Foundation

/// The claim of one test that it proves a row.
struct Claim: Hashable {
    enum Strength: String { case literal, equivalent }

    let row: String
    let strength: Strength
    let test: String

    static func read(_ path: String) throws -> [Claim] {
        let lines = try contents(of: path).split(separator: "\n")
        return try lines.map { line in
            let fields = line.split(separator: "\t", maxSplits: 2).map(String.init)
            guard fields.count == 3, let strength = Strength(rawValue: fields[1]) else { throw Failure("not a claim: \(line)") }
            return Claim(row: fields[0], strength: strength, test: fields[2])
        }
    }
}

/// The acceptance table. A row is proven when a test that claims it ran and passed and none that claims it failed.
struct Report {
    let rows: [String]
    let claims: [Claim]
    let outcomes: [Outcome]

    func print() -> Int32 {
        let results = Dictionary(
            outcomes.map { ($0.test, $0.result) },
            uniquingKeysWith: { first, second in
                // The same test in two streams: its failure counts in either.
                if case .failed = second { second } else { first }
            })
        // A repeated test writes its claim again; the table shows it once.
        let byRow = Dictionary(grouping: Set(claims).sorted { $0.test < $1.test }, by: \.row)
        var proven = 0
        for row in rows {
            let verdict = verdict(on: byRow[row] ?? [], results)
            if verdict.hasPrefix("proven") { proven += 1 }
            Swift.print("\(row) \(verdict)")
        }
        let unknown = Set(byRow.keys).subtracting(rows).sorted()
        for row in unknown {
            let tests = (byRow[row] ?? []).map { Outcome.title(of: $0.test) }.joined(separator: ", ")
            FileHandle.standardError.write(Data("acceptance: \(row) is no row of the table, but claimed by \(tests)\n".utf8))
        }
        Swift.print("\(proven) of \(rows.count) proven")
        return unknown.isEmpty ? 0 : 1
    }

    private func verdict(on claims: [Claim], _ results: [String: Outcome.Result]) -> String {
        var passed: [Claim] = []
        var notes: [String] = []
        var failed = false
        for claim in claims {
            switch results[claim.test] {
            case .passed: passed.append(claim)
            case .failed:
                failed = true
                notes.append("\(Outcome.title(of: claim.test)) failed")
            case .open(let why): notes.append("\(Outcome.title(of: claim.test)): \(why)")
            case nil: notes.append("\(Outcome.title(of: claim.test)): no result")
            }
        }
        guard !failed, !passed.isEmpty else { return notes.isEmpty ? "open" : "open (\(notes.joined(separator: "; ")))" }
        let literal = passed.filter { $0.strength == .literal }
        let shown = literal.isEmpty ? passed : literal
        let more = shown.count > 1 ? " and \(shown.count - 1) more" : ""
        return (literal.isEmpty ? "proven (equivalent) " : "proven ") + Outcome.title(of: shown[0].test) + more
    }
}

/// The last line of a test run, preceded by the name of everything that did not pass.
struct Count {
    let outcomes: [Outcome]
    let runnerStatus: Int32

    func print() -> Int32 {
        var passed = 0
        var failed = 0
        var open = 0
        for outcome in outcomes {
            switch outcome.result {
            case .passed: passed += 1
            case .failed(let why):
                failed += 1
                Swift.print("failed: \(outcome.title): \(why)")
            case .open(let why):
                open += 1
                Swift.print("open: \(outcome.title): \(why)")
            }
        }
        if runnerStatus != 0, failed == 0 {
            failed = 1
            Swift.print("failed: the test runner ended with status \(runnerStatus) and named no failing test")
        }
        if open > 0 { Swift.print("\(open) could not run here") }
        Swift.print("\(passed) passed, \(failed) failed")
        return failed == 0 ? 0 : 1
    }
}

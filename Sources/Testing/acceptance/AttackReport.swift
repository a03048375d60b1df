internal import Foundation

/// The result of one attack, one line per script and attack: attack, result, reason, script.
struct AttackResult {
    let attack: String
    let result: Outcome.Result
    let script: String

    var outcome: Outcome { Outcome(test: "attack \(attack) was not tried", result: result) }

    /// Why it failed and in which script; nil if it did not.
    var failure: (why: String, script: String)? { if case .failed(let why) = result { (why, script) } else { nil } }
    /// Why it was not tried and in which script; nil if it was.
    var openness: (why: String, script: String)? { if case .open(let why) = result { (why, script) } else { nil } }

    static func read(_ path: String) throws -> [AttackResult] {
        try contents(of: path).split(separator: "\n").map { line in
            let fields = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
            guard fields.count == 4 else { throw Failure("not the result of an attack: \(line)") }
            let result: Outcome.Result
            switch fields[1] {
            case "passed": result = .passed
            case "failed": result = .failed(fields[2])
            case "open": result = .open(fields[2])
            default: throw Failure("not the result of an attack: \(line)")
            }
            return AttackResult(attack: fields[0], result: result, script: fields[3])
        }
    }
}

/// The attacks that the manual lists, compared with those that a run tried. An attack that the machine could not try is open: neither
/// refused nor known to succeed, so this run does not confirm the page.
struct AttackReport {
    let listed: [String]
    let results: [AttackResult]

    /// Returns the names at the start of the page's table rows, such as A01.
    static func listed(in manual: String) -> [String] {
        manual.split(separator: "\n").compactMap { $0.firstMatch(of: #/^\| ([AU][0-9]{2,3}) \|/#).map { String($0.1) } }
    }

    func print() -> Int32 {
        let byAttack = Dictionary(grouping: results, by: \.attack)
        var tried = 0
        var faults = 0
        for attack in listed {
            let found = byAttack[attack] ?? []
            if let (why, script) = found.compactMap(\.failure).first {
                faults += 1
                Swift.print("\(attack) failed: \(why) (\(script))")
            } else if let (why, script) = found.compactMap(\.openness).first {
                Swift.print("\(attack) open: not tried: \(why) (\(script))")
            } else if found.isEmpty {
                faults += 1
                Swift.print("\(attack) failed: no script says what became of it")
            } else {
                tried += 1
            }
        }
        for attack in Set(byAttack.keys).subtracting(listed).sorted() {
            faults += 1
            Swift.print("\(attack) failed: it is tried, and not on the page")
        }
        Swift.print("\(tried) of \(listed.count) attacks tried, with the outcome that the page says")
        return faults == 0 ? 0 : 1
    }
}

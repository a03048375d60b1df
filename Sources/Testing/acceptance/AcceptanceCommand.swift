// Joins what tests claim to prove with what their runner reported, and prints the acceptance table; or counts the tests.
// It decides nothing by itself: it reads three files and never runs a test.

internal import Foundation

@main
struct AcceptanceCommand {
    static let usage = """
        usage: acceptance report --events FILE --claims FILE --scripts FILE [--rows C-001...C-249]
               acceptance count  --events FILE --scripts FILE [--runner-status N]

          --events         the event stream of `swift test` (JSON lines); may be given more than once
          --claims         what tests with `.proves` wrote: row, strength, test, separated by tabs
          --scripts        what run-script-tests wrote: script, result, reason, rows, equivalent rows, separated by tabs
          --runner-status  how `swift test` ended; a failure that no event explains is counted as one

        `report` prints a line for each row, then `N of M proven`; it fails when a claim names a row outside the table.
        `count` names what failed or could not run, then prints `N passed, N failed`; it fails when anything failed.
        """

    static func main() {
        do {
            exit(try run(Array(CommandLine.arguments.dropFirst())))
        } catch {
            FileHandle.standardError.write(Data("acceptance: \(error)\n".utf8))
            exit(2)
        }
    }

    private static func run(_ arguments: [String]) throws -> Int32 {
        let options = try Options(arguments)
        var outcomes = try options.events.flatMap { try EventStream.read($0) }
        let scripts = try options.scripts.map { try ScriptResults.read($0) } ?? []
        outcomes += scripts.map(\.outcome)
        switch options.verb {
        case .report:
            var claims = try options.claims.map { try Claim.read($0) } ?? []
            claims += scripts.flatMap(\.claims)
            return Report(rows: options.rows, claims: claims, outcomes: outcomes).print()
        case .count:
            return Count(outcomes: outcomes, runnerStatus: options.runnerStatus).print()
        }
    }
}

struct Options {
    enum Verb: String { case report, count }

    let verb: Verb
    var events: [String] = []
    var claims: String?
    var scripts: String?
    var rows = RowRange.contract
    var runnerStatus: Int32 = 0

    init(_ arguments: [String]) throws {
        guard let first = arguments.first, let verb = Verb(rawValue: first) else { throw Fault(AcceptanceCommand.usage) }
        self.verb = verb
        var rest = arguments.dropFirst()
        while let name = rest.popFirst() {
            guard let value = rest.popFirst() else { throw Fault("\(name) needs a value") }
            switch name {
            case "--events": events.append(value)
            case "--claims": claims = value
            case "--scripts": scripts = value
            case "--rows": rows = try RowRange(value)
            case "--runner-status": runnerStatus = Int32(value) ?? 1
            default: throw Fault("unknown option \(name)\n\(AcceptanceCommand.usage)")
            }
        }
    }
}

/// Rows with one letter and consecutive numbers, such as C-001 to C-249.
struct RowRange {
    let letter: Character
    let numbers: ClosedRange<Int>

    static let contract = RowRange(letter: "C", numbers: 1...249)

    init(letter: Character, numbers: ClosedRange<Int>) {
        self.letter = letter
        self.numbers = numbers
    }

    /// Reads `C-001...C-249`.
    init(_ text: String) throws {
        let ends = text.components(separatedBy: "...")
        guard ends.count == 2, let letter = ends[0].first, ends[1].first == letter,
            let low = Int(ends[0].dropFirst(2)), let high = Int(ends[1].dropFirst(2)), low <= high
        else { throw Fault("not a range of rows: \(text)") }
        self.init(letter: letter, numbers: low...high)
    }

    var names: [String] {
        numbers.map { number in
            let digits = String(number)
            return "\(letter)-" + String(repeating: "0", count: max(0, 3 - digits.count)) + digits
        }
    }
}

/// What was wrong with the files or the command line.
struct Fault: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

// Joins the claims of tests with their results, and prints the acceptance table; or counts the tests. It only reads files and never runs a
// test.

internal import Foundation

@main
struct AcceptanceCommand {
    static let usage = """
        usage: acceptance report  --events FILE --claims FILE --scripts FILE (--list FILE | --rows K-001...K-010)
               acceptance attacks --manual FILE --attacks FILE
               acceptance count   --events FILE --scripts FILE [--attacks FILE] [--runner-status N]

          --events         the event stream of `swift test` (JSON lines); may be given more than once
          --claims         what tests with `.proves` wrote: row, strength, test, separated by tabs
          --scripts        what run-script-tests wrote: script, result, reason, rows, equivalent rows, separated by tabs
          --attacks        what run-script-tests wrote: attack, result, reason, script, separated by tabs
          --list           the page whose tables name the rows (Specs/acceptance.md); --rows names them as a range
          --manual         the page whose tables name the attacks (Manual/attacks.md)
          --runner-status  how `swift test` ended; a failure that no event explains is counted as one

        `report` prints a line for each row, then `N of M proven`; it fails when a claim names a row outside the table.
        `attacks` names each attack of the page that was not tried, then prints `N of M attacks tried`; it fails when an attack has another
        outcome than the page says, when nothing is known of one, and when one that was tried is not on the page.
        `count` names what failed, what could not run and which attacks were not tried, then prints `N passed, N failed`; it fails when \
        anything failed.
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
        let attacks = try options.attacks.map { try AttackResult.read($0) } ?? []
        switch options.verb {
        case .attacks:
            guard let manual = options.manual else { throw Failure("--manual is missing") }
            return AttackReport(listed: AttackReport.listed(in: try contents(of: manual)), results: attacks).print()
        case .report:
            let (outcomes, scripts) = try outcomes(options)
            let claims = try options.claims.map { try Claim.read($0) } ?? []
            guard let rows = options.rows else { throw Failure("--list or --rows is missing") }
            return Report(rows: rows, claims: claims + scripts.flatMap(\.claims), outcomes: outcomes).print()
        case .count:
            // Counts scripts; attacks that they could not try are counted separately as open, never as passed.
            let notTried = attacks.filter { $0.openness != nil }.map(\.outcome)
            return Count(outcomes: try outcomes(options).all + notTried, runnerStatus: options.runnerStatus).print()
        }
    }

    private static func outcomes(_ options: Options) throws -> (all: [Outcome], scripts: [ScriptResults]) {
        let scripts = try options.scripts.map { try ScriptResults.read($0) } ?? []
        return (try options.events.flatMap { try EventStream.read($0) } + scripts.map(\.outcome), scripts)
    }
}

struct Options {
    enum Verb: String { case report, attacks, count }

    let verb: Verb
    var events: [String] = []
    var claims: String?
    var scripts: String?
    var attacks: String?
    var manual: String?
    /// The names of the rows, in order.
    var rows: [String]?
    var runnerStatus: Int32 = 0

    init(_ arguments: [String]) throws {
        guard let first = arguments.first, let verb = Verb(rawValue: first) else { throw Failure(AcceptanceCommand.usage) }
        self.verb = verb
        var rest = arguments.dropFirst()
        while let name = rest.popFirst() {
            guard let value = rest.popFirst() else { throw Failure("\(name) needs a value") }
            switch name {
            case "--events": events.append(value)
            case "--claims": claims = value
            case "--scripts": scripts = value
            case "--attacks": attacks = value
            case "--manual": manual = value
            case "--list": rows = try RowList.read(value)
            case "--rows": rows = try RowRange(value).names
            case "--runner-status": runnerStatus = Int32(value) ?? 1
            default: throw Failure("unknown option \(name)\n\(AcceptanceCommand.usage)")
            }
        }
    }
}

/// The rows of a page, each at the start of a table line.
enum RowList {
    static func read(_ path: String) throws -> [String] {
        let rows = try contents(of: path).split(separator: "\n").compactMap {
            $0.firstMatch(of: /^\| ([A-Z]-[0-9]{3}) \|/).map { String($0.1) }
        }
        guard !rows.isEmpty, Set(rows).count == rows.count else { throw Failure("\(path) has no rows, or one of them twice") }
        return rows
    }
}

/// A range of rows with one letter and consecutive numbers, such as K-001 to K-010.
struct RowRange {
    let letter: Character
    let numbers: ClosedRange<Int>

    init(letter: Character, numbers: ClosedRange<Int>) {
        self.letter = letter
        self.numbers = numbers
    }

    /// Parses `K-001...K-010`.
    init(_ text: String) throws {
        let ends = text.components(separatedBy: "...")
        guard ends.count == 2, let letter = ends[0].first, ends[1].first == letter,
            let low = Int(ends[0].dropFirst(2)), let high = Int(ends[1].dropFirst(2)), low <= high
        else { throw Failure("not a range of rows: \(text)") }
        self.init(letter: letter, numbers: low...high)
    }

    var names: [String] {
        numbers.map { number in
            let digits = String(number)
            return "\(letter)-" + String(repeating: "0", count: max(0, 3 - digits.count)) + digits
        }
    }
}

/// An error in the files or the command line.
struct Failure: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

internal import Foundation

/// The result of one test or script, according to its runner.
struct Outcome {
    enum Result: Equatable {
        case passed
        case failed(String)
        /// Skipped, cancelled, with known issues, or never reached: neither a success nor a failure, and proves nothing.
        case open(String)
    }

    /// The name in claims.
    let test: String
    let result: Result

    /// The test's name without its place in the file, which only makes the runner's name unique.
    var title: String { Outcome.title(of: test) }

    static func title(of test: String) -> String {
        guard let slash = test.lastIndex(of: "/"), test[slash...].contains(".swift:") else { return test }
        return String(test[..<slash])
    }
}

/// The runner's event stream, version 0: one JSON object per line, first the plan, then the events as they happen. A process that ends
/// early, even with status 0, leaves a stream without its last event, which the xUnit file cannot show.
enum EventStream {
    static func read(_ path: String) throws -> [Outcome] {
        var plan: [String] = []
        var history: [String: History] = [:]
        var ended = false
        let lines = try contents(of: path).split(separator: "\n")
        for (index, line) in lines.enumerated() {
            guard let event = try? JSONDecoder().decode(Event.self, from: Data(line.utf8)) else {
                // Only the last line may be incomplete, if the process died while writing it; the missing last event then shows that.
                if index == lines.count - 1 { break }
                throw Failure("line \(index + 1) of the event stream is not an event")
            }
            if event.kind == "test", event.payload.kind == "function", let test = event.payload.id { plan.append(test) }
            guard event.kind == "event" else { continue }
            if event.payload.kind == "runEnded" { ended = true }
            // An issue outside of any test, such as in a detached task, fails the run too.
            history[event.payload.testID ?? outsideAnyTest, default: History()].add(event.payload)
        }
        var outcomes = plan.map { Outcome(test: $0, result: history[$0, default: History()].result(runEnded: ended)) }
        if let issue = history[outsideAnyTest]?.failure { outcomes.append(Outcome(test: outsideAnyTest, result: .failed(issue))) }
        if !ended { outcomes.append(Outcome(test: "(the test process)", result: .failed("it ended before its tests did"))) }
        return outcomes
    }

    private static let outsideAnyTest = "(outside any test)"

    private struct Event: Decodable {
        let kind: String
        let payload: Payload
    }

    private struct Payload: Decodable {
        struct Issue: Decodable {
            let isKnown: Bool?
            let isFailure: Bool?
        }
        struct Message: Decodable { let text: String? }

        let kind: String?
        let id: String?
        let testID: String?
        let issue: Issue?
        let messages: [Message]?
    }

    private struct History {
        var started = false
        var ended = false
        var failure: String?
        var openness: String?

        mutating func add(_ event: Payload) {
            switch event.kind {
            case "testStarted": started = true
            case "testEnded": ended = true
            case "testSkipped": openness = "skipped"
            case "testCancelled", "testCaseCancelled": openness = "cancelled"
            case "issueRecorded":
                if event.issue?.isKnown == true {
                    openness = "known issue"
                }
                // In streams without this field, every issue counts as a failure.
                else if event.issue?.isFailure != false {
                    failure = failure ?? event.messages?.first?.text ?? "issue"
                }
            default: break
            }
        }

        func result(runEnded: Bool) -> Outcome.Result {
            if let failure { return .failed(failure) }
            if let openness { return .open(openness) }
            if ended { return .passed }
            return started ? .failed("it did not end") : .open(runEnded ? "not run" : "never reached")
        }
    }
}

/// The script runner's results, one line per script: script, result, reason, rows claimed, rows claimed by equivalence.
struct ScriptResults {
    let outcome: Outcome
    let claims: [Claim]

    static func read(_ path: String) throws -> [ScriptResults] {
        try contents(of: path).split(separator: "\n").map { line in
            let fields = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
            guard fields.count == 5 else { throw Failure("not a script result: \(line)") }
            let result: Outcome.Result
            switch fields[1] {
            case "passed": result = .passed
            case "failed": result = .failed(fields[2])
            case "open": result = .open(fields[2])
            default: throw Failure("not a script result: \(line)")
            }
            let claims = [(fields[3], Claim.Strength.literal), (fields[4], .equivalent)].flatMap { rows, strength in
                rows.split(separator: " ").map { Claim(row: String($0), strength: strength, test: fields[0]) }
            }
            return ScriptResults(outcome: Outcome(test: fields[0], result: result), claims: claims)
        }
    }
}

func contents(of path: String) throws -> String {
    guard let data = FileManager.default.contents(atPath: path) else { throw Failure("cannot read \(path)") }
    return String(decoding: data, as: UTF8.self)
}

import ArgumentParser
import Foundation
import VaubanTransportPolicy

struct DiagnoseCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "diagnose", abstract: "Load a URL under sixteen sets of exceptions, and print which are enough.",
        discussion: """
            Local hosts are treated like all others. A server that passes all sets needs no exceptions. Stops after two sets if the server \
            cannot be reached.
            """)

    @Flag(help: "Print JSON.")
    var json = false

    @OptionGroup var server: ServerOptions

    func run() async throws {
        guard let host = URL(string: server.url)?.host else { throw ValidationError("\(server.url) names no host") }
        var results: [DiagnosticResult] = []
        var isUnreachable = false
        if !json { print("Loading \(server.url) under sets of exceptions") }
        for set in DiagnosticSet.all(for: host) {
            let result = DiagnosticResult(set, try await server.load(set.configuration))
            results.append(result)
            if !json { print(result.text) }
            // The second set has every exception except those for trust, so no other set could change the result.
            isUnreachable = results.count == 2 && results.allSatisfy(\.isWithoutRule)
            if isUnreachable { break }
        }
        if json {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
            print(String(decoding: try encoder.encode(results), as: UTF8.self))
        }
        if isUnreachable {
            printToStandardError("Could not load \(server.url): \(results.first?.message ?? "")")
            throw ExitCode(2)
        }
        // The first set has no exceptions.
        if results.first?.passed != true { throw ExitCode(1) }
    }
}

struct DiagnosticResult: Encodable {
    let group: String
    let set: String
    let passed: Bool
    let rule: String?
    let code: Int?
    let message: String?

    /// Whether the load failed for a reason that no rule names.
    var isWithoutRule: Bool { !passed && rule == nil }

    init(_ set: DiagnosticSet, _ outcome: ServerOptions.Outcome) {
        group = set.group
        self.set = set.name
        switch outcome {
        case .allowed: (passed, rule, code, message) = (true, nil, nil, nil)
        case .refused(let error): (passed, rule, code, message) = (false, error.rule.rawValue, error.urlErrorCode, error.description)
        case .failed(let text): (passed, rule, code, message) = (false, nil, nil, text)
        }
    }

    var text: String { "\(passed ? "PASS" : "FAIL")  \(group): \(set)" + (rule.map { " (\($0))" } ?? message.map { " (\($0))" } ?? "") }
}

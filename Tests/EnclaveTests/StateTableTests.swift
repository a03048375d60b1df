import Enclave
import EnclaveWire
import Foundation
import TestSupport
import Testing
import VaubanAccessPolicy
import VaubanRefusal

/// The table of Specs/key-hierarchy.md, row by row, against a real vault.
@Suite struct StateTableTests {
    /// One combination of the table, with its cells in words.
    struct Case: Sendable, Hashable, CustomTestStringConvertible {
        let state: String
        let code: String
        let control: String
        let add: String
        let read: String
        var testDescription: String { "\(state), \(code), \(control)" }
    }

    static let controls: [(name: String, flags: AccessControlFlags?)] = [
        ("none", nil), ("userPresence", .userPresence), ("devicePasscode", .devicePasscode), ("biometryAny", .biometryAny),
        ("biometryCurrentSet", .biometryCurrentSet), ("biometryAny or devicePasscode", [.or, .biometryAny, .devicePasscode]),
        ("biometryAny and devicePasscode", [.and, .biometryAny, .devicePasscode]), ("applicationPassword", .applicationPassword),
        ("userPresence with applicationPassword", [.userPresence, .applicationPassword]), ("privateKeyUsage", .privateKeyUsage),
    ]

    /// All cases, or none if the document cannot be read; `theTableIsComplete` then fails.
    static let cases: [Case] = (try? load()) ?? []

    private static func load() throws -> [Case] {
        try SpecDocument("key-hierarchy").table("states").flatMap { row -> [Case] in
            func list(_ column: String, _ separator: String) -> [String] { row[column, default: ""].components(separatedBy: separator) }
            let named = list("state", ", ")
            let states = named == ["every"] ? Situation.states : named
            return states.flatMap { state in
                list("class", " ").flatMap { code in
                    list("access control", ", ").map { control in
                        Case(state: state, code: code, control: control, add: row["add", default: ""], read: row["read", default: ""])
                    }
                }
            }
        }
    }

    @Test("The table of states is complete") func theTableIsComplete() throws {
        let cases = try Self.load()
        let expected = Situation.states.flatMap { state in
            ProtectionClass.allCases.flatMap { protection in Self.controls.map { "\(state), \(protection.rawValue), \($0.name)" } }
        }
        #expect(cases.map(\.testDescription).sorted() == expected.sorted())
        print("the state table has \(cases.count) combinations")
    }

    /// Each reason has one status in the whole table: that in the list of refusals.
    @Test("Statuses match the list of refusals") func statusesAreThoseOfTheListOfRefusals() throws {
        let list = try SpecDocument("enclave-wire").table("refusals")
        let statuses = Dictionary(uniqueKeysWithValues: list.map { ($0["reason", default: ""], $0["OSStatus", default: ""]) })
        #expect(statuses.count == Refusal.Reason.allCases.count)
        for reason in Refusal.Reason.allCases {
            let row = try #require(list.first { $0["reason"] == "\(reason)" }, "\(reason) is not in the list")
            #expect(row["number"] == "\(reason.rawValue)")
            #expect(row["blame"] == reason.blame.rawValue, "\(reason)")
        }
        for outcome in Self.cases.flatMap({ [$0.add, $0.read] }) {
            let words = outcome.split(separator: " ").map(String.init)
            guard ["refused", "gone"].contains(words.first) else { continue }
            try #require(words.count == 3)
            #expect(statuses[words[1]] == words[2], "\(outcome)")
        }
    }

    @Test("The vault follows the state table", arguments: cases)
    func vaultFollowsTheStateTable(_ row: Case) throws {
        let flags = try #require(Self.controls.first { $0.name == row.control }, "\(row.control) is no control").flags
        let situation = try Situation(row.state, try #require(ProtectionClass(rawValue: row.code)), flags)
        #expect(situation.adding().map(Self.word) ?? "seals" == row.add)
        #expect(try Self.word(situation.reading()) == row.read)
    }

    private static func word(_ reading: Situation.Reading) -> String {
        switch reading {
        case .noRow: "no row"
        case .opens: "opens"
        case .asks(let what): "asks \(what)"
        case .refused(let refusal): word(refusal)
        }
    }

    private static let refusals = (try? SpecDocument("enclave-wire").table("refusals")) ?? []

    /// Returns the status in the table; `statusesAreThoseOfTheListOfRefusals` compares it with the list.
    private static func word(_ refusal: Refusal) -> String {
        let status = refusals.first { $0["reason"] == "\(refusal.reason)" }?["OSStatus"] ?? "?"
        return "\(refusal.reason == .keyDestroyed ? "gone" : "refused") \(refusal.reason) \(status)"
    }
}

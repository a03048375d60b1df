import Enclave
import EnclaveWire
import TestSupport
import Testing
import VaubanAccessPolicy

/// The table of Specs/key-hierarchy.md, row by row, against a real vault.
@Suite struct StateTableTests {
    /// One combination of the table, its cells written out.
    struct Case: Sendable, Hashable, CustomTestStringConvertible {
        let state: String
        let code: String
        let control: String
        let add: String
        let read: String
        var testDescription: String { "\(state), \(code), \(control)" }
        var combination: String { testDescription }
    }

    static let states = [
        "none", "before first unlock", "unlocked", "locked", "changed", "set after the row", "other device", "removed", "set again",
    ]
    static let controls = ["none", "userPresence", "devicePasscode"]

    /// All cases, or none when the document cannot be read; `theTableIsComplete` then fails.
    static let cases: [Case] = (try? load()) ?? []
    static var builtCases: [Case] { cases.filter { $0.read != "later issue" } }

    private static func load() throws -> [Case] {
        try SpecDocument("key-hierarchy").table("states").flatMap { row in
            let classes = row["class", default: ""].split(separator: " "),
                controls = row["access control", default: ""].split(separator: " ")
            return classes.flatMap { code in
                controls.map { control in
                    Case(
                        state: row["state", default: ""], code: String(code), control: String(control), add: row["add", default: ""],
                        read: row["read", default: ""])
                }
            }
        }
    }

    @Test func theTableIsComplete() throws {
        let cases = try Self.load()
        let expected = Self.states.flatMap { state in
            Protection.allCases.flatMap { protection in Self.controls.map { "\(state), \(protection.rawValue), \($0)" } }
        }
        #expect(cases.map(\.combination).sorted() == expected.sorted())
        for missing in cases where missing.add == "later issue" || missing.read == "later issue" {
            #expect(["removed", "set again"].contains(missing.state) && missing.add == missing.read)
        }
    }

    /// Each reason has one status in the whole table, and it is that of the list of refusals.
    @Test func statusesAreThoseOfTheListOfRefusals() throws {
        let list = try SpecDocument("enclave-wire").table("refusals")
        let statuses = Dictionary(uniqueKeysWithValues: list.map { ($0["reason", default: ""], $0["OSStatus", default: ""]) })
        #expect(statuses.count == Refusal.Reason.allCases.count)
        for reason in Refusal.Reason.allCases {
            let row = try #require(list.first { $0["reason"] == "\(reason)" }, "\(reason) is not in the list")
            #expect(row["number"] == "\(reason.rawValue)")
        }
        for outcome in Self.cases.flatMap({ [$0.add, $0.read] }) {
            let words = outcome.split(separator: " ").map(String.init)
            guard ["refused", "gone"].contains(words.first) else { continue }
            try #require(words.count == 3)
            #expect(statuses[words[1]] == words[2], "\(outcome)")
        }
    }

    @Test(arguments: builtCases)
    func theVaultDoesWhatTheTableSays(_ row: Case) throws {
        let situation = try Situation(row)
        #expect(situation.adding() == row.add)
        #expect(try situation.reading() == row.read)
    }
}

/// A vault in one state of the table, and a row that was made before it came into that state.
private struct Situation {
    let vault: Vault
    let passcode: String?
    let row: RowBinding
    let fresh: RowBinding
    let sealed: SealedRow?

    init(_ wanted: StateTableTests.Case) throws {
        let bench = Workbench()
        let protection = try #require(Protection(rawValue: wanted.code))
        let flags: AccessControlFlags? =
            switch wanted.control {
            case "userPresence": .userPresence
            case "devicePasscode": .devicePasscode
            default: nil
            }
        var vault = bench.start()
        _ = try vault.lease()
        if !["none", "set after the row"].contains(wanted.state) { try vault.setPasscode(secret(Workbench.passcode)) }
        // Of the passcode class there is nothing before a passcode: then the row is one whose key does not exist.
        row = try bench.row(protection, flags)
        sealed = row.generation == Sample.lostGeneration ? nil : try SealedRow(row, in: vault)

        var passcode: String? = Workbench.passcode
        switch wanted.state {
        case "none": passcode = nil
        case "before first unlock": vault = bench.start()
        case "unlocked": break
        case "locked": try vault.lock()
        case "changed":
            try vault.changePasscode(from: secret(Workbench.passcode), to: secret(Workbench.otherPasscode))
            passcode = Workbench.otherPasscode
        case "set after the row": try vault.setPasscode(secret(Workbench.passcode))
        case "other device": vault = Workbench(files: bench.store.files, device: 2).start()
        default: Issue.record("the state \(wanted.state) cannot be made")
        }
        fresh = try bench.row(protection, flags)
        self.vault = vault
        self.passcode = passcode
    }

    /// What comes of a new row of the same kind.
    func adding() -> String {
        if let refusal = refusal({ _ = try vault.seal(fresh) }) { return word(refusal) }
        return "seals"
    }

    /// What comes of the row that was there. Asking counts only if the answer then opens it.
    func reading() throws -> String {
        do {
            switch try vault.open(row, wrapped: sealed?.wrapped ?? [0]) {
            case .opened(let key):
                #expect(bytes(key) == sealed?.key)
                return "opens"
            case .layered(let opening):
                switch vault.judge(opening.requirement, for: row.protection, Evidence()) {
                case .allow: return "opens"
                case .refuse(let reason): return word(Refusal(reason))
                case .ask:
                    let shown = try vault.gather(try #require(passcode))
                    #expect(bytes(try vault.finish(opening, shown, password: nil)) == sealed?.key)
                    return "asks"
                }
            }
        } catch let refusal as Refusal {
            return word(refusal)
        }
    }

    private func word(_ refusal: Refusal) -> String {
        let status =
            switch refusal.reason {
            case .locked, .beforeFirstUnlock: -25308
            case .passcodeNotSet: -25293
            case .keyDestroyed: -25300
            case .stateUnreadable, .keysChanged: -25291
            default: 0
            }
        return "\(refusal.reason == .keyDestroyed ? "gone" : "refused") \(refusal.reason) \(status)"
    }
}

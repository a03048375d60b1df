import Foundation
import VaubanKeychainModel

/// The outcome of one record, by the names of its parts and never with their values.
struct RecordReport: Encodable {
    enum Outcome: String, Encodable {
        case added, present, notTaken
    }

    let line: Int?
    let source: String
    var item: String
    var outcome: Outcome
    var carried: [String] = []
    var changed: [String] = []
    var left: [String] = []
    var reason: String?

    /// Whether everything of the record is in the keychain, possibly in another form.
    var isWhole: Bool { outcome != .notTaken && left.isEmpty }

    /// Returns one line, and another for each part that was changed or omitted.
    func lines(isDryRun: Bool) -> [String] {
        let names = { (names: [String]) in names.map { SafeText.line($0, max: 80) }.joined(separator: ", ") }
        let verb =
            switch outcome {
            case .added: isDryRun ? "would be added" : "added"
            case .present: "already exists"
            case .notTaken: "not imported"
            }
        let isPart = outcome != .notTaken && reason != nil
        let head = "\(source): \(verb)\(isPart ? ", incomplete" : "")\(item.isEmpty ? "" : ": \(SafeText.line(item, max: 150))")"
        let tail = reason.map { ": \($0)" } ?? (carried.isEmpty ? "" : ": \(names(carried))")
        return [head + tail] + changed.map { "  changed: \(SafeText.line($0, max: 200))" }
            + left.map { "  left: \(SafeText.line($0, max: 200))" }
    }
}

struct ImportReport: Encodable {
    let isDryRun: Bool
    var added = 0
    var present = 0
    var notTaken = 0
    var records: [RecordReport] = []

    init(isDryRun: Bool) { self.isDryRun = isDryRun }

    private enum CodingKeys: String, CodingKey {
        case isDryRun = "dryRun"
        case added, present, notTaken, records
    }

    mutating func note(_ report: RecordReport) {
        switch report.outcome {
        case .added: added += 1
        case .present: present += 1
        case .notTaken: notTaken += 1
        }
        records.append(report)
    }

    /// Whether everything in the source is in the keychain.
    var isWhole: Bool { records.allSatisfy(\.isWhole) }

    var summary: String {
        let adds = isDryRun ? "would be added" : "added"
        let leaves = records.count { $0.outcome != .notTaken && !$0.left.isEmpty }
        let rest = leaves == 0 ? "" : "; \(leaves) incomplete"
        return "\(added) \(adds), \(present) already exist, \(notTaken) not imported\(rest)."
    }
}

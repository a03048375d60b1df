import Foundation
import VaubanKeychainWire

/// `vauban doctor --json`: numbers and reasons, never an item's name. Keys and reasons stay as they are, since scripts name them.
struct DoctorDocument: Encodable {
    struct Finding: Encodable {
        let reason: String
        /// The number of the item in the database; left out where it is about no item.
        let row: Int64?
        let repaired: Bool
    }

    struct PutAside: Encodable {
        let reason: String
        let count: Int
        let since: Date
    }

    struct Copy: Encodable {
        /// `kept`, `tooLarge`, `noRoom`, `failed`, or `none` where not everything was verified.
        let state: String
        let items: Int?
        let bytesMissing: Int64?
        /// When the earlier copy that stands was made.
        let earlier: Date?
    }

    let checked: Int
    /// Of these, those whose secret was not opened, since it opens only for the user or with a program's password.
    let unopened: Int
    let locked: Int
    let found: Int
    let repaired: Int
    let findings: [Finding]
    let putAside: [PutAside]
    let copy: Copy
    /// Whether nothing was found, nothing lies aside, and a copy was kept where one was to be.
    let good: Bool

    init(_ report: DoctorReport) {
        checked = report.checked
        unopened = report.unopened
        locked = report.locked
        found = report.found
        repaired = report.repaired
        findings = report.findings.map { Finding(reason: "\($0.reason)", row: $0.row > 0 ? $0.row : nil, repaired: $0.isRepaired) }
        putAside = report.quarantine.map { PutAside(reason: "\($0.reason)", count: $0.count, since: Date(microseconds: $0.since)) }
        copy = Copy(
            state: report.copy.map { "\($0.state)" } ?? "none", items: report.copy?.state == .kept ? report.copy?.rows : nil,
            bytesMissing: report.copy?.bytesMissing, earlier: report.earlier.map { Date(microseconds: $0.date) })
        good = report.isGood
    }
}

extension DoctorReport {
    /// What ends the command with 0. Where no copy could be kept the disk is full or refuses: whoever runs it by the clock must learn it.
    var isGood: Bool { found == 0 && quarantine.isEmpty && !lacksNewCopy }
}

import Foundation
import VaubanKeychainWire

/// The output of `vauban doctor --json`: numbers and reasons, never an item's name. Keys and reasons must not change, since scripts use
/// them.
struct DoctorDocument: Encodable {
    struct Finding: Encodable {
        let reason: String
        /// The number of the item's row in the database; left out if the finding does not concern an item.
        let row: Int64?
        let repaired: Bool
    }

    struct PutAside: Encodable {
        let reason: String
        let count: Int
        let since: Date
    }

    struct Copy: Encodable {
        /// `kept`, `tooLarge`, `noRoom`, `failed`, or `none` if not everything was verified.
        let state: String
        let items: Int?
        let bytesMissing: Int64?
        /// The date of the existing earlier copy.
        let earlier: Date?
    }

    let checked: Int
    /// The verified items whose secret was not decrypted, because that requires the user or a program's password.
    let unopened: Int
    let locked: Int
    let found: Int
    let repaired: Int
    let findings: [Finding]
    let putAside: [PutAside]
    let copy: Copy
    /// Whether nothing was found, nothing is in quarantine, and a requested copy was kept.
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
    /// Whether the command exits with 0. If no copy could be kept, the disk is full or failing, and scheduled runs must report that.
    var isGood: Bool { found == 0 && quarantine.isEmpty && !lacksNewCopy }
}

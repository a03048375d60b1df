import VaubanRefusal
import VaubanSyncModel

/// The report of one run of vauban sync.
struct SyncOutcome {
    /// Sentences about what stays on this device, what could not be read or applied, and what is wrong with access logs.
    private(set) var findings: [String] = []
    /// Sentences about items that were changed here and on another device, neither of which knew of the other's change.
    let conflicts: [String]
    /// Whether every file was read and every change applied.
    let isComplete: Bool
    /// Whether no member's access log has gone back.
    let logsAreSound: Bool
    let received: Int
    let sent: Int
    private let isCompanion: Bool

    /// Synchronizes once.
    init(of circle: SyncCircle) throws { self.init(try SyncRun(whole: circle)) }

    /// Describes what a run found.
    init(_ run: SyncRun) {
        for name in run.staying where !name.isEmpty { findings.append("Stays on this device: \(SafeText.visible(name))") }
        let others = run.staying.count(where: \.isEmpty)
        if others > 0 { findings.append("Stays on this device: \(count(others, "item")) of other programs") }
        for name in run.own where !name.isEmpty {
            findings.append("Not sent, since this device is a companion: \(SafeText.visible(name))")
        }
        let ownOfOthers = run.own.count(where: \.isEmpty)
        if ownOfOthers > 0 {
            findings.append("Not sent, since this device is a companion: \(count(ownOfOthers, "item")) of other programs")
        }
        if run.hasLosses {
            findings.append(
                "Items were lost here, put back to an earlier state, or restored after another device deleted them; "
                    + "the folder is read again.")
        }
        for fault in run.faults { findings.append("Not complete: \(fault).") }
        if run.isBehind {
            findings.append("Nothing is sent until the folder is complete, or the device that says otherwise is removed.")
        }
        if run.skipsCompanions {
            findings.append("Nothing is written for companions while this device may lack a change of the circle.")
        }
        findings += run.logFaults
        if run.cleared > 0 { findings.append("Removed \(count(run.cleared, "file")) of removed devices from the folder.") }
        if let fault = run.clearingFault { findings.append("Files of removed devices stay in the folder: \(fault).") }
        if run.compacted > 0 {
            findings.append("Removed \(count(run.compacted, "file")) of this device from the folder, which every device has read.")
        }
        if let fault = run.compactionFault { findings.append("Files that every device has read stay in the folder: \(fault).") }
        conflicts = ConflictText.sentences(run)
        (isComplete, logsAreSound) = (run.faults.isEmpty, run.logFaults.isEmpty)
        (received, sent, isCompanion) = (run.received, run.sent, run.circle.view.isCompanion)
    }

    var counts: String { "\(count(received, "change")) received\(isCompanion ? "" : ", \(sent) sent")." }
}

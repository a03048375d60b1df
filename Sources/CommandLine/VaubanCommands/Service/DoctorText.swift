import VaubanAccessPolicy
import VaubanKeychainWire

/// The words of `vauban doctor`: numbers and reasons, never an item's name.
enum DoctorText {
    static func lines(_ report: DoctorReport) -> [String] {
        var lines = [StatusText.row("Checked", checked(report))]
        if report.locked > 0 {
            lines.append(
                StatusText.row("Not checked", "\(count(report.locked, "item")), locked; to look at them too: vauban unlock, and again"))
        }
        lines += findings(report)
        lines += quarantine(report)
        lines.append(StatusText.row("Copy", copy(report)))
        lines.append(StatusText.row("Result", result(report)))
        return lines
    }

    static func lines(_ copy: RestorableCopy) -> [String] {
        var lines = [
            """
            The keychain database is damaged and was put aside. There is a verified copy of \(StatusText.time(copy.date)), with \
            \(count(copy.rows, "item")).
            """
        ]
        if let since = copy.damagedSince { lines.append("The damaged database was last written on \(StatusText.time(since)).") }
        lines.append("What was added or changed after the copy was made is lost. What was deleted after it COMES BACK, old passwords too.")
        lines.append("The damaged database stays beside it, as it is.")
        return lines
    }

    private static func checked(_ report: DoctorReport) -> String {
        var text = count(report.checked, "item") + ": place, attributes, wholeness, indexes"
        let opened = report.checked - report.unopened
        if opened > 0 { text += "; \(opened) with the value" }
        if report.unopened > 0 { text += "; \(report.unopened) without it, since it opens only for you or with a program's password" }
        return text
    }

    private static func findings(_ report: DoctorReport) -> [String] {
        var lines = report.findings.map { finding in
            var text = words(finding.reason)
            if finding.row > 0 {
                text = "row \(finding.row)\(finding.protection > 0 ? ", class \(className(finding.protection))" : ""): " + text
            }
            return StatusText.row(finding.isRepaired ? "Repaired" : "Found", text)
        }
        let more = report.found - report.findings.count
        if more > 0 { lines.append(StatusText.row("", "and \(more) more")) }
        return lines
    }

    private static func quarantine(_ report: DoctorReport) -> [String] {
        report.quarantine.map {
            StatusText.row("Put aside", "\(count($0.count, "item")), since \(StatusText.time($0.since)): \(words($0.reason))")
        }
    }

    private static func copy(_ report: DoctorReport) -> String {
        let why: String
        switch report.copy?.state {
        case .kept:
            return
                "a verified copy with \(count(report.copy?.rows ?? 0, "item")) was kept; items that you delete from now on are still in it"
        case .tooLarge: why = "none is kept of a database larger than 256 MiB; keep copies of your own"
        case .noRoom: why = "none could be kept, since the disk is full; \(wayOut(report.copy?.bytesMissing)), then run vauban doctor again"
        case .failed: why = "none could be kept, since the disk refuses to write it"
        case nil: why = "none was made, since not everything was verified"
        }
        guard let earlier = report.earlier else { return "\(why). There is no earlier one" }
        return "\(why). The one of \(StatusText.time(earlier.date)), with \(count(earlier.rows, "item")), stands"
    }

    private static func wayOut(_ bytesMissing: Int64?) -> String {
        guard let bytesMissing else { return "make room" }
        return "make room for \((bytesMissing + (1 << 20) - 1) >> 20) MiB more"
    }

    private static func result(_ report: DoctorReport) -> String {
        let isUnrepaired = report.found > report.repaired
        if report.findings.contains(where: { $0.reason == .filePages }) {
            return "the database is damaged; its next use puts it aside. Then: vauban doctor --restore"
        }
        if isUnrepaired { return "something was found that nothing here repairs; what was put aside is kept, and nothing else is affected" }
        if report.found > 0 { return "everything that was found is repaired; to be sure: vauban doctor" }
        if !report.quarantine.isEmpty { return "what is in place is good; what was put aside comes back by itself here if it opens again" }
        if report.lacksNewCopy { return "what is in place is good, but there is no new copy of it" }
        return report.locked > 0 ? "what could be checked is good" : "all is good"
    }

    private static func words(_ reason: DoctorFinding.Reason) -> String {
        switch reason {
        case .binding: "what it says of itself does not fit its place"
        case .metadata: "its attributes do not open"
        case .content: "its attributes hold no item of its class"
        case .digest: "its parts are not of one write"
        case .secret: "its value does not open"
        case .wrappedKey: "its key does not unwrap"
        case .keyUnknown: "the enclave does not know the key of its class; was an older state put back?"
        case .keyDestroyed: "the key of its class was destroyed, so nothing opens it any more; removed"
        case .indexColumns: "it was not found by what it is called"
        case .lookups: "some look-ups did not find it, or found it wrongly"
        case .orphanedLookup: "a look-up led nowhere"
        case .fileIndexes: "the database's own indexes did not fit its rows"
        case .filePages: "the database file has damaged pages"
        case .readmitted: "it had been put aside, opens again, and is back in its place"
        }
    }

    private static func className(_ number: Int64) -> String {
        switch Protection(number: number) {
        case .whenUnlocked: "unlocked"
        case .afterFirstUnlock: "after-first-unlock"
        case .always: "always"
        case .whenUnlockedThisDeviceOnly: "unlocked, this device"
        case .afterFirstUnlockThisDeviceOnly: "after-first-unlock, this device"
        case .alwaysThisDeviceOnly: "always, this device"
        case .whenPasscodeSetThisDeviceOnly: "passcode set, this device"
        case nil: "\(number)"
        }
    }
}

extension DoctorReport {
    /// Whether a copy was to be kept and could not be.
    var lacksNewCopy: Bool { copy?.state == .failed || copy?.state == .noRoom }
}

import VaubanAccessPolicy
import VaubanKeychainWire

/// The texts of `vauban doctor`: numbers and reasons, never an item's name.
enum DoctorText {
    static func lines(_ report: DoctorReport) -> [String] {
        var lines = [StatusText.row("Checked", checked(report))]
        if report.locked > 0 {
            lines.append(
                StatusText.row(
                    "Not checked", "\(count(report.locked, "item")), locked; to verify them, run vauban unlock and vauban doctor again"))
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
            The keychain database is damaged and was set aside. A verified copy of \(StatusText.time(copy.date)) contains \
            \(count(copy.rows, "item")).
            """
        ]
        if let since = copy.damagedSince { lines.append("The damaged database was last written on \(StatusText.time(since)).") }
        lines.append("Changes after the copy are lost. Items deleted after it COME BACK, old passwords too.")
        lines.append("The damaged database is kept unchanged.")
        return lines
    }

    private static func checked(_ report: DoctorReport) -> String {
        var text = count(report.checked, "item") + ": location, attributes, integrity, indexes"
        let opened = report.checked - report.unopened
        if opened > 0 { text += "; \(opened) with the secret" }
        if report.unopened > 0 { text += "; \(report.unopened) without, since reading needs your approval or a program's password" }
        return text
    }

    private static func findings(_ report: DoctorReport) -> [String] {
        var lines = report.findings.map { finding in
            var text = words(finding.reason)
            if finding.row > 0 {
                text = "item \(finding.row)\(finding.protection > 0 ? ", class \(className(finding.protection))" : ""): " + text
            }
            return StatusText.row(finding.isRepaired ? "Repaired" : "Found", text)
        }
        let more = report.found - report.findings.count
        if more > 0 { lines.append(StatusText.row("", "and \(more) more")) }
        return lines
    }

    private static func quarantine(_ report: DoctorReport) -> [String] {
        report.quarantine.map {
            StatusText.row("Set aside", "\(count($0.count, "item")), since \(StatusText.time($0.since)): \(words($0.reason))")
        }
    }

    private static func copy(_ report: DoctorReport) -> String {
        let why: String
        switch report.copy?.state {
        case .kept:
            return
                "verified, with \(count(report.copy?.rows ?? 0, "item")); items that you delete from now on are still in it"
        case .tooLarge: why = "none, since the database is larger than 256 MiB; keep your own backups"
        case .noRoom: why = "none, since the disk is full; \(wayOut(report.copy?.bytesMissing)), then run vauban doctor again"
        case .failed: why = "none, since writing to the disk failed"
        case nil: why = "none, since not everything was verified"
        }
        guard let earlier = report.earlier else { return "\(why). No earlier copy exists" }
        return "\(why). The copy of \(StatusText.time(earlier.date)), with \(count(earlier.rows, "item")), is kept"
    }

    private static func wayOut(_ bytesMissing: Int64?) -> String {
        guard let bytesMissing else { return "free space" }
        return "free \((bytesMissing + (1 << 20) - 1) >> 20) MiB"
    }

    private static func result(_ report: DoctorReport) -> String {
        let isUnrepaired = report.found > report.repaired
        if report.findings.contains(where: { $0.reason == .filePages }) {
            return "the database is damaged; its next use sets it aside, then run: vauban doctor --restore"
        }
        if isUnrepaired { return "some damage cannot be repaired; the affected items are kept, and nothing else is affected" }
        if report.found > 0 { return "all damage is repaired; to verify: vauban doctor" }
        if !report.quarantine.isEmpty { return "all other items are good; an item set aside returns when it opens again" }
        if report.lacksNewCopy { return "all items are good, but no new copy was made" }
        return report.locked > 0 ? "all checked items are good" : "everything is good"
    }

    private static func words(_ reason: DoctorFinding.Reason) -> String {
        switch reason {
        case .binding: "its contents belong to another place"
        case .metadata: "its attributes cannot be decrypted"
        case .content: "its attributes do not match its class"
        case .digest: "its parts do not belong together"
        case .secret: "its secret cannot be decrypted"
        case .wrappedKey: "its key cannot be unwrapped"
        case .keyUnknown: "its class key is unknown; an older state may have been restored"
        case .keyDestroyed: "its class key was destroyed, so it can never be read; removed"
        case .indexColumns: "its name index was wrong"
        case .lookups: "some of its indexes were wrong"
        case .orphanedLookup: "an index entry had no item"
        case .fileIndexes: "the indexes of the database did not match its rows"
        case .filePages: "the database file has damaged pages"
        case .readmitted: "it opens again and was put back"
        }
    }

    private static func className(_ number: Int64) -> String {
        switch ProtectionClass(number: number) {
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
    /// Whether a requested copy could not be kept.
    var lacksNewCopy: Bool { copy?.state == .failed || copy?.state == .noRoom }
}

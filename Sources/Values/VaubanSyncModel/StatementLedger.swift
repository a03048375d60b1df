/// The number and SHA-256 of a statement about the circle.
package struct StatementMark: Hashable, Sendable {
    package let number: Int64
    package let digest: [UInt8]

    package init(number: Int64, digest: [UInt8]) {
        self.number = number
        self.digest = digest
    }
}

/// Which statements about the circle this device has followed, and what other devices report of theirs in files that they sign: a pure
/// function (Specs/sync.md, "Statements that are held back").
package struct StatementLedger: Hashable, Sendable {
    /// How many of the last statements are compared.
    package static let comparedMax: Int64 = 1000

    /// This device.
    private let device: [UInt8]
    /// The last statement that was followed.
    package private(set) var last: Int64 = 0
    /// The digests of the last statements, by number. A statement that the folder lacks has no digest, and is compared with nothing.
    package private(set) var digests: [Int64: [UInt8]]
    /// The last statement of each device that names one which this device does not have.
    package private(set) var reports: [[UInt8]: StatementMark]
    /// The devices that followed another statement of this number than this device.
    package private(set) var forks: [[UInt8]: Int64]
    /// The devices whose reports are new since the ledger was read: the statements that they name may just have been made.
    package private(set) var fresh: Set<[UInt8]> = []
    /// The last statement before those that were followed now, which need not lead to it.
    private var joint: Int64?

    package init(
        device: [UInt8], digests: [Int64: [UInt8]] = [:], reports: [[UInt8]: StatementMark] = [:], forks: [[UInt8]: Int64] = [:]
    ) {
        self.device = device
        self.digests = digests
        self.reports = reports
        self.forks = forks
        last = digests.keys.max() ?? 0
    }

    /// Whether nobody names a statement that this device does not have.
    package var isWhole: Bool { reports.isEmpty && forks.isEmpty }

    /// Takes the last statement that this device has followed. If it had followed a later one before, or another one of this number, it was
    /// put back to an earlier state.
    package mutating func follow(_ mark: StatementMark) {
        guard mark.number > 0 else { return }
        if let known = digests[mark.number], known != mark.digest { forks[device] = mark.number }
        if last > mark.number, let digest = digests[last] { reports[device] = StatementMark(number: last, digest: digest) }
        if last > 0, last < mark.number { joint = last }
        digests = digests.filter { $0.key < mark.number && $0.key > mark.number - Self.comparedMax }
        digests[mark.number] = mark.digest
        last = mark.number
    }

    /// Returns the statement whose predecessor is the next to be learned or compared, going back from this number; nil if all are known.
    package func unlinked(from number: Int64) -> StatementMark? {
        var number = number
        while number > max(1, last - Self.comparedMax + 1), let digest = digests[number] {
            if digests[number - 1] == nil || number - 1 == joint { return StatementMark(number: number, digest: digest) }
            number -= 1
        }
        return nil
    }

    /// Takes the digest of the statement before another one, which names it. If this device had followed another one, it was put back to
    /// an earlier state.
    package mutating func link(_ mark: StatementMark, to previous: [UInt8]) {
        let number = mark.number - 1
        guard digests[mark.number] == mark.digest, number > 0 else { return }
        if let known = digests[number] {
            if known != previous { forks[device] = number }
        } else if digests[number - 1] != nil {
            // This closes a gap. The digests below it were not compared yet.
            joint = number - 1
        }
        digests[number] = previous
        if joint == number { joint = nil }
    }

    /// Notes the last statement that a device names in a file.
    package mutating func note(_ mark: StatementMark, by reader: [UInt8]) {
        guard (1...CircleRequest.numberMax).contains(mark.number) else { return }
        if let known = digests[mark.number] {
            if known != mark.digest, forks[reader] == nil { forks[reader] = mark.number }
        } else if mark.number > last, reports[reader].map({ $0.number < mark.number }) ?? true {
            if reports[reader] == nil { fresh.insert(reader) }
            reports[reader] = mark
        }
    }

    /// Compares the kept reports with what has been followed since, and forgets the reports of devices that are not in the circle. A report
    /// stays as long as this device does not know the statement of that number.
    package mutating func compare(among members: [CircleMember]) {
        let devices = Set(members.map(\.device) + [device])
        reports = reports.filter { devices.contains($0.key) }
        forks = forks.filter { devices.contains($0.key) }
        for (reader, mark) in reports where digests[mark.number] != nil {
            reports[reader] = nil
            note(mark, by: reader)
        }
        fresh.formIntersection(reports.keys)
    }
}

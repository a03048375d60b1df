import VaubanKeychainWire
import VaubanRefusal
package import VaubanSyncModel

/// What this device remembers between runs: how far it has read each device, what others reported about that, and its ledger. It is sealed
/// under a key of this device's part of the circle, so that no change to it goes unnoticed.
package struct SyncState {
    private static let version = 6

    /// A report in one device's files about another device's files.
    package struct Report: Hashable {
        package let reader: [UInt8]
        package let writer: [UInt8]
    }

    /// The files that were read, by device, including this device's own.
    package internal(set) var seen: [[UInt8]: SyncTrail] = [:]
    /// How far others have read where this device has not: those files are withheld from it, or not copied yet.
    package internal(set) var reports: [Report: SyncPosition] = [:]
    /// Which devices have read other files than this device has, and whose files.
    package internal(set) var forks: Set<Report> = []
    package var ledger: SyncLedger
    /// Whether to write everything again, for devices that will not read the files of a removed one.
    var repeatsAll = false
    /// Whether to read all files again, because something was lost here or could not be applied.
    package var rereads = false {
        // Drop the plan: what the ledger no longer knows is not marked to be rewritten, nor is what comes back.
        didSet { if rereads { compaction = nil } }
    }
    /// The number of the last list of items on this device.
    var listed: Int64 = 0
    /// Whether a list had no greater number than the one before, and the ledger has not taken that into account yet.
    var isEarlier = false

    /// The planned compaction of this device's files; `recorded` is the last one that was completed.
    package internal(set) var compaction: Compaction?
    package internal(set) var recorded: Compaction?
    /// How many of this device's files each member has reported as read, exactly as this device wrote them.
    var acknowledged: [[UInt8]: Int64] = [:]
    /// How many files of each device this one has reported as read.
    var reportedReads: [[UInt8]: Int64] = [:]

    /// A digest of the items that stay on this device, if one of them keeps another device's change from being applied; otherwise nil.
    package var obstacle: [UInt8]?
    /// The version of Vauban that refused a change for good; nil if none did. Another version may be able to apply it.
    package var refuser: [UInt8]?

    /// What the members have written for each companion, as far as this one knows.
    struct Companion: Hashable {
        var seen: [[UInt8]: SyncTrail] = [:]
        var ledger = CompanionLedger()
    }
    var companions: [[UInt8]: Companion] = [:]

    /// The statements about the circle that this device has followed, and those that others name.
    package var statements: StatementLedger

    package init(device: [UInt8]) {
        ledger = SyncLedger(device: device)
        statements = StatementLedger(device: device)
    }

    /// Notes how far a member reports to have read.
    mutating func note(_ position: SyncPosition, _ report: Report) {
        guard position.number > 0 else { return }
        if let chain = seen[report.writer]?.chain(at: position.number) {
            reports[report] = nil
            if chain != position.chain {
                forks.insert(report)
            } else if report.writer == ledger.device, report.reader != report.writer {
                acknowledged[report.reader] = max(acknowledged[report.reader] ?? 0, position.number)
            }
        } else if let trail = seen[report.writer], position.number <= trail.base {
            // The files are gone, and the record begins after them.
            reports[report] = nil
        } else if reports[report].map({ $0.number < position.number }) ?? true {
            reports[report] = position
        }
    }

    /// Notes the next file of a writer as read, and what the writer reports in it.
    package mutating func noteRead(_ next: SyncStream.Next, of writer: [UInt8], among members: [CircleMember]) {
        if let record = next.record {
            seen[writer, default: SyncTrail()].skip(to: record)
            // This device was rolled back to before it compacted.
            if writer == ledger.device { noteRecord(record) }
        }
        seen[writer, default: SyncTrail()].append(next.bytes)
        if writer == ledger.device { noteReportedReads(in: next.file) }
        for other in members where other.device != writer || writer == ledger.device {
            if let read = next.file.seen[other.device] { note(read, .init(reader: writer, writer: other.device)) }
        }
    }

    /// Forgets the files of devices that are no longer members. Their changes are written again: some members may not have read them, and
    /// now no longer will.
    mutating func forgetRemoved(_ circle: CircleView) {
        let devices = Set(circle.members.map(\.device))
        companions = companions.filter { device, _ in circle.companions.contains { $0.device.device == device } }
        companions = companions.mapValues { known in
            var companion = known
            companion.seen = companion.seen.filter { devices.contains($0.key) }
            return companion
        }
        acknowledged = acknowledged.filter { devices.contains($0.key) }
        reportedReads = reportedReads.filter { devices.contains($0.key) }
        let removed = seen.keys.filter { !devices.contains($0) }
        for device in removed { seen[device] = nil }
        if !removed.isEmpty { ledger.repeatChanges(ofOthersThan: devices) }
    }

    /// Compares the kept reports with what has been read since, and forgets reports by or about devices that are not members.
    package mutating func compareReports(among members: [CircleMember]) {
        let devices = Set(members.map(\.device))
        let isCurrent = { (report: Report) in devices.contains(report.reader) && devices.contains(report.writer) }
        reports = reports.filter { isCurrent($0.key) }
        forks = forks.filter(isCurrent)
        for (report, position) in reports { note(position, report) }
        statements.compare(among: members)
    }

    /// Returns the members whose files another device has reported to have read further than this device has.
    package func membersWithUnreadFiles(among members: [CircleMember]) -> [CircleMember] {
        let writers = Set(reports.keys.map(\.writer))
        return members.filter { writers.contains($0.device) }
    }

    // MARK: Changes that could not be applied

    /// Has all files read again if what kept a change from being applied may be gone.
    /// - Parameters:
    ///   - staying: The digest of the items that stay on this device now.
    ///   - version: The version of this Vauban.
    package mutating func retry(staying: [UInt8], version: [UInt8]) {
        if obstacle.map({ $0 != staying }) == true { (obstacle, rereads) = (nil, true) }
        if refuser.map({ $0 != version }) == true { (refuser, rereads) = (nil, true) }
    }

    // MARK: Coding

    private static let digestBytes = 32

    /// Reads a state; makes a new one if there is none.
    package init(_ sealed: [UInt8]?, of circle: CircleView, _ cipher: FrameCipher, at path: String) throws {
        self.init(device: circle.device)
        if let sealed {
            guard let plaintext = cipher.open(sealed, .syncState), read(plaintext) else {
                throw Refusal(
                    .badParameter,
                    "\(SafeText.visible(path)) is damaged; remove it and run vauban sync again, which reads the whole folder anew")
            }
        }
        statements.follow(StatementMark(number: circle.number, digest: circle.digest))
        statements.compare(among: circle.members)
    }

    private mutating func read(_ bytes: [UInt8]) -> Bool {
        var reader = ByteReader(bytes)
        guard let version = reader.number(), (1...Self.version).contains(version), let flags = reader.take(1)?.first,
            let number = reader.date(),
            let devices = reader.number()
        else { return false }
        repeatsAll = flags & 1 != 0
        rereads = flags & 2 != 0
        isEarlier = flags & 4 != 0
        listed = number
        for _ in 0..<devices {
            guard let (device, trail) = Self.trail(&reader, version) else { return false }
            seen[device] = trail
        }
        guard let served = reader.number() else { return false }
        for _ in 0..<served {
            guard let device = reader.take(16), let companion = Self.companion(&reader, version) else { return false }
            companions[device] = companion
        }
        guard let kept = reader.number() else { return false }
        for _ in 0..<kept {
            guard let report = Self.report(&reader), let number = reader.date(), let chain = reader.take(32) else { return false }
            reports[report] = SyncPosition(number: number, chain: chain)
        }
        guard let found = reader.number() else { return false }
        for _ in 0..<found {
            guard let report = Self.report(&reader) else { return false }
            forks.insert(report)
        }
        if version > 1 {
            guard let planned = Self.compaction(&reader), let done = Self.compaction(&reader), let acknowledged = Self.counts(&reader),
                let reportedReads = Self.counts(&reader)
            else { return false }
            (compaction, recorded) = (planned.last > 0 ? planned : nil, done.last > 0 ? done : nil)
            (self.acknowledged, self.reportedReads) = (acknowledged, reportedReads)
        }
        if version > 2 {
            guard let obstacle = reader.take(Self.digestBytes), let refuser = reader.take(Self.digestBytes) else { return false }
            self.obstacle = obstacle.contains { $0 != 0 } ? obstacle : nil
            self.refuser = refuser.contains { $0 != 0 } ? refuser : nil
        }
        if version > 3 {
            guard let statements = Self.statements(&reader, of: ledger.device) else { return false }
            self.statements = statements
        }
        var entries: [[UInt8]: SyncLedger.Entry] = [:]
        while !reader.isAtEnd {
            guard let name = reader.take(SyncRequest.nameBytes), let entry = Self.entry(&reader, of: ledger.device) else { return false }
            entries[name] = entry
        }
        ledger = SyncLedger(device: ledger.device, entries: entries)
        if version < 5 { ledger.forgetConflicts() }
        return true
    }

    private static func report(_ reader: inout ByteReader) -> Report? {
        guard let who = reader.take(16), let writer = reader.take(16) else { return nil }
        return Report(reader: who, writer: writer)
    }

    private static func compaction(_ reader: inout ByteReader) -> Compaction? {
        guard let last = reader.date(), let end = reader.date() else { return nil }
        return Compaction(last: last, end: end)
    }

    private static func counts(_ reader: inout ByteReader) -> [[UInt8]: Int64]? {
        guard let count = reader.number() else { return nil }
        var counts: [[UInt8]: Int64] = [:]
        for _ in 0..<count {
            guard let device = reader.take(16), let number = reader.date() else { return nil }
            counts[device] = number
        }
        return counts
    }

    private static func trail(_ reader: inout ByteReader, _ version: Int) -> (device: [UInt8], SyncTrail)? {
        guard let device = reader.take(16), let count = reader.number(), let digest = reader.take(32) else { return nil }
        var (base, tail): (Int64, Int64) = (0, 0)
        if version > 1 {
            guard let number = reader.date(), let last = reader.date(), (0...SyncPosition.numberMax).contains(number) else { return nil }
            (base, tail) = (number, last)
        }
        var chains: [[UInt8]] = []
        for _ in 0..<count {
            guard let chain = reader.take(32) else { return nil }
            chains.append(chain)
        }
        return (device, SyncTrail(base: base, chains: chains, digest: digest, tail: tail))
    }

    private static func companion(_ reader: inout ByteReader, _ version: Int) -> Companion? {
        guard let writers = reader.number() else { return nil }
        var companion = Companion()
        for _ in 0..<writers {
            guard let (writer, trail) = trail(&reader, version) else { return nil }
            companion.seen[writer] = trail
        }
        guard let count = reader.number() else { return nil }
        var entries: [[UInt8]: CompanionLedger.Entry] = [:]
        for _ in 0..<count {
            guard let name = reader.take(SyncRequest.nameBytes), let time = reader.date(), let device = reader.take(16),
                let flags = reader.take(1)?.first, let circleTime = reader.date(), let writer = reader.take(16)
            else { return nil }
            entries[name] = CompanionLedger.Entry(
                stamp: SyncStamp(time: time, device: device), circleTime: circleTime, isItem: flags & 1 != 0, writer: writer)
        }
        companion.ledger = CompanionLedger(entries: entries)
        return companion
    }

    private static func bytes(_ trails: [[UInt8]: SyncTrail]) -> [UInt8] {
        var bytes = BackupFormat.number(trails.count)
        for (device, trail) in trails {
            bytes += device + BackupFormat.number(trail.chains.count) + trail.digest
            bytes += SyncFile.bytes(of: trail.base) + SyncFile.bytes(of: trail.tail)
            for chain in trail.chains { bytes += chain }
        }
        return bytes
    }

    private static func bytes(_ counts: [[UInt8]: Int64]) -> [UInt8] {
        BackupFormat.number(counts.count) + counts.flatMap { $0.key + SyncFile.bytes(of: $0.value) }
    }

    private static func bytes(_ companion: Companion) -> [UInt8] {
        var bytes = Self.bytes(companion.seen) + BackupFormat.number(companion.ledger.entries.count)
        for (name, entry) in companion.ledger.entries {
            bytes += name + SyncFile.bytes(of: entry.stamp.time) + entry.stamp.device
            bytes += [entry.isItem ? 1 : 0] + SyncFile.bytes(of: entry.circleTime) + entry.writer
        }
        return bytes
    }

    private static func entry(_ reader: inout ByteReader, of this: [UInt8]) -> SyncLedger.Entry? {
        guard let time = reader.date(), let device = reader.take(16), let flags = reader.take(1)?.first,
            let mark = reader.take(SyncRequest.markBytes), let item = reader.take(SyncRequest.itemBytes), let changed = reader.date()
        else { return nil }
        var base: SyncStamp?
        if flags & 16 != 0 {
            guard let baseTime = reader.date(), let baseDevice = reader.take(16) else { return nil }
            base = SyncStamp(time: baseTime, device: baseDevice)
        }
        var entry = SyncLedger.Entry(
            stamp: SyncStamp(time: time, device: device), mark: flags & 1 == 0 ? mark : nil, item: flags & 4 == 0 ? nil : item,
            changed: changed, isPending: flags & 2 != 0, isUnsent: flags & 8 != 0, base: base)
        if flags & 32 != 0 {
            guard let versions = versions(&reader, of: entry, on: this) else { return nil }
            entry.versions = versions
        }
        return entry
    }

    package func sealed(_ cipher: FrameCipher) throws -> [UInt8] {
        var bytes = BackupFormat.number(Self.version) + [(repeatsAll ? 1 : 0) | (rereads ? 2 : 0) | (isEarlier ? 4 : 0)]
        bytes += SyncFile.bytes(of: listed) + Self.bytes(seen) + BackupFormat.number(companions.count)
        for (device, companion) in companions { bytes += device + Self.bytes(companion) }
        bytes += BackupFormat.number(reports.count)
        for (report, position) in reports { bytes += report.reader + report.writer + SyncFile.bytes(of: position.number) + position.chain }
        bytes += BackupFormat.number(forks.count)
        for fork in forks { bytes += fork.reader + fork.writer }
        for compaction in [compaction, recorded] {
            bytes += SyncFile.bytes(of: compaction?.last ?? 0) + SyncFile.bytes(of: compaction?.end ?? 0)
        }
        bytes += Self.bytes(acknowledged) + Self.bytes(reportedReads)
        for digest in [obstacle, refuser] { bytes += digest ?? [UInt8](repeating: 0, count: Self.digestBytes) }
        bytes += Self.bytes(statements)
        for (name, entry) in ledger.entries {
            let none = [UInt8](repeating: 0, count: 16)
            var flags: UInt8 = (entry.mark == nil ? 1 : 0) | (entry.isPending ? 2 : 0) | (entry.item == nil ? 0 : 4)
            flags |= (entry.isUnsent ? 8 : 0) | (entry.base == nil ? 0 : 16) | (entry.versions.isEmpty ? 0 : 32)
            bytes += name + SyncFile.bytes(of: entry.stamp.time) + entry.stamp.device
            bytes += [flags] + (entry.mark ?? none) + (entry.item ?? none) + SyncFile.bytes(of: entry.changed)
            if let base = entry.base { bytes += SyncFile.bytes(of: base.time) + base.device }
            if !entry.versions.isEmpty { Self.append(entry.versions, of: entry, on: ledger.device, to: &bytes) }
        }
        return try cipher.seal(bytes, .syncState)
    }
}

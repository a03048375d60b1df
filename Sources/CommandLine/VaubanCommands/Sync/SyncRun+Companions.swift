import VaubanKeychainClient
import VaubanLinuxHost
import VaubanRefusal
import VaubanSyncModel

/// Writing what the companions receive: the items on their lists, and nothing else (Specs/sync.md, "A companion").
extension SyncRun {
    /// Writes, for every companion, what its list allows and no member has written yet.
    mutating func writeForCompanions() throws {
        guard !circle.view.companions.isEmpty else { return }
        if state.statements.isWhole {
            try forEachCompanion { run, companion in try run.write(for: companion) }
            // What others wrote for companions names statements too.
            if !state.statements.isWhole { faults += statementFaults() }
        }
        skipsCompanions = !state.statements.isWhole
    }

    /// Reads what was written for the companions, to know what each of them has received.
    mutating func readForCompanions() throws {
        try forEachCompanion { run, companion in _ = try run.read(for: companion) }
    }

    private mutating func forEachCompanion(_ body: (inout SyncRun, CircleCompanion) throws -> Void) throws {
        for companion in circle.view.companions {
            do {
                try body(&self, companion)
            } catch let refusal as Refusal where [.badParameter, .unsupported, .keyUnknown].contains(refusal.reason) {
                faults.append("For \(SafeText.visible(companion.device.name)): \(refusal.detail ?? refusal.message)")
            }
        }
    }

    private mutating func write(for companion: CircleCompanion) throws {
        let device = companion.device.device
        let cipher = try read(for: companion)
        // An outdated list would send the companion again what was removed from it.
        guard state.statements.isWhole else { return try save() }
        let due = state.companions[device, default: .init()].ledger.due(
            for: companion.names, from: state.ledger, by: circle.view.device, members: Set(circle.view.members.map(\.device)),
            now: MachineClock.referenceMicroseconds)
        let changes = due.map { Change(name: $0.name, stamp: $0.entry.stamp, changed: $0.entry.circleTime, isItem: $0.entry.isItem) }
        try write(changes, for: device) { run, records in try run.write(records, for: device, cipher) }
        try save()
    }

    /// Reads what the members wrote for a companion. Returns the cipher for new files for it.
    private mutating func read(for companion: CircleCompanion) throws -> FrameCipher {
        let device = companion.device.device
        let ciphers = try circle.companionFiles(device)
        guard let cipher = ciphers.last else { throw Refusal(.internalError) }
        for member in circle.view.members {
            do {
                try read(
                    SyncStream(folder: circle.folder, circle: circle.view, ciphers: ciphers, writer: member, companion: device), device)
            } catch let refusal as Refusal where refusal.reason == .badParameter && member.device != circle.view.device {
                faults.append("For \(SafeText.visible(companion.device.name)): \(refusal.detail ?? refusal.message)")
            }
        }
        return cipher
    }

    /// Notes what a member, or an earlier run of this device, wrote for a companion.
    private mutating func read(_ stream: SyncStream, _ companion: [UInt8]) throws {
        var trail = state.companions[companion]?.seen[stream.writer.device] ?? SyncTrail()
        let listed = try stream.numbers(trail)
        while let next = try stream.next(after: trail.position, trail, listed: listed) {
            trail.append(next.bytes)
            if let statement = next.file.statement { state.statements.note(statement, by: stream.writer.device) }
            note(next.file.records, of: stream.writer.device, for: companion)
            state.companions[companion, default: .init()].seen[stream.writer.device] = trail
        }
    }

    private mutating func write(_ records: [SyncRecord], for companion: [UInt8], _ cipher: FrameCipher) throws {
        let me = circle.view.device
        let known = state.companions[companion, default: .init()].seen
        let file = SyncFile(seen: known.mapValues(\.position), records: records)
        let bytes = try add(file, at: known[me]?.position ?? SyncPosition(), for: companion, cipher)
        state.companions[companion, default: .init()].seen[me, default: SyncTrail()].append(bytes)
        note(records, of: me, for: companion)
        sent += records.count
        try save()
    }

    private mutating func note(_ records: [SyncRecord], of writer: [UInt8], for companion: [UInt8]) {
        var isAhead = false
        for record in records {
            var isItem = false
            if case .put = record.content { isItem = true }
            let entry = CompanionLedger.Entry(stamp: record.stamp, circleTime: record.changed, isItem: isItem, writer: writer)
            let isNoted = state.companions[companion, default: .init()].ledger.note(
                record.name, entry, now: MachineClock.referenceMicroseconds)
            if !isNoted { isAhead = true }
        }
        guard isAhead else { return }
        let names = Dictionary(
            (circle.view.members + circle.view.companions.map(\.device)).map { ($0.device, SafeText.visible($0.name)) }
        ) { first, _ in first }
        faults.append(
            "For \(names[companion] ?? "a companion"): changes by \(names[writer] ?? "a device") are ignored, since they are dated more "
                + "than ten years ahead of this device's clock")
    }
}

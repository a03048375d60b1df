import VaubanKeychainClient
import VaubanKeychainWire
import VaubanRefusal
import VaubanSyncModel

/// A light run looks at what was reported to have changed since the run before, and at nothing else (Specs/sync.md, "Following").
/// Everything that a whole run verifies is left to the next one.
extension SyncRun {
    /// Whether a light run may follow this one: there is nothing that it would not see.
    var mayBeFollowedLightly: Bool {
        !circle.view.isCompanion && circle.view.companions.isEmpty && circle.view.tokens.isEmpty && !isBehind && faults.isEmpty
            && logFaults.isEmpty && clearingFault == nil && !triesAgain && !state.rereads && !state.isEarlier && !state.repeatsAll
            && hasNoReports
    }

    /// Whether nobody has read other or more files than this device.
    private var hasNoReports: Bool { state.reports.isEmpty && state.forks.isEmpty }

    /// Sends the changes of some items, and takes those of some devices. Returns false if that takes a whole run; what was done stays done.
    /// - Parameter devices: Identifiers of devices that wrote files, in hexadecimal.
    mutating func runLightly(items: [[UInt8]], devices: Set<String>) throws -> Bool {
        (received, sent) = (0, 0)
        guard circle.view.number < CircleRequest.numberMax else { return false }
        // The device may have been removed, or another one: nothing is read or written then.
        nextStatement = SyncFolder.File(name: SyncFolder.name(of: circle.view.number + 1), section: .circle)
        let isDone: Result<Bool, any Error> = Result { try sendAndTake(items, from: devices) }
        if triesAgain || !faults.isEmpty {
            // However it ended, a whole run reports them, and reads the files again.
            state.rereads = true
            try save()
        }
        return try isDone.get() && mayBeFollowedLightly
    }

    private mutating func sendAndTake(_ items: [[UInt8]], from devices: Set<String>) throws -> Bool {
        let writers = circle.view.members.filter { devices.contains(StoredBackupFolder.hex($0.device)) }
        guard writers.count == devices.count, try send(items) else { return false }
        for writer in writers where writer.device != circle.view.device { guard try readNext(of: writer) else { return false } }
        state.compareReports(among: circle.view.members)
        return true
    }

    private mutating func send(_ items: [[UInt8]]) throws -> Bool {
        guard !items.isEmpty else { return true }
        let listed = try circle.session.keychain.syncRows(of: items)
        // What stays on this device is named by whole runs.
        guard listed.allSatisfy({ $0.name != nil }) else { return false }
        let changed = Dictionary(listed.compactMap { row in row.name.map { ($0, row) } }) { first, _ in first }
        let here = changed.map { SyncedRow(name: $0.key, mark: $0.value.mark, item: $0.value.item, changed: $0.value.changed) }
        guard let names = state.ledger.stamp(only: here, of: items) else { return false }
        rows.merge(changed) { $1 }
        // Once, after the file: without it the next run finds the same stamps.
        savesAtEnd = true
        do { try write(names) } catch {
            savesAtEnd = false
            try? save()
            throw error
        }
        savesAtEnd = false
        try save()
        return true
    }
}

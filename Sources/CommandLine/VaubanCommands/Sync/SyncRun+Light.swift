import VaubanKeychainClient
import VaubanKeychainWire
import VaubanRefusal
import VaubanSyncModel

/// A light run looks only at what was reported to have changed since the previous run (Specs/sync.md, "Following"). All other checks are
/// left to the next whole run.
extension SyncRun {
    /// Whether a light run may follow this one, because it would not miss anything.
    var mayBeFollowedLightly: Bool {
        !circle.view.isCompanion && circle.view.companions.isEmpty && circle.view.tokens.isEmpty && !isBehind && faults.isEmpty
            && logFaults.isEmpty && clearingFault == nil && !triesAgain && !state.rereads && !state.isEarlier && !state.repeatsAll
            && hasNoReports
    }

    /// Whether no device has read other or more files than this one.
    private var hasNoReports: Bool { state.reports.isEmpty && state.forks.isEmpty && state.statements.isWhole }

    /// Sends the changes of some items, and receives those of some devices. Returns false if a whole run is needed; what was done stays
    /// done.
    /// - Parameter devices: The identifiers of the devices that wrote files, in hexadecimal.
    mutating func runLightly(items: [[UInt8]], devices: Set<String>) throws -> Bool {
        (received, sent, conflicts, hasMerged) = (0, 0, [:], false)
        guard circle.view.number < CircleRequest.numberMax else { return false }
        if let known = try circle.home.revision, try circle.folder.revision()?.setback(since: known) != nil { return false }
        // If a new statement exists, a device, perhaps this one, may have been removed. Then nothing is read or written.
        nextStatement = SyncFolder.File(name: SyncFolder.name(of: circle.view.number + 1), section: .circle)
        let isDone: Result<Bool, any Error> = Result { try sendAndTake(items, from: devices) }
        if triesAgain || !faults.isEmpty {
            // Even if an error was thrown, have a whole run read the files again and report the faults.
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
        // The whole run that follows sends merged items.
        return !hasMerged
    }

    private mutating func send(_ items: [[UInt8]]) throws -> Bool {
        guard !items.isEmpty else { return true }
        let listed = try circle.client.keychain.syncRows(of: items)
        // Only a whole run reports items that stay on this device.
        guard listed.allSatisfy({ $0.name != nil }) else { return false }
        // An item that is gone may have been the one that blocked another device's change.
        guard state.obstacle == nil || listed.count == items.count else { return false }
        let changed = Dictionary(listed.compactMap { row in row.name.map { ($0, row) } }) { first, _ in first }
        let here = changed.map { SyncedRow(name: $0.key, mark: $0.value.mark, item: $0.value.item, changed: $0.value.changed) }
        guard let names = state.ledger.stamp(only: here, of: items) else { return false }
        rows.merge(changed) { $1 }
        // Save once, after the file is written: if this is killed before, the next run computes the same stamps.
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

// Moves rows from an older class key to the current one, in batches. The rows themselves record the progress, so the move continues after a
// kill at any point.

internal import EnclaveWire
internal import KeychainStore
internal import VaubanAccessPolicy
internal import VaubanDER
internal import VaubanKeychainModel
internal import VaubanKeychainWire
internal import VaubanRefusal

extension RequestInProgress {
    /// Moves one batch. A row that another request writes meanwhile is left for the next batch.
    func rewrap() throws {
        // The last batch removes the verified copy.
        guard caller.isUserAtCommandLine else { throw Refusal(.notAllowedHere, "Items are moved to new keys with the vauban command") }
        // Keys that were leased before a class key was renewed would name the older one as current.
        let lease = try keys.leaseAnew()
        let batch = RewrapBatch()
        for rows in try database.generations() {
            try rewrap(rows, under: lease, batch: batch) { try database.rows(of: rows, after: $0, count: $1, bytesMax: $2) }
        }
        for rows in try database.historyGenerations() {
            try rewrap(rows, under: lease, batch: batch) { try database.historyRows(of: rows, after: $0, count: $1, bytesMax: $2) }
        }
        let written = try database.move(batch.changes)
        // Rows that other requests wrote meanwhile are still to be moved, unless they are current now.
        batch.progress.done += written
        batch.progress.left += batch.changes.count - written
        batch.progress.kept += try database.quarantinedGenerations().filter { !lease.isCurrent($0) }.reduce(0) { $0 + $1.count }
        if batch.progress.left == 0 { try retire(lease) }
        try sink.send(.rewrapped(batch.progress))
        try sink.send(.done)
    }

    /// Moves the rows of one class and generation. `read` returns the rows after a given number, at most a given count and about a given
    /// number of bytes.
    private func rewrap(
        _ rows: RowGeneration, under lease: KeyLease, batch: RewrapBatch, read: (Int64, Int, Int) throws -> [StoredRow]
    ) throws {
        if lease.isCurrent(rows) { return }
        // The key is locked, destroyed or unknown; reading a row determines which.
        guard let current = lease.current(of: rows.protection), lease.holds(rows) else {
            batch.progress.kept += rows.count
            return
        }
        var seen = 0
        var last: Int64 = 0
        while !batch.isFull {
            let next = try read(last, KeychainLimits.batchRowsMax, KeychainLimits.batchBytesMax)
            guard let end = next.last?.id else { return }
            for row in next where !batch.isFull {
                seen += 1
                try rewrap(row, to: current, batch)
            }
            last = end
        }
        batch.progress.left += max(rows.count - seen, 0)
    }

    private func rewrap(_ row: StoredRow, to generation: [UInt8], _ batch: RewrapBatch) throws {
        do {
            guard let opened = try open(row) else {
                // It is still here under the earlier key.
                if lacksRoom { batch.progress.kept += 1 }
                return
            }
            guard let moved = try moved(opened, to: generation) else {
                batch.progress.kept += 1
                return
            }
            batch.take(moved)
        } catch is RowHasChanged {
            batch.progress.left += 1
        } catch let refusal as Refusal where [.locked, .beforeFirstUnlock, .interactionNotAllowed].contains(refusal.reason) {
            // The user has locked meanwhile, or the passcode is needed first.
            batch.progress.kept += 1
        }
    }

    /// Returns the row under its class's current key; nil if that needs the user or the application password.
    private func moved(_ opened: OpenedRow, to generation: [UInt8]) throws -> RowChange? {
        let binding = try binding(opened.record, item: opened.binding.item, generation: generation)
        let half: SecretHalf
        switch opened.binding.format {
        case .generationSeparate:
            guard let wrapped = try rewrapped(opened, to: generation) else { return nil }
            half = SecretHalf(binding: opened.row.halves.secretBinding, wrappedKey: wrapped, secret: opened.row.halves.secret)
        case .generationBound:
            // The secret half itself is bound to the older key, so it must be opened.
            guard opened.requirement.isNone, opened.binding.accessControl?.needsApplicationPassword != true else { return nil }
            guard let value = try openValue(of: opened, reason: nil, mayPrompt: false) else { return nil }
            half = try seal(value, binding)
        }
        let row = try row(of: opened, binding: binding, secret: half, blinds: opened.row.blinds)
        return RowChange(old: opened.row.handle, row: row, changesBlinds: false)
    }

    /// Returns the row's item key under another key of its class; nil if the row turns out to be absent.
    func rewrapped(_ opened: OpenedRow, to generation: [UInt8]) throws -> [UInt8]? {
        do {
            return try enclave.rewrap(opened.binding, wrapped: opened.row.halves.wrappedKey, generation: generation)
        } catch let refusal as Refusal {
            try dispose(of: opened.row, after: refusal)
            return nil
        }
    }

    /// Reports older class keys that no row needs to the enclave, which destroys them. From before the request is sent, no row can be
    /// written under one of them. Throws if rows outside of this database may need them.
    private func retire(_ lease: KeyLease) throws {
        let older = lease.keys.compactMap { key -> RowGeneration? in
            guard case .metadata(let protection) = key.purpose else { return nil }
            let rows = RowGeneration(protection: protection.number, generation: key.generation)
            return lease.isCurrent(rows) ? nil : rows
        }
        guard !older.isEmpty else { return }
        try throwIfRowsAreElsewhere()
        let unused = try database.close(older)
        guard !unused.isEmpty else { return }
        // The last verified copy contains rows under these keys, which can no longer be opened.
        try database.forgetVerified()
        let names = unused.map { KeyName(purpose: $0.protection, generation: $0.generation) }
        for start in stride(from: 0, to: names.count, by: EnclaveRequest.retiredMax) {
            try enclave.retire(Array(names[start..<min(start + EnclaveRequest.retiredMax, names.count)]))
        }
        keys.startOver()
    }

    /// Throws if the user's items may be in another file than this database: in one that was set aside and may be repaired, or in one that
    /// is missing at the moment, as when its folder is not mounted. The enclave knows the last log record of the right one.
    private func throwIfRowsAreElsewhere() throws {
        if let path = try database.fileSetAside() {
            throw Refusal(
                .notAllowedHere,
                """
                The older keys are kept for \(path), which was set aside. When you no longer need that file, remove it, as root if Vauban \
                is installed as a service, and run: vauban passcode roll
                """)
        }
        let end = try enclave.anchorLog([]).end
        guard try end.isStart || database.logChain(at: end.number) == end.chain else {
            throw Refusal(
                .notAllowedHere,
                """
                The older keys are kept, since this is an earlier or another keychain database than was used last. If it is \
                the right one, add or change an item and run: vauban passcode roll
                """)
        }
    }
}

/// The changes of one request and its progress.
private final class RewrapBatch {
    var changes: [RowChange] = []
    var progress = RewrapProgress(done: 0, left: 0, kept: 0)
    private var bytes = 0

    var isFull: Bool { changes.count >= KeychainLimits.rewrapRowsMax || bytes >= KeychainLimits.rewrapBytesMax }

    func take(_ change: RowChange) {
        changes.append(change)
        bytes += change.row.halves.secret.count + change.row.halves.metadata.count
    }
}

extension KeyLease {
    /// Returns the generation of a class's current key, if the class is unlocked.
    fileprivate func current(of protection: Int64) -> [UInt8]? { generations(of: protection).first }

    fileprivate func isCurrent(_ rows: RowGeneration) -> Bool { current(of: rows.protection) == rows.generation }

    fileprivate func holds(_ rows: RowGeneration) -> Bool { generations(of: rows.protection).contains(rows.generation) }

    /// Returns the generations of a class, the current one first.
    private func generations(of protection: Int64) -> [[UInt8]] {
        keys.compactMap { key in
            guard case .metadata(let known) = key.purpose, known.number == protection else { return nil }
            return key.generation
        }
    }
}

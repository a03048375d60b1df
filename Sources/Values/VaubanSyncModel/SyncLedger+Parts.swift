// What the ledger knows about the versions of an item, so that changes of different parts by two devices can be merged (Specs/sync.md,
// "Parts").

extension SyncLedger.Entry {
    /// Returns the noted versions with one more.
    func versions(with version: SyncedVersion?) -> [SyncedVersion] {
        // An unknown version may have been common to later changes: none before it is a common version then.
        guard let version else { return [] }
        return Array((versions.filter { $0.stamp != version.stamp } + [version]).suffix(SyncedVersion.countMax))
    }
}

extension SyncLedger {
    /// Returns the versions of an item that also hold for a new row of it. An item that is added again is another one.
    func versions(of name: [UInt8]) -> [SyncedVersion] {
        entries[name].flatMap { $0.mark == nil ? nil : $0.versions } ?? []
    }

    /// Returns how a change that is in conflict with this device's is merged with it; nil if the conflict is decided for the whole item.
    package func merge(on name: [UInt8], _ incoming: SyncStamp, _ conflict: SyncConflict, in origin: ChangeOrigin) -> PartMerge? {
        guard conflict == .replaced || conflict == .kept else { return nil }
        let versions = versions(of: name).sorted { $0.stamp < $1.stamp }
        let common = versions.filter { origin.maker(of: incoming, knew: $0) }
        guard !common.isEmpty else { return nil }
        let own = versions.filter { !common.contains($0) }
        return PartMerge(common: common.map(\.parts), own: own.map(\.parts), receivedWins: conflict == .replaced)
    }

    /// Returns whether a later change was made without knowledge of this device's last change, which therefore must stay in the history.
    /// - Parameter changed: When the item was changed, as the change says. With the date of the item here, both are the same state of it.
    package func mustKeep(_ name: [UInt8], replacedBy incoming: SyncStamp, changed: Int64, in origin: ChangeOrigin) -> Bool {
        guard let entry = entries[name], entry.mark != nil, entry.stamp.device == device, entry.changed != changed else { return false }
        if entry.isUnsent { return true }
        return entry.versions.first { $0.stamp == entry.stamp }.map { !origin.maker(of: incoming, knew: $0) } ?? false
    }

    /// Records that a change that was merged with this device's is in a row here: together they are a change by this device.
    package mutating func merge(_ row: SyncedRow, with incoming: SyncStamp, noting version: SyncedVersion?) {
        guard let known = entries[row.name] else { return }
        entries[row.name] = Entry(
            stamp: .change(at: row.changed, after: max(known.stamp, incoming), by: device), mark: row.mark, item: row.item,
            changed: row.changed, isPending: true, isUnsent: true, base: known.base.map { max($0, incoming) } ?? incoming,
            versions: known.versions(with: version))
    }

    /// Records that a change that was merged with this device's added nothing to it.
    package mutating func keep(_ name: [UInt8], besides version: SyncedVersion) {
        guard let entry = entries[name] else { return }
        entries[name]?.versions = entry.versions(with: version)
    }

    /// Takes back what `noteConflict` noted, since the change could not be merged yet.
    package mutating func takeBack(_ entry: Entry?, on name: [UInt8]) { entries[name] = entry }

    /// Forgets the versions of an item if a run that was killed sent one that is not noted.
    mutating func noteSent(_ name: [UInt8], _ stamp: SyncStamp) {
        guard stamp.device == device, let newest = entries[name]?.versions.map(\.stamp).max(), newest < stamp else { return }
        entries[name]?.versions = []
    }

    // MARK: Learning

    /// Returns the items of which no version is noted although the row here is as it was taken or sent last: of an earlier state, or after
    /// a run that was killed.
    /// - Parameter read: The number of the last file of each device, this one among them, that this one has read.
    package func unknownVersions(read: [[UInt8]: Int64]) -> [[UInt8]] {
        entries.compactMap { name, entry in
            let isSettled = entry.versions.isEmpty && entry.mark != nil && !entry.isPending && !entry.isUnsent
            return isSettled && file(of: entry, read: read) != nil ? name : nil
        }
    }

    /// Notes the version of a row that is as it was taken or sent last.
    package mutating func recordParts(_ name: [UInt8], mark: [UInt8], _ parts: PartDigests, read: [[UInt8]: Int64]) {
        guard let entry = entries[name], entry.versions.isEmpty, entry.mark == mark, let file = file(of: entry, read: read) else { return }
        entries[name]?.versions = [SyncedVersion(stamp: entry.stamp, file: file, parts: parts)]
    }

    /// Returns a file that has the version, or follows one of the same device that has it. What a removed device changed is also in a file
    /// of this one.
    private func file(of entry: Entry, read: [[UInt8]: Int64]) -> FilePlace? {
        let maker = read[entry.stamp.device] == nil ? device : entry.stamp.device
        return read[maker].map { FilePlace(device: maker, number: $0) }
    }
}

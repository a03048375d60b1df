package import VaubanRefusal
package import VaubanSyncModel

/// The files that one member wrote for all members or for one companion. Each is verified before the next is read.
package struct SyncStream {
    let folder: any SyncCarrier
    let circle: CircleView
    let ciphers: [FrameCipher]
    let writer: CircleMember
    /// The companion that the files are for; nil if they are for the members.
    let companion: [UInt8]?
    /// A file that must not exist while the next one is read; nil for none.
    let other: SyncFolder.File?

    package init(
        folder: any SyncCarrier, circle: CircleView, ciphers: [FrameCipher], writer: CircleMember, companion: [UInt8]? = nil,
        unless other: SyncFolder.File? = nil
    ) {
        self.folder = folder
        self.circle = circle
        self.ciphers = ciphers
        self.writer = writer
        self.companion = companion
        self.other = other
    }

    package struct Next {
        package let file: SyncFile
        let epoch: Int64
        let bytes: [UInt8]
        package let position: SyncPosition
        /// Whether the file was not read before.
        package let isNew: Bool
        /// The record of the files before this one, if it follows a gap.
        package let record: CompactionRecord?
    }

    var section: SyncFolder.Section {
        companion.map { .companion($0, writer: writer.device) } ?? .device(writer.device)
    }
    var name: String { SafeText.visible(writer.name) }

    /// Returns the numbers of the existing files. Throws if files that were read are gone without a record, or the last one has changed.
    package func numbers(_ known: SyncTrail) throws(Refusal) -> Set<Int64> {
        let numbers = try numbers()
        let number = known.position.number
        guard number > 0 else { return numbers }
        guard let last = numbers.max(), last >= max(number, known.tail) else {
            throw Refusal(
                .badParameter,
                "The folder lacks files of \(name) that were read before: it was put back to an earlier state, or is not copied "
                    + "completely")
        }
        let file = SyncFolder.name(of: number)
        let bytes = try folder.read(file, in: section)
        guard let bytes, !(number == 1 && isRecord(bytes)) else {
            // The record and what follows the gap show whether the chain is still the same.
            guard let record = try record(), record.last >= number else {
                throw Refusal(.badParameter, "The folder lacks the file \(file) of \(name), which was read before")
            }
            return numbers
        }
        guard SyncTrail.digest(of: bytes) == known.digest else {
            throw Refusal(.badParameter, "The file \(file) of \(name) is not the one that was read: the folder was altered")
        }
        return numbers
    }

    private func numbers() throws(Refusal) -> Set<Int64> {
        Set(try folder.names(in: section).compactMap(SyncFolder.number(of:)))
    }

    /// Returns the next file after a position, or after the gap that follows it; nil after the last one.
    /// - Parameter listed: The numbers of the existing files; nil if they were not listed. Then a missing file in the middle goes
    ///   unnoticed.
    package func next(after position: SyncPosition, _ known: SyncTrail, listed: Set<Int64>?) throws(Refusal) -> Next? {
        guard position.number < SyncPosition.numberMax else { return nil }
        let name = SyncFolder.name(of: position.number + 1)
        let bytes = if let other { try folder.read(name, in: section, unless: other) } else { try folder.read(name, in: section) }
        if let bytes, !(position.number == 0 && isRecord(bytes)) { return try opened(bytes, after: position, known, behind: nil) }
        guard bytes != nil || listed?.max() ?? 0 > position.number else { return nil }
        guard let record = try record(), record.last > position.number else { throw missing(position.number + 1) }
        let there = if let listed { listed } else { try numbers() }
        return try next(behind: record, known, listed: there)
    }

    /// Returns the first file after the gap that a record covers, if the chain is still the same and all files with rewritten changes
    /// exist.
    private func next(behind record: CompactionRecord, _ known: SyncTrail, listed: Set<Int64>) throws(Refusal) -> Next {
        let read = min(known.position.number, record.last)
        if read > 0 {
            guard let chain = record.chain(at: read), let before = known.chain(at: read) else {
                throw Refusal(
                    .badParameter,
                    "The files of \(name) that followed those that were read are gone, and it cannot be told whether the others belong to "
                        + "them: run vauban sync leave, then join again")
            }
            guard chain == before else {
                throw Refusal(
                    .badParameter,
                    "The files of \(name) are not those that were read: the folder was forked or altered")
            }
        }
        for number in record.last + 1...record.end where !listed.contains(number) { throw missing(number) }
        guard let bytes = try folder.read(SyncFolder.name(of: record.last + 1), in: section) else { throw missing(record.last + 1) }
        return try opened(bytes, after: record.position, known, behind: record)
    }

    private func opened(
        _ bytes: [UInt8], after position: SyncPosition, _ known: SyncTrail, behind record: CompactionRecord?
    ) throws(Refusal) -> Next {
        let (file, epoch) = try SyncFile.opened(bytes, of: writer, for: companion, after: position, in: circle, ciphers)
        let after = position.after(bytes)
        let chain = known.chain(at: after.number)
        guard chain == nil || chain == after.chain else {
            throw Refusal(
                .badParameter,
                "The file \(SyncFolder.name(of: after.number)) of \(name) is not the one that was read: the folder was altered")
        }
        return Next(file: file, epoch: epoch, bytes: bytes, position: after, isNew: chain == nil, record: record)
    }

    private func missing(_ number: Int64) -> Refusal {
        Refusal(.badParameter, "The folder lacks the file \(SyncFolder.name(of: number)) of \(name): it is not copied completely")
    }

    // MARK: The record

    /// Returns whether these bytes are a record. Files for companions have none.
    private func isRecord(_ bytes: [UInt8]) -> Bool { companion == nil && CompactionRecord.isRecord(bytes) }

    /// Returns the record of the files that are gone; nil if there is none.
    func record() throws(Refusal) -> CompactionRecord? {
        guard let bytes = try folder.read(SyncFolder.name(of: 1), in: section), isRecord(bytes) else { return nil }
        return try CompactionRecord.opened(bytes, of: writer, in: circle, ciphers)
    }
}

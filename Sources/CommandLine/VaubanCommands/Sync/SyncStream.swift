import VaubanRefusal
import VaubanSyncModel

/// The files of one member, for all members or for one companion, each of which is verified before the next is read.
struct SyncStream {
    let folder: any SyncCarrier
    let circle: CircleView
    let ciphers: [FrameCipher]
    let writer: CircleMember
    /// The companion that they are for; nil if they are for the members.
    let companion: [UInt8]?

    struct Next {
        let file: SyncFile
        let epoch: Int64
        let bytes: [UInt8]
        let position: SyncPosition
        /// Whether it was not read before.
        let isNew: Bool
    }

    var section: SyncFolder.Section {
        companion.map { .companion($0, writer: writer.device) } ?? .device(writer.device)
    }
    var name: String { SafeText.visible(writer.name) }

    /// Returns the number of the last file. Throws if files that were read are gone or the last one is another.
    func last(_ known: SyncTrail) throws(Refusal) -> Int64 {
        let last = try folder.names(in: section).compactMap(SyncFolder.number(of:)).max() ?? 0
        let number = known.position.number
        guard number > 0 else { return last }
        guard last >= number else {
            throw Refusal(
                .badParameter, "The folder lacks files of \(name) that were read before: it was rolled back, or is not copied completely")
        }
        let file = SyncFolder.name(of: number)
        guard let bytes = try folder.read(file, in: section) else {
            throw Refusal(.badParameter, "The folder lacks the file \(file) of \(name), which was read before")
        }
        guard SyncTrail.digest(of: bytes) == known.digest else {
            throw Refusal(.badParameter, "The file \(file) of \(name) is not the one that was read: the folder was altered")
        }
        return last
    }

    /// Returns the file that follows a position; nil after the last.
    func next(after position: SyncPosition, _ known: SyncTrail, last: Int64) throws(Refusal) -> Next? {
        guard position.number < SyncPosition.numberMax else { return nil }
        guard let bytes = try folder.read(SyncFolder.name(of: position.number + 1), in: section) else {
            guard last <= position.number else {
                throw Refusal(
                    .badParameter,
                    "The folder lacks the file \(SyncFolder.name(of: position.number + 1)) of \(name): it is not copied completely")
            }
            return nil
        }
        let (file, epoch) = try SyncFile.opened(bytes, of: writer, for: companion, after: position, in: circle, ciphers)
        let after = position.after(bytes)
        let chain = known.chain(at: after.number)
        guard chain == nil || chain == after.chain else {
            throw Refusal(
                .badParameter,
                "The file \(SyncFolder.name(of: after.number)) of \(name) is not the one that was read: the folder was altered")
        }
        return Next(file: file, epoch: epoch, bytes: bytes, position: after, isNew: chain == nil)
    }
}

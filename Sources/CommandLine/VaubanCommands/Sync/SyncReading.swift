// Reading what the other devices wrote, in the order of a run.

import VaubanKeychainClient
import VaubanRefusal
package import VaubanSyncModel

/// A run that reads: one of `vauban sync`, or a simulated one.
package protocol ReadingRun {
    var state: SyncState { get set }
    var carrier: any SyncCarrier { get }
    var view: CircleView { get }
    /// The ciphers of the files, by epoch.
    var files: [FrameCipher] { get }
    /// Sentences about what could not be read or written, and why.
    var faults: [String] { get set }
    /// Whether the folder is missing files that this device needs before it may write.
    var isBehind: Bool { get set }
    /// The members that kept writing each time this run had read them. If others have read more of them, that is not a fault yet.
    var growing: Set<[UInt8]> { get set }
    /// Whether the next run must try a change again.
    var triesAgain: Bool { get }
    /// The next statement about the circle, if files may be read only while it does not exist.
    var nextStatement: SyncFolder.File? { get }

    mutating func save() throws
    /// Merges the changes of one file, in order. Returns false if an item was changed here in the meantime.
    mutating func merge(_ records: [SyncRecord], epoch: Int64, of writer: String, in origin: ChangeOrigin) throws -> Bool
}

private enum ReadingLimits {
    /// How many times this device reads what others wrote in the meantime before it writes its own changes.
    static let furtherReadsMax = 5
}

extension ReadingRun {
    /// Reads every member's files, including this device's own: a run that was killed may have written more than the state records. Returns
    /// false if an item was changed here in the meantime.
    package mutating func readMembers() throws -> Bool {
        growing = []
        var unread: Set<[UInt8]> = []
        // This device's own files first: what a run that was killed has written is sent.
        for member in view.members.filter({ $0.device == view.device }) + view.members.filter({ $0.device != view.device }) {
            guard try noting(member, in: &unread, { try $0.read(member) }) else { return false }
        }
        // While this device read one member, others may have written more and read each other's files. That is not a fault, so read those
        // too.
        for _ in 0..<ReadingLimits.furtherReadsMax {
            growing = []
            state.compareReports(among: view.members)
            for member in state.membersWithUnreadFiles(among: view.members) where !unread.contains(member.device) {
                let before = state.seen[member.device]?.position
                guard try noting(member, in: &unread, { try $0.readNext(of: member) }) else { return false }
                if state.seen[member.device]?.position != before { growing.insert(member.device) }
            }
            if growing.isEmpty { break }
        }
        state.rereads = triesAgain || (state.rereads && !unread.isEmpty)
        return true
    }

    /// Reads a member with `read`. If that fails, notes the member and why.
    private mutating func noting(
        _ member: CircleMember, in unread: inout Set<[UInt8]>, _ read: (inout Self) throws -> Bool
    ) throws -> Bool {
        do {
            return try read(&self)
        } catch let refusal as Refusal where [.badParameter, .unsupported, .keyUnknown].contains(refusal.reason) {
            faults.append(refusal.detail ?? refusal.message)
            unread.insert(member.device)
            // Writing different files under numbers that this device has already used would be a fork.
            if refusal.reason == .keyUnknown || member.device == view.device { isBehind = true }
            return true
        }
    }

    private mutating func read(_ member: CircleMember) throws -> Bool {
        let stream = SyncStream(folder: carrier, circle: view, ciphers: files, writer: member, companion: nil)
        let known = state.seen[member.device] ?? SyncTrail()
        let listed = try stream.numbers(known)
        var position = state.rereads ? SyncPosition() : known.position
        while let next = try stream.next(after: position, state.seen[member.device] ?? SyncTrail(), listed: listed) {
            position = next.position
            guard try take(next, of: stream) else { return false }
        }
        return true
    }

    /// Reads what a member has written since the last reading, without checking that the files read before still exist. Returns false if an
    /// item was changed here in the meantime.
    package mutating func readNext(of member: CircleMember) throws -> Bool {
        let stream = SyncStream(folder: carrier, circle: view, ciphers: files, writer: member, unless: nextStatement)
        var trail: SyncTrail { state.seen[member.device] ?? SyncTrail() }
        while let next = try stream.next(after: trail.position, trail, listed: nil) {
            guard try take(next, of: stream) else { return false }
        }
        return true
    }

    private mutating func take(_ next: SyncStream.Next, of stream: SyncStream) throws -> Bool {
        let member = stream.writer
        let origin = ChangeOrigin(
            file: FilePlace(device: member.device, number: next.position.number), read: next.file.seen.mapValues(\.number))
        guard try merge(next.file.records, epoch: next.epoch, of: stream.name, in: origin) else { return false }
        guard next.isNew else { return true }
        state.noteRead(next, of: member.device, among: view.members)
        if let statement = next.file.statement { state.statements.note(statement, by: member.device) }
        try save()
        return true
    }

    /// Compares what other devices have read with what is here, since whoever carries the folder might show them different files.
    package mutating func noteReports() {
        state.compareReports(among: view.members)
        let names = Dictionary(view.members.map { ($0.device, SafeText.visible($0.name)) }) { first, _ in first }
        for fork in state.forks {
            let (reader, writer) = (names[fork.reader] ?? "A device", names[fork.writer] ?? "a device")
            faults.append(
                "\(reader) has read other files of \(writer) than are here: the folder was forked or altered; "
                    + "remove one of the two with vauban sync remove, and let it join again")
        }
        // While files of this device are still arriving, it must not write others under their numbers.
        for (report, position) in state.reports where report.writer == view.device || !growing.contains(report.writer) {
            let (reader, writer) = (names[report.reader] ?? "A device", names[report.writer] ?? "a device")
            let here = state.seen[report.writer]?.position.number ?? 0
            faults.append(
                "\(reader) has read \(position.number) files of \(writer), and \(here) are here: the folder is not copied completely, "
                    + "or they are held back")
            // Writing different files under the same numbers would be a fork.
            if report.writer == view.device { isBehind = true }
        }
        faults += statementFaults()
    }
}

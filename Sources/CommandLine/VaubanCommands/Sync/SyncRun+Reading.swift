import VaubanKeychainClient
import VaubanRefusal
import VaubanSyncModel

/// Reading what the other devices wrote.
extension SyncRun {
    /// Reads every member, this device too: a run that was killed may have written more than it remembers. Returns false if an item was
    /// changed here meanwhile.
    mutating func readAll() throws -> Bool {
        if circle.view.isCompanion { return try receiveAll() }
        var isUnread = false
        for member in circle.view.members {
            do {
                guard try read(member) else { return false }
            } catch let refusal as Refusal where [.badParameter, .unsupported, .keyUnknown].contains(refusal.reason) {
                faults.append(refusal.detail ?? refusal.message)
                isUnread = true
                // Under numbers that this device has used, other files would be a fork.
                if refusal.reason == .keyUnknown || member.device == circle.view.device { isBehind = true }
            }
        }
        state.rereads = triesAgain || (state.rereads && isUnread)
        return true
    }

    private mutating func read(_ member: CircleMember) throws -> Bool {
        let stream = SyncStream(folder: circle.folder, circle: circle.view, ciphers: files, writer: member, companion: nil)
        let known = state.seen[member.device] ?? SyncTrail()
        let last = try stream.last(known)
        var position = state.rereads ? SyncPosition() : known.position
        while let next = try stream.next(after: position, state.seen[member.device] ?? SyncTrail(), last: last) {
            position = next.position
            guard try take(next, of: stream) else { return false }
        }
        return true
    }

    /// Reads what a member has written since, without asking whether what was read before is still there. Returns false if an item was
    /// changed here meanwhile.
    mutating func readNext(of member: CircleMember) throws -> Bool {
        let stream = SyncStream(folder: circle.folder, circle: circle.view, ciphers: files, writer: member, companion: nil)
        var trail: SyncTrail { state.seen[member.device] ?? SyncTrail() }
        while let next = try stream.next(after: trail.position, trail, last: trail.position.number) {
            guard try take(next, of: stream) else { return false }
        }
        return true
    }

    private mutating func take(_ next: SyncStream.Next, of stream: SyncStream) throws -> Bool {
        let member = stream.writer
        guard try merge(next.file.records, epoch: next.epoch, of: stream.name) else { return false }
        guard next.isNew else { return true }
        state.seen[member.device, default: SyncTrail()].append(next.bytes)
        for other in circle.view.members where other.device != member.device || member.device == circle.view.device {
            if let read = next.file.seen[other.device] { state.note(read, .init(reader: member.device, writer: other.device)) }
        }
        try save()
        return true
    }

    /// Compares how far other devices read with what is here: whoever carries the folder might show them different files.
    mutating func noteReports() {
        state.compareReports(among: circle.view.members)
        let names = Dictionary(circle.view.members.map { ($0.device, SafeText.visible($0.name)) }) { first, _ in first }
        for fork in state.forks {
            let (reader, writer) = (names[fork.reader] ?? "A device", names[fork.writer] ?? "a device")
            faults.append(
                "\(reader) has read other files of \(writer) than are here: the folder was forked or altered; "
                    + "remove one of the two with vauban sync remove, and let it join again")
        }
        for (report, position) in state.reports {
            let (reader, writer) = (names[report.reader] ?? "A device", names[report.writer] ?? "a device")
            let here = state.seen[report.writer]?.position.number ?? 0
            faults.append(
                "\(reader) has read \(position.number) files of \(writer), and \(here) are here: the folder is not copied completely, "
                    + "or they are held back")
            // Other files under the same numbers would be a fork.
            if report.writer == circle.view.device { isBehind = true }
        }
    }
}

import VaubanKeychainClient
import VaubanRefusal
import VaubanSyncModel

/// Reading what the other devices wrote.
extension SyncRun {
    /// Reads every member, this device too: a run that was killed may have written more than it remembers. Returns false if an item was
    /// changed here meanwhile.
    mutating func readAll() throws -> Bool {
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
        let section = SyncFolder.Section.device(member.device)
        let last = try circle.folder.names(in: section).compactMap(SyncFolder.number(of:)).max() ?? 0
        let name = SafeText.visible(member.name)
        try check(state.seen[member.device] ?? SyncTrail(), of: name, in: section, last: last)
        var position = state.rereads ? SyncPosition() : state.seen[member.device]?.position ?? SyncPosition()
        while position.number < SyncPosition.numberMax {
            guard let bytes = try circle.folder.read(SyncFolder.name(of: position.number + 1), in: section) else {
                guard last <= position.number else {
                    throw Refusal(
                        .badParameter,
                        "The folder lacks the file \(SyncFolder.name(of: position.number + 1)) of \(name): it is not copied completely")
                }
                return true
            }
            let (file, epoch) = try SyncFile.opened(bytes, of: member, after: position, in: circle.view, files)
            position = position.after(bytes)
            let isNew = state.seen[member.device]?.chain(at: position.number) == nil
            guard isNew || state.seen[member.device]?.chain(at: position.number) == position.chain else {
                throw Refusal(
                    .badParameter,
                    "The file \(SyncFolder.name(of: position.number)) of \(name) is not the one that was read: the folder was altered")
            }
            for record in file.records { guard try merge(record, epoch: epoch, of: name) else { return false } }
            guard isNew else { continue }
            state.seen[member.device, default: SyncTrail()].append(bytes)
            for other in circle.view.members where other.device != member.device || member.device == circle.view.device {
                if let read = file.seen[other.device] { state.note(read, .init(reader: member.device, writer: other.device)) }
            }
            try save()
        }
        return true
    }

    /// Throws if files that were read are gone or the last one is another.
    private func check(_ known: SyncTrail, of name: String, in section: SyncFolder.Section, last: Int64) throws {
        let number = known.position.number
        guard number > 0 else { return }
        guard last >= number else {
            throw Refusal(
                .badParameter, "The folder lacks files of \(name) that were read before: it was rolled back, or is not copied completely")
        }
        let file = SyncFolder.name(of: number)
        guard let bytes = try circle.folder.read(file, in: section) else {
            throw Refusal(.badParameter, "The folder lacks the file \(file) of \(name), which was read before")
        }
        guard SyncTrail.digest(of: bytes) == known.digest else {
            throw Refusal(.badParameter, "The file \(file) of \(name) is not the one that was read: the folder was altered")
        }
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

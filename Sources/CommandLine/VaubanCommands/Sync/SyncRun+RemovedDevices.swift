import VaubanKeychainClient
import VaubanLinuxHost
import VaubanRefusal
import VaubanSyncModel

/// Removing what removed devices wrote, once nobody reads it any more (Specs/sync.md, "What removed devices wrote").
extension SyncRun {
    /// The other members that have not said yet that they have followed the last removal.
    func membersBehind() -> [CircleMember] {
        circle.view.members.filter { member in
            guard member.device != circle.view.device else { return false }
            let said = (try? heads(of: member))?.epoch ?? 0
            return said < circle.view.epoch
        }
    }

    /// Whether there was a removal after which nothing was removed from the folder yet.
    var keepsFilesOfRemoved: Bool { circle.view.epoch > 1 && !circle.home.hasCleared(circle.view) }

    /// Removes the files of devices that are not in the circle any more, as soon as every member has followed their removal. What cannot be
    /// removed keeps no item from being synchronized: the next run tries again.
    mutating func removeFilesOfRemoved() {
        guard keepsFilesOfRemoved, membersBehind().isEmpty else { return }
        do throws(Refusal) {
            let history = try CircleHistory(of: circle.view, in: circle.folder)
            let (members, companions) = history.removed(from: circle.view)
            var sections = members.map { SyncFolder.Section.device($0) }
            for companion in companions {
                // A member that was removed may have written for it too.
                for writer in history.members { sections.append(.companion(companion, writer: writer)) }
            }
            for section in sections { guard try clear(section) else { return } }
            for device in members + companions {
                circle.folder.remove(StoredBackupFolder.hex(device), in: .heads)
                ForwardedFile.removeAll(of: device, in: circle.folder)
                JoinFile.removeAll(of: StoredBackupFolder.hex(device), in: circle.folder)
            }
            try circle.home.noteCleared(circle.view)
        } catch {
            clearingFault = error.detail ?? error.message
        }
    }

    /// Removes all files of a section. Returns false if there are more than one run removes, or it takes too long.
    private mutating func clear(_ section: SyncFolder.Section) throws(Refusal) -> Bool {
        let numbers = try circle.folder.names(in: section).compactMap(SyncFolder.number(of:))
        let until = MachineClock.monotonic + CompactionLimits.current.removingTime
        for number in numbers {
            guard cleared < Self.clearedMax, MachineClock.monotonic < until else { return false }
            try circle.folder.erase(SyncFolder.name(of: number), in: section)
            cleared += 1
        }
        // What a run that was killed had written of the next one.
        try circle.folder.erase(SyncFolder.name(of: (numbers.last ?? 0) + 1), in: section)
        circle.folder.tidy(section)
        return true
    }

    /// How many files one run removes: in etcd, each takes a request.
    private static let clearedMax = 1000
}

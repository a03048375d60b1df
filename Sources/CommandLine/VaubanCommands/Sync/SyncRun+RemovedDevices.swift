import VaubanKeychainClient
import VaubanLinuxHost
import VaubanRefusal
import VaubanSyncModel

/// Removal of the files of removed devices, once no device needs them (Specs/sync.md, "Files of removed devices").
extension SyncRun {
    /// Returns the other members that have not yet reported that they followed the last removal.
    func membersBehind() -> [CircleMember] {
        circle.view.members.filter { member in
            guard member.device != circle.view.device else { return false }
            let said = (try? heads(of: member))?.epoch ?? 0
            return said < circle.view.epoch
        }
    }

    /// Whether the folder still has to be cleared after a removal.
    var keepsFilesOfRemoved: Bool { circle.view.epoch > 1 && !circle.home.hasCleared(circle.view) }

    /// Removes the files of devices that are no longer in the circle, as soon as every member has followed their removal. A failure does
    /// not keep items from being synchronized: the next run tries again.
    mutating func removeFilesOfRemoved() {
        guard keepsFilesOfRemoved, membersBehind().isEmpty else { return }
        do throws(Refusal) {
            let history = try CircleHistory(of: circle.view, in: circle.folder)
            let (members, companions) = history.removed(from: circle.view)
            var sections = members.map { SyncFolder.Section.device($0) }
            for companion in companions {
                // Removed members may have written for it too.
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

    /// Removes all files of a section. Returns false if there are too many for one run, or it takes too long.
    private mutating func clear(_ section: SyncFolder.Section) throws(Refusal) -> Bool {
        let numbers = try circle.folder.names(in: section).compactMap(SyncFolder.number(of:))
        let until = MachineClock.monotonic + CompactionLimits.current.removingTime
        for number in numbers {
            guard cleared < Self.clearedMax, MachineClock.monotonic < until else { return false }
            try circle.folder.erase(SyncFolder.name(of: number), in: section)
            cleared += 1
        }
        // A run that was killed may have written part of the next file.
        try circle.folder.erase(SyncFolder.name(of: (numbers.last ?? 0) + 1), in: section)
        circle.folder.tidy(section)
        return true
    }

    /// The most files that one run removes, since in etcd each takes a request.
    private static let clearedMax = 1000
}

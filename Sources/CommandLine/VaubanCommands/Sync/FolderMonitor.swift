import CVaubanLinux
import Foundation
import Glibc
import Synchronization
package import VaubanLinuxHost
package import VaubanRefusal

/// A watch on a folder by inotify(7), which does not report what another machine changes on a network share. Such a folder is also read
/// every few minutes.
package final class FolderMonitor: CarrierMonitor {
    private let path: String
    private let subject: CarrierSubject
    private let own: String
    private let events: Descriptor
    private let ended: Wakeup
    package let news: CarrierChanges
    /// The watched paths below the folder, by the kernel's watch numbers.
    private let sections: Sections

    private final class Sections: Sendable {
        let names = Mutex<[Int32: String]>([:])
    }

    package init(_ path: String, for subject: CarrierSubject, besides own: String, waking wakeup: Wakeup) throws(Refusal) {
        let number = inotify_init1(O_CLOEXEC | O_NONBLOCK)
        guard number >= 0 else {
            throw Refusal(
                .unavailable,
                "The folder cannot be watched: \(String(cString: strerror(errno))); raise fs.inotify.max_user_instances with sysctl")
        }
        let events = Descriptor(number)
        let ended: Wakeup
        let (news, sections) = (CarrierChanges(), Sections())
        do throws(SystemError) {
            ended = try Wakeup()
            try HostThread.start { [ended] in
                Self.listen(to: events, of: sections, ended: ended, adding: news, waking: wakeup)
            }
        } catch {
            throw Refusal(.unavailable, error.sentence)
        }
        (self.path, self.subject, self.own, self.events, self.ended) = (path, subject, own, events, ended)
        (self.news, self.sections) = (news, sections)
        try refresh()
    }

    deinit { ended.signal() }

    /// Watches each existing section. Sections that are already watched stay so; the parent's watch reports new ones.
    package func refresh() throws(Refusal) {
        for folder in Self.folders(in: path, for: subject, besides: own) {
            let mask = IN_CREATE | IN_CLOSE_WRITE | IN_MOVED_TO | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR
            // A missing section is no error here; reading it reports the problem.
            let watch = inotify_add_watch(events.number, folder, UInt32(bitPattern: Int32(mask)))
            if watch < 0, errno == ENOSPC {
                throw Refusal(
                    .unavailable,
                    "The folder cannot be watched: this user has too many watches; raise fs.inotify.max_user_watches with sysctl")
            }
            if watch >= 0 { sections.names.withLock { $0[watch] = String(folder.dropFirst(path.count + 1)) } }
        }
    }

    /// Returns the folder and the sections in it that concern a subject. For items, these exclude the ends of the access logs and what this
    /// device itself writes.
    static func folders(in path: String, for subject: CarrierSubject, besides own: String) -> [String] {
        func below(_ folder: String) -> [String] {
            let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
            let others = names.filter { $0 != own && !BackupFiles.isMarker($0) }.sorted()
            return others.prefix(foldersMax).map { "\(folder)/\($0)" }.filter(BackupFiles.isFolder)
        }
        let prompts = "\(path)/\(SyncFolder.Section.promptsFolder)"
        // Answers to this device's prompts are in the folder with its own name.
        if subject == .prompts { return [path, prompts] + below(prompts) + ["\(prompts)/\(own)"].filter(BackupFiles.isFolder) }
        // A companion reads the folder with its own name.
        let companions = below("\(path)/companions") + ["\(path)/companions/\(own)"].filter(BackupFiles.isFolder)
        let devices = below("\(path)/devices")
        return [path, "\(path)/circle", "\(path)/join", "\(path)/devices", "\(path)/companions"] + devices + companions
            + companions.flatMap(below)
    }

    package var failure: Refusal? { nil }

    /// No event reports that tokens expire or clocks catch up, nor, on a share or behind FUSE, what others change.
    package var silenceMax: UInt64 { signalsEverything ? 3_600_000_000_000 : 300_000_000_000 }

    package var signalsEverything: Bool {
        var (kind, isWithoutSetuid): (UInt32, Bool) = (0, false)
        guard let place = try? Descriptor.place(path), vauban_file_system(place.number, &kind, &isWithoutSetuid) == 0 else { return false }
        return !Self.remote.contains(kind)
    }

    /// NFS, SMB, CIFS, SMB 2, FUSE, 9p, Ceph, AFS, Coda, VirtualBox (statfs(2)).
    private static let remote: Set<UInt32> = [
        0x6969, 0x517B, 0xFF53_4D42, 0xFE53_4D42, 0x6573_5546, 0x0102_1997, 0x00C3_6400, 0x5346_414F, 0x7375_7245, 0x786F_4256,
    ]
    private static let foldersMax = 200

    // MARK: The thread

    private static func listen(
        to events: Descriptor, of sections: Sections, ended: Wakeup, adding news: CarrierChanges, waking wakeup: Wakeup
    ) {
        var bytes = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            var pollers = [
                pollfd(fd: events.number, events: Int16(POLLIN), revents: 0),
                pollfd(fd: ended.descriptor.number, events: Int16(POLLIN), revents: 0),
            ]
            guard poll(&pollers, 2, -1) >= 0 || errno == EINTR else { return }
            if pollers[1].revents != 0 { return }
            let count = read(events.number, &bytes, bytes.count)
            let changes = count > 0 ? Self.changes(in: bytes[..<count]).filter { isOfCarrier($0.name) } : []
            for change in changes {
                let section = sections.names.withLock { $0[change.watch] }
                if let section, !change.name.isEmpty { news.add(section) } else { news.addUnknown() }
            }
            if !changes.isEmpty { wakeup.signal() }
        }
    }

    /// Returns the watches and names in the kernel's events. The name is empty for an event of a watched folder itself, and if events were
    /// lost.
    package static func changes(in events: ArraySlice<UInt8>) -> [(watch: Int32, name: String)] {
        func number(_ bytes: ArraySlice<UInt8>) -> UInt32 { bytes.prefix(4).reversed().reduce(0) { $0 << 8 | UInt32($1) } }
        var changes: [(watch: Int32, name: String)] = []
        var rest = events
        while rest.count >= headBytes {
            let length = Int(number(rest.dropFirst(headBytes - 4)))
            let name = rest.dropFirst(headBytes).prefix(length).prefix { $0 != 0 }
            changes.append((Int32(bitPattern: number(rest)), String(decoding: name, as: UTF8.self)))
            rest = rest.dropFirst(headBytes + length)
        }
        return changes
    }

    /// Whether a name may be that of a complete file, rather than of a temporary file that a program which carries files renames later.
    static func isOfCarrier(_ name: String) -> Bool { !name.hasPrefix(".") && !name.hasSuffix(".partial") }

    /// `struct inotify_event` without the name.
    private static let headBytes = 16
}

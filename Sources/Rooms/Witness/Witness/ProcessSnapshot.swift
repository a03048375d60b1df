import Glibc
internal import VaubanCodeSigning
package import VaubanLinuxHost
internal import VaubanPlainText

/// A process, held by its descriptor, and the file that it executes. Everything is read by the process number and counts only while the
/// descriptor confirms that the number is still this process's (`isUnchanged`).
struct ProcessSnapshot: Sendable {
    let pid: Int32
    let process: Descriptor
    let status: ProcessStatus
    let file: Descriptor
    let key: FileKey
    /// The file's path, followed by ` (deleted)` if it has no name any more; nil if no name is known.
    let path: String?
    /// The file's digest and signature; nil if it is too large.
    let findings: CodeFindings?
    /// SHA-256 of the file; nil if it is too large.
    var digest: [UInt8]? { findings?.digest }

    /// Takes a snapshot. Nil if the process has exited, or if its file cannot be opened, is not a regular file, or is on a file system
    /// whose content a user's program decides.
    init?(pid: Int32, process: Descriptor, digests: DigestCache) {
        guard let status = ProcessStatus(of: pid) else { return nil }
        // The kernel's link, which opens the executed file itself, wherever it was moved and whatever has its path now.
        let number = open("/proc/\(pid)/exe", O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard number >= 0 else { return nil }
        let file = Descriptor(number)
        guard let key = FileKey(file), key.isRegular, !key.isOfAProgram else { return nil }
        self.pid = pid
        self.process = process
        self.status = status
        self.file = file
        self.key = key
        path = file.path
        findings = digests.findings(of: file, key, isUnwritten: { Self.executes(key, pid: pid, process: process) })
    }

    /// Whether everything that was read belongs to this process and one program: the process lives, so its number was not reused, and it
    /// executes the same file as at the beginning.
    var isUnchanged: Bool { Self.executes(key, pid: pid, process: process) }

    /// Whether something traces it at this moment. A tracer may attach at any time, so this is asked before and after the inspection.
    var isTraced: Bool { Tracers.areAttached(to: pid) }

    private static func executes(_ key: FileKey, pid: Int32, process: Descriptor) -> Bool {
        var now = stat()
        return stat("/proc/\(pid)/exe", &now) == 0 && UInt64(now.st_dev) == key.device && UInt64(now.st_ino) == key.inode
            && ProcessDescriptor.isAlive(process)
    }

    /// The path, if the file has one and is there.
    var namedPath: String? {
        guard let path, path.utf8.count <= WitnessLimits.namedPathBytesMax, !PathBytes.isDeleted(path) else { return nil }
        return path
    }

    /// Whether the user may replace the executed file while it runs: it is on an overlay that only the user can have mounted. The kernel
    /// protects an executed file, but not the files from which an overlay composes it. Root's overlays are those that the process or the
    /// witness sees mounted, since a process in the witness's user namespace cannot be in the mount namespace of another one.
    var mayBeExchanged: Bool {
        guard key.isOnOverlay else { return false }
        guard let mount = file.mount else { return true }
        return !["\(pid)", "self"].contains { process in
            guard let text = SmallFile.bytes(path: "/proc/\(process)/mountinfo", max: WitnessLimits.mountsBytesMax) else { return false }
            return MountTable.has(mount, in: text)
        }
    }

    /// Returns whether a namespace of the process (`user`, `mnt`) is the witness's own.
    func shares(_ namespace: String) -> Bool {
        func link(_ process: String) -> [UInt8]? {
            var buffer = [UInt8](repeating: 0, count: 64)
            let count = readlink("/proc/\(process)/ns/\(namespace)", &buffer, buffer.count)
            return count > 0 ? Array(buffer[..<count]) : nil
        }
        guard let theirs = link("\(pid)"), let own = link("self") else { return false }
        return theirs == own
    }
}

/// Distinguishes one state of a file from every other: a write changes the change time, which nobody can set.
package struct FileKey: Hashable, Sendable {
    let device: UInt64
    let inode: UInt64
    let size: Int64
    let modified: [Int]
    let changed: [Int]
    let isRegular: Bool
    private let system: UInt32

    /// File systems that maintain the change time themselves, by the numbers of `statfs`: ext4, xfs, btrfs, overlay, tmpfs, f2fs, bcachefs,
    /// zfs, squashfs, erofs.
    private static let keepers: Set<UInt32> = [
        0xEF53, 0x5846_5342, 0x9123_683E, 0x794C_7630, 0x0102_1994, 0xF2F5_2010, 0xCA45_1A4E, 0x2FC1_2FC1, 0x7371_7368, 0xE0F5_E1E2,
    ]

    package init?(_ file: Descriptor) {
        var facts = stat()
        guard fstat(file.number, &facts) == 0, let system = FileSystem(of: file) else { return nil }
        device = UInt64(facts.st_dev)
        inode = UInt64(facts.st_ino)
        size = Int64(facts.st_size)
        modified = [facts.st_mtim.tv_sec, facts.st_mtim.tv_nsec]
        changed = [facts.st_ctim.tv_sec, facts.st_ctim.tv_nsec]
        isRegular = facts.st_mode & S_IFMT == S_IFREG
        self.system = system.kind
    }

    /// FUSE: a program answers reads, and may answer the executing process differently from the witness.
    var isOfAProgram: Bool { system == 0x6573_5546 }

    var isOnOverlay: Bool { system == 0x794C_7630 }

    /// Whether equal keys mean equal content: the file was last changed so long ago that another change would show.
    var isStable: Bool {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        return Self.keepers.contains(system) && now.tv_sec - changed[0] > WitnessLimits.stableSeconds
    }
}

import Glibc
package import VaubanLinuxHost
internal import VaubanPlainText

/// Finds the files that a process names in the witness's own view, in folders that only root can change. A process may see other files
/// under the same paths, so each file is compared.
package struct RootOwnedFiles {
    private let process: ProcessSnapshot
    private var folders = RootOwnedFolders()
    private var mounts: (theirs: MountTable, own: MountTable)?
    private var hasMounts = false

    init(of process: ProcessSnapshot) { self.process = process }

    /// Returns the path of the file that the process executes.
    mutating func place(ofExecutable path: String) -> String? {
        let key = process.key
        return place(of: path) { $0.device == key.device && $0.inode == key.inode }
    }

    /// Returns whether all code that the process executes from files is root's, including its executable, and in no mapping that the
    /// process may write; nil if that is unknown. With `orReplaced` files also count that root has removed or replaced since.
    mutating func hasOnlyRootsCode(executable path: String, orReplaced: Bool = false) -> Bool? {
        guard let text = SmallFile.bytes(path: "/proc/\(process.pid)/maps", max: WitnessLimits.mapsBytesMax),
            let code = MemoryMap.executedCode(in: text)
        else { return nil }
        var hasItsOwn = false
        for file in code.files {
            guard let mapped = file.path, !file.isWritable else { return false }
            if orReplaced, let former = PathBytes.pathBeforeDeletion(mapped), folders.areRoots(above: former) { continue }
            guard place(of: mapped, where: { Self.is($0, mappedAs: file.identity) }) != nil else { return false }
            if mapped.isSameBytes(as: path) { hasItsOwn = true }
        }
        return hasItsOwn
    }

    /// Returns whether all code that the process executes is root's or in its own executable, and is the same as in the file: the process
    /// neither wrote to it nor may do so. With `makesCode` it may also have executable memory without a file.
    mutating func hasOnlyRootsOrItsOwnCode(executable path: String, makesCode: Bool) -> Bool {
        guard let text = SmallFile.bytes(path: "/proc/\(process.pid)/smaps", max: WitnessLimits.smapsBytesMax),
            let code = MemoryMap.executedCode(in: text), !code.hasWrittenPages, makesCode || !code.hasCodeWithoutFile
        else { return false }
        var executesItsOwn = false
        for file in code.files {
            guard let mapped = file.path, !file.isWritable else { return false }
            // The path too: on some file systems two files have one identity in a map.
            if mapped.isSameBytes(as: path), Self.isExecutable(of: process, mappedAs: file.identity) {
                executesItsOwn = true
            } else {
                guard place(of: mapped, where: { Self.is($0, mappedAs: file.identity) }) != nil else { return false }
            }
        }
        return executesItsOwn
    }

    private mutating func place(of path: String, where isIt: (InstalledFile) -> Bool) -> String? {
        if let file = folders.file(at: path), isIt(file) { return path }
        guard let mounts = views() else { return nil }
        return mounts.theirs.places(of: path, in: mounts.own).first { place in
            guard let file = folders.file(at: place) else { return false }
            return isIt(file)
        }
    }

    /// Returns the mounts of both, if they differ.
    private mutating func views() -> (theirs: MountTable, own: MountTable)? {
        if hasMounts { return mounts }
        hasMounts = true
        guard !process.shares("mnt"),
            let theirs = SmallFile.bytes(path: "/proc/\(process.pid)/mountinfo", max: WitnessLimits.mountsBytesMax),
            let own = SmallFile.bytes(path: "/proc/self/mountinfo", max: WitnessLimits.mountsBytesMax)
        else { return nil }
        mounts = (MountTable(theirs), MountTable(own))
        return mounts
    }

    private static func isExecutable(of process: ProcessSnapshot, mappedAs identity: String) -> Bool {
        MappedFile.identity(device: process.key.device, inode: process.key.inode) == identity || ownMapping(of: process.file) == identity
    }

    /// Returns whether a file is the one that a process's map names. If `stat` and the map give different numbers, the witness maps the
    /// file itself and compares like with like.
    package static func `is`(_ file: InstalledFile, mappedAs identity: String) -> Bool {
        MappedFile.identity(device: file.device, inode: file.inode) == identity || ownMapping(of: file.place) == identity
    }

    /// Returns the identity that a map of the witness's own shows for a file; nil if it cannot be read.
    package static func ownMapping(of place: Descriptor) -> String? {
        let number = open("/proc/self/fd/\(place.number)", O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard number >= 0 else { return nil }
        let readable = Descriptor(number)
        guard let page = mmap(nil, 1, PROT_READ, MAP_PRIVATE, readable.number, 0), page != MAP_FAILED else { return nil }
        defer { munmap(page, 1) }
        return SmallFile.bytes(path: "/proc/self/maps", max: WitnessLimits.mapsBytesMax).flatMap {
            MemoryMap.identity(at: UInt(bitPattern: page), in: $0)
        }
    }
}

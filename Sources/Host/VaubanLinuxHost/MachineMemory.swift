internal import CVaubanLinux
import Glibc

/// The memory that this process may use.
package enum MachineMemory {
    /// Releases the pages of the program and its libraries that only startup needed, most of them for linking. A page that is used later is
    /// mapped again from the same file.
    package static func releaseStartupPages() { vauban_give_back_read_pages() }

    /// Makes the allocator release blocks of at least `bytes` as soon as they are freed.
    package static func releaseLargeBlocks(from bytes: Int) { vauban_map_large_blocks(bytes) }

    /// Releases the pages that freed smaller blocks left to the allocator.
    package static func releaseFreePages() { vauban_give_back_free_pages() }

    /// The limit in bytes: the smallest of the machine's memory and the limits of this process's control groups. In a container, the
    /// container's limit appears at the root. Nil if unknown.
    package static var limit: UInt64? {
        let pages = sysconf(Int32(_SC_PHYS_PAGES)), pageBytes = sysconf(Int32(_SC_PAGESIZE))
        let machine: UInt64? = pages > 0 && pageBytes > 0 ? UInt64(pages) * UInt64(pageBytes) : nil
        let groups = SmallFile.text(path: "/proc/self/cgroup", max: 1 << 16) ?? ""
        let limits = files(groups: groups).compactMap { SmallFile.text(path: $0, max: 64) }.compactMap(bytes)
        return (limits + [machine].compactMap { $0 }).min()
    }

    /// Returns the files that limit memory, from `/proc/self/cgroup`: `0::PATH` of the unified hierarchy, `N:memory:PATH` of the older
    /// ones. A group's limit applies to all groups below it.
    package static func files(groups: String) -> [String] {
        groups.split(separator: "\n").flatMap { line -> [String] in
            let fields = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
            guard fields.count == 3 else { return [] }
            let unified = fields[0] == "0" && fields[1].isEmpty
            guard unified || fields[1].split(separator: ",").contains("memory") else { return [] }
            let (root, name) = unified ? ("/sys/fs/cgroup", "memory.max") : ("/sys/fs/cgroup/memory", "memory.limit_in_bytes")
            var folder = root
            var files = ["\(root)/\(name)"]
            for part in fields[2].split(separator: "/") where part != ".." {
                folder += "/\(part)"
                files.append("\(folder)/\(name)")
            }
            return files
        }
    }

    /// Parses a limit; nil for `max`, which means no limit.
    package static func bytes(_ text: String) -> UInt64? { UInt64(text.filter { !$0.isWhitespace }) }
}

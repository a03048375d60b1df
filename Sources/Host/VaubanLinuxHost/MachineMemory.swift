import Glibc

/// How much memory this process may have.
package enum MachineMemory {
    /// Bytes: the smallest of the machine's memory and of the limits of the control groups that this process is in, or of a
    /// container's, which appear at the root. Nil when nothing tells.
    package static var limit: UInt64? {
        let pages = sysconf(Int32(_SC_PHYS_PAGES)), pageBytes = sysconf(Int32(_SC_PAGESIZE))
        let machine: UInt64? = pages > 0 && pageBytes > 0 ? UInt64(pages) * UInt64(pageBytes) : nil
        let groups = SmallFile.text(path: "/proc/self/cgroup", max: 1 << 16) ?? ""
        let limits = files(groups: groups).compactMap { SmallFile.text(path: $0, max: 64) }.compactMap(bytes)
        return (limits + [machine].compactMap { $0 }).min()
    }

    /// The files that limit memory, by what `/proc/self/cgroup` says: `0::PATH` of the one hierarchy of today,
    /// `N:memory:PATH` of the older ones. A group's limit holds for all below it.
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

    /// A limit as it is written; nil for `max`, which is none.
    package static func bytes(_ text: String) -> UInt64? { UInt64(text.filter { !$0.isWhitespace }) }
}

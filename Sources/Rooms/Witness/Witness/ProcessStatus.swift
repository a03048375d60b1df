import Glibc
internal import VaubanLinuxHost

/// The fields of `/proc/PID/status`, or of a thread's `status`, that matter here.
package struct ProcessStatus: Hashable, Sendable {
    /// The parent's number; 0 if the parent is in a process namespace that the witness does not see.
    package let parent: Int32
    /// The number of the tracer of this thread or, in the status of a process, of its first thread; 0 if there is none.
    package let tracer: Int32
    /// The real user, which a program with other rights keeps.
    package let user: UInt32
    package let session: Int32
    /// Whether it is process 1, of the machine or of a process namespace: orphans become its children.
    package let isFirst: Bool

    package init?(of pid: Int32) { self.init(path: "/proc/\(pid)/status") }

    fileprivate init?(path: String) {
        guard let text = SmallFile.bytes(path: path, max: WitnessLimits.statusBytesMax) else { return nil }
        self.init(text)
    }

    /// Parses the text. Each field must occur exactly once and in the kernel's form. The process chooses its name, the first line, in which
    /// the kernel writes a line end as `\n`: so it cannot forge a line, and a forged one would occur twice.
    package init?(_ text: [UInt8]) {
        var values: [String: [Int64]] = [:]
        for (index, line) in text.split(separator: 0x0A, omittingEmptySubsequences: false).enumerated() {
            guard index > 0, let colon = line.firstIndex(of: 0x3A), let key = String(validating: line[..<colon], as: UTF8.self),
                ["PPid", "TracerPid", "Uid", "NSpid", "NSsid"].contains(key)
            else { continue }
            let numbers = line[line.index(after: colon)...].split(whereSeparator: { $0 == 0x09 || $0 == 0x20 }).map(Self.number)
            guard values[key] == nil, !numbers.isEmpty, !numbers.contains(nil) else { return nil }
            values[key] = numbers.compactMap(\.self)
        }
        guard text.starts(with: Array("Name:".utf8)), let parent = values["PPid"], let tracer = values["TracerPid"],
            let users = values["Uid"],
            let numbers = values["NSpid"], let sessions = values["NSsid"], parent.count == 1, tracer.count == 1, users.count == 4,
            let parent = Int32(exactly: parent[0]), let tracer = Int32(exactly: tracer[0]), let user = UInt32(exactly: users[0]),
            let session = Int32(exactly: sessions[0])
        else { return nil }
        self.parent = parent
        self.tracer = tracer
        self.user = user
        self.session = session
        isFirst = numbers.last == 1
    }

    private static func number(_ digits: some Collection<UInt8>) -> Int64? {
        guard !digits.isEmpty, digits.count <= 10, digits.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return digits.reduce(0) { $0 * 10 + Int64($1 - 0x30) }
    }
}

/// Tracers of a process. Each attaches to a thread, and the status of the process shows only that of its first thread.
package enum Tracers {
    /// Returns whether something traces a thread of the process; also true if that cannot be determined, or if there are too many threads
    /// to examine each.
    package static func areAttached(to pid: Int32) -> Bool {
        let tasks = "/proc/\(pid)/task"
        guard let folder = opendir(tasks) else { return true }
        defer { closedir(folder) }
        var count = 0
        while let entry = readdir(folder) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
            guard Int32(name) != nil else { continue }
            count += 1
            guard count <= WitnessLimits.threadsMax else { return true }
            if let status = ProcessStatus(path: "\(tasks)/\(name)/status") {
                if status.tracer != 0 { return true }
                continue
            }
            // A thread may have ended meanwhile. One that exists but whose status cannot be read may be traced.
            var facts = stat()
            if stat("\(tasks)/\(name)", &facts) == 0 { return true }
        }
        return count == 0
    }
}

/// The last unit of the service manager in `/proc/PID/cgroup`. For display only.
package enum ControlGroup {
    private static let kinds = [".service", ".scope", ".socket", ".mount", ".swap"]

    package static func unit(of pid: Int32) -> String? {
        SmallFile.bytes(path: "/proc/\(pid)/cgroup", max: WitnessLimits.statusBytesMax).flatMap(unit(in:))
    }

    /// Parses lines of `HIERARCHY:CONTROLLERS:PATH`. The service manager's hierarchy is the one without controllers, or has its name.
    package static func unit(in text: [UInt8]) -> String? {
        var found: String?
        for line in text.split(separator: 0x0A) {
            let fields = line.split(separator: 0x3A, maxSplits: 2, omittingEmptySubsequences: false)
            guard fields.count == 3, fields[1].isEmpty || fields[1].elementsEqual("name=systemd".utf8) else { continue }
            let unit = fields[2].split(separator: 0x2F).last { part in kinds.contains { ends(part, with: $0) } }
            found = unit.flatMap(plain) ?? found
        }
        return found
    }

    private static func ends(_ part: ArraySlice<UInt8>, with kind: String) -> Bool {
        part.count > kind.utf8.count && part.suffix(kind.utf8.count).elementsEqual(kind.utf8)
    }

    /// Decodes a name. A service manager escapes all other bytes, so a name with such bytes is not one of its units.
    private static func plain(_ name: ArraySlice<UInt8>) -> String? {
        guard name.count <= WitnessLimits.unitBytesMax,
            name.allSatisfy({
                (0x30...0x3A).contains($0) || (0x40...0x5A).contains($0) || (0x61...0x7A).contains($0)
                    || [0x2D, 0x2E, 0x5C, 0x5F].contains($0)
            })
        else { return nil }
        return String(decoding: name, as: UTF8.self)
    }
}

// Searches the memory of a room, as root can, for bytes that must not be there.

import Foundation
import Glibc
import VaubanLinuxHost

/// Bytes to search for, with a name for the report.
struct Needle: Sendable {
    let name: String
    let bytes: [UInt8]

    /// An index key is leased to keychaind unwrapped, so it is in memory while it is open.
    var isLent: Bool { name.contains("Index ") }
}

struct MemoryScan {
    /// The needles that were found, with the mappings that contain them.
    let found: [(needle: String, place: String)]
    /// The number of bytes that could be read.
    let bytes: Int
    /// Mappings that not even root can read.
    let closed: [String]

    /// Searches for the beginning and the end of each needle, so that half of a key is found too.
    private static let partBytes = 12

    private struct Part {
        let name: String
        let bytes: [UInt8]
    }

    /// Searches every readable mapping of a process whose threads are all waiting.
    init(of process: pid_t, for needles: [Needle]) throws {
        var parts: [UInt16: [Part]] = [:]
        for needle in needles {
            let ends =
                needle.bytes.count <= Self.partBytes
                ? [needle.bytes] : [Array(needle.bytes.prefix(Self.partBytes)), Array(needle.bytes.suffix(Self.partBytes))]
            for end in ends { parts[UInt16(end[0]) << 8 | UInt16(end[1]), default: []].append(Part(name: needle.name, bytes: end)) }
        }
        var isFirst = [Bool](repeating: false, count: 65_536)
        for key in parts.keys { isFirst[Int(key)] = true }
        let stacks = Self.stacks(of: process)
        let memory = Descriptor(
            try SystemError.check(open("/proc/\(process)/mem", O_RDONLY | O_CLOEXEC), "open the memory of process \(process)"))
        var found: [(String, String)] = []
        var bytes = 0
        var closed: [String] = []
        let overlap = 256
        let chunkBytes = 1 << 20
        var chunk = [UInt8](repeating: 0, count: chunkBytes + overlap)
        guard let maps = SmallFile.text(path: "/proc/\(process)/maps", max: 1 << 20) else {
            throw SystemError("read the mappings of \(process)", code: EIO)
        }
        for line in maps.split(separator: "\n") {
            let words = line.split(separator: " ", omittingEmptySubsequences: true)
            let range = words[0].split(separator: "-").compactMap { UInt64($0, radix: 16) }
            // What the kernel maps into every process is not memory of the process.
            guard range.count == 2, words[1].hasPrefix("r"), !line.hasSuffix("[vvar]"), !line.hasSuffix("[vsyscall]"),
                !line.hasSuffix("[vvar_vclock]")
            else { continue }
            let name = words.count > 5 ? words[5...].joined(separator: " ") : "anonymous"
            let mapping = "\(name) \(words[1]) of \((range[1] - range[0]) >> 10) KiB"
            let stack = stacks.first { range[0] <= $0.pointer && $0.pointer < range[1] }
            var address = range[0]
            var wasRead = false
            while address < range[1] {
                let wanted = min(chunkBytes + overlap, Int(range[1] - address))
                let count = pread(memory.number, &chunk, wanted, Int(address))
                guard count > 0 else {
                    address += 4096
                    continue
                }
                wasRead = true
                chunk.withUnsafeBufferPointer { chunk in
                    for index in 0..<max(0, count - 1) where isFirst[Int(chunk[index]) << 8 | Int(chunk[index + 1])] {
                        for part in parts[UInt16(chunk[index]) << 8 | UInt16(chunk[index + 1])] ?? []
                        where index + part.bytes.count <= count && chunk[index..<index + part.bytes.count].elementsEqual(part.bytes) {
                            let place = address + UInt64(index)
                            found.append((part.name, "\(mapping) at \(String(place, radix: 16))\(stack?.gap(to: place) ?? "")"))
                        }
                    }
                }
                bytes += min(count, chunkBytes)
                address += UInt64(count < chunkBytes ? (count + 4095) & ~4095 : chunkBytes)
            }
            if !wasRead { closed.append(name) }
        }
        self.found = found.map { (needle: $0.0, place: $0.1) }
        self.bytes = bytes
        self.closed = closed
    }

    /// What was found on the stack of a waiting thread.
    var onStacks: [(needle: String, place: String)] { found.filter { $0.place.contains(Stack.mark) } }

    /// The stack pointer of a thread, and the system call in which it waits.
    private struct Stack {
        static let mark = "the stack pointer"
        let thread: String
        let call: String
        let pointer: UInt64

        func gap(to place: UInt64) -> String {
            let gap = place < pointer ? "\(pointer - place) bytes below" : "\(place - pointer) bytes above"
            return ", \(gap) \(Self.mark) of thread \(thread), which waits in call \(call)"
        }
    }

    private static func stacks(of process: pid_t) -> [Stack] {
        let folder = "/proc/\(process)/task"
        let threads = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return threads.compactMap { thread in
            // The number of the call, its arguments, the stack pointer and the program counter (proc_pid_syscall(5)).
            let words = SmallFile.text(path: "\(folder)/\(thread)/syscall", max: 4096)?.split(whereSeparator: \.isWhitespace) ?? []
            guard words.count == 9, let pointer = UInt64(words[7].dropFirst(2), radix: 16) else { return nil }
            return Stack(thread: thread, call: String(words[0]), pointer: pointer)
        }
    }

    var names: Set<String> { Set(found.map(\.needle)) }
}

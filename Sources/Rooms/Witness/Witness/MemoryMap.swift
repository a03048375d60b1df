/// A file whose code a process executes, as `/proc/PID/maps` names it.
package struct MappedFile: Hashable, Sendable {
    /// The path in the process's file system; nil if it is not UTF-8.
    package let path: String?
    /// `MAJOR:MINOR INODE` as the kernel writes them. On some file systems (btrfs, overlays) they differ from those of `stat`.
    package let identity: String
    /// Whether the process may write into a mapping of its code, which then need not be what is in the file.
    package let isWritable: Bool

    package init(path: String?, identity: String, isWritable: Bool = false) {
        self.path = path
        self.identity = identity
        self.isWritable = isWritable
    }

    /// Returns the identity of a file with these numbers from `stat`.
    package static func identity(device: UInt64, inode: UInt64) -> String {
        func hexadecimal(_ number: UInt64) -> String { (number < 16 ? "0" : "") + String(number, radix: 16) }
        let major = (device >> 8) & 0xFFF | (device >> 32) & ~0xFFF
        let minor = device & 0xFF | (device >> 12) & ~0xFF
        return "\(hexadecimal(major)):\(hexadecimal(minor)) \(inode)"
    }

    /// Compares bytes: two spellings of one letter are two files.
    package static func == (first: Self, second: Self) -> Bool {
        first.identity == second.identity && first.isWritable == second.isWritable
            && first.path.map { Array($0.utf8) } == second.path.map { Array($0.utf8) }
    }
    package func hash(into hasher: inout Hasher) {
        hasher.combine(identity)
        hasher.combine(isWritable)
        hasher.combine(path.map { Array($0.utf8) })
    }
}

/// The code that a process executes.
package struct ExecutedCode: Hashable, Sendable {
    /// The files, each once, or twice if the process may write into some of its code.
    package var files: Set<MappedFile> = []
    /// Whether there is executable memory without a file, except the kernel's own pages.
    package var hasCodeWithoutFile = false
    /// Whether the process wrote to pages with code of a file or of the kernel. Only `smaps` shows that.
    package var hasWrittenPages = false

    package init(files: Set<MappedFile> = []) { self.files = files }
}

package enum MemoryMap {
    /// The kernel's own pages in every process, and those that contain root's probes.
    private static let pagesOfTheKernel = ["[vdso]", "[vsyscall]", "[uprobes]"]

    /// Returns the code in all executable mappings of `/proc/PID/maps` or `smaps`; nil if the text is not the kernel's or lists too many
    /// files.
    package static func executedCode(in text: [UInt8]) -> ExecutedCode? {
        var code = ExecutedCode()
        // Whether the lines that follow are about code of a file or of the kernel.
        var isGivenCode = false
        for line in text.split(separator: 0x0A) {
            // A mapping begins with a lower-case digit; what `smaps` says about it, with a capital letter.
            if let first = line.first, (0x41...0x5A).contains(first) {
                if isGivenCode, isCountOfWrittenPages(line) { code.hasWrittenPages = true }
                continue
            }
            guard let entry = Entry(line) else { return nil }
            isGivenCode = false
            guard entry.isExecutable else { continue }
            if let file = entry.file {
                isGivenCode = true
                code.files.insert(file)
                if code.files.count > WitnessLimits.mappedFilesMax { return nil }
            } else if pagesOfTheKernel.contains(where: { entry.name.elementsEqual($0.utf8) }) {
                isGivenCode = true
            } else {
                code.hasCodeWithoutFile = true
            }
        }
        return code
    }

    /// Returns whether a line counts pages that were copied for the process when it wrote to them, in memory or swapped out.
    private static func isCountOfWrittenPages(_ line: ArraySlice<UInt8>) -> Bool {
        guard line.starts(with: Array("Anonymous:".utf8)) || line.starts(with: Array("Swap:".utf8)) else { return false }
        return line.contains { (0x31...0x39).contains($0) }
    }

    /// Returns the identity of the mapping at an address.
    package static func identity(at address: UInt, in text: [UInt8]) -> String? {
        for line in text.split(separator: 0x0A) {
            guard let entry = Entry(line) else { return nil }
            if entry.begin == address { return entry.file?.identity }
        }
        return nil
    }

    /// `BEGIN-END rwxp OFFSET MAJOR:MINOR INODE      PATH`. A path may contain anything but a line end, which is written `\012`.
    private struct Entry {
        let begin: UInt
        let isExecutable: Bool
        private let fields: [ArraySlice<UInt8>]

        init?(_ line: ArraySlice<UInt8>) {
            fields = line.split(separator: 0x20, maxSplits: 5, omittingEmptySubsequences: false)
            guard fields.count >= 5, fields[1].count == 4, let begin = Self.number(fields[0].prefix { $0 != 0x2D }) else { return nil }
            self.begin = begin
            isExecutable = fields[1][fields[1].startIndex + 2] == 0x78
        }

        /// The path of a file, or the kernel's name for memory without one.
        var name: ArraySlice<UInt8> { fields.count == 6 ? fields[5].drop { $0 == 0x20 } : [] }

        /// Created only for the few lines that are needed.
        var file: MappedFile? {
            let identity = "\(String(decoding: fields[3], as: UTF8.self)) \(String(decoding: fields[4], as: UTF8.self))"
            if identity == "00:00 0" { return nil }
            let isWritable = fields[1][fields[1].startIndex + 1] == 0x77
            return MappedFile(path: String(validating: name, as: UTF8.self), identity: identity, isWritable: isWritable)
        }

        /// Parses at most 16 hexadecimal digits, as the kernel writes them.
        private static func number(_ digits: ArraySlice<UInt8>) -> UInt? {
            guard !digits.isEmpty, digits.count <= 16 else { return nil }
            var number: UInt = 0
            for digit in digits {
                switch digit {
                case 0x30...0x39: number = number << 4 | UInt(digit - 0x30)
                case 0x61...0x66: number = number << 4 | UInt(digit - 0x57)
                default: return nil
                }
            }
            return number
        }
    }
}

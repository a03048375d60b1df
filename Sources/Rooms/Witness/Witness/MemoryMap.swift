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

package enum MemoryMap {
    /// Returns the files of all executable mappings, each once, or twice if the process may write into some of its code; nil if the text is
    /// not the kernel's or lists too many. Mappings without a file are left out: the kernel's own pages, and memory that the process wrote.
    package static func executedFiles(in text: [UInt8]) -> Set<MappedFile>? {
        var files: Set<MappedFile> = []
        for line in text.split(separator: 0x0A) {
            guard let entry = Entry(line) else { return nil }
            guard entry.isExecutable, let file = entry.file else { continue }
            files.insert(file)
            if files.count > WitnessLimits.mappedFilesMax { return nil }
        }
        return files
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

        /// Created only for the few lines that are needed.
        var file: MappedFile? {
            let identity = "\(String(decoding: fields[3], as: UTF8.self)) \(String(decoding: fields[4], as: UTF8.self))"
            if identity == "00:00 0" { return nil }
            let path = fields.count == 6 ? fields[5].drop { $0 == 0x20 } : []
            let isWritable = fields[1][fields[1].startIndex + 1] == 0x77
            return MappedFile(path: String(validating: path, as: UTF8.self), identity: identity, isWritable: isWritable)
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

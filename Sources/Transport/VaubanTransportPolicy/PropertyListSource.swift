import Foundation
import Glibc

extension TransportConfiguration {
    /// Returns what this program declares: the property list in the section `.info_plist` of its executable, else `Info.plist` beside it,
    /// else nothing.
    /// - Throws: ``TransportConfigurationError`` if a property list exists and cannot be read. That is never treated as no property list,
    ///   since its pins would be ignored.
    public static func ofThisProgram() throws(TransportConfigurationError) -> TransportConfiguration {
        guard let path = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe") else {
            throw .unreadable(path: "/proc/self/exe")
        }
        return try ofProgram(atPath: path, image: "/proc/self/exe")
    }

    /// Returns what the program at a path declares.
    /// - Throws: ``TransportConfigurationError``, as ``ofThisProgram()``.
    public static func ofProgram(atPath path: String) throws(TransportConfigurationError) -> TransportConfiguration {
        // As the program itself finds it: beside the file, not beside a link to it.
        guard let file = realpath(path, nil) else { throw .unreadable(path: path) }
        defer { free(file) }
        return try ofProgram(atPath: String(cString: file), image: path)
    }

    private static func ofProgram(atPath path: String, image: String) throws(TransportConfigurationError) -> TransportConfiguration {
        if let section = try ELFSection.contents(of: ".info_plist", inFileAtPath: image) {
            return try TransportConfiguration(propertyList: section)
        }
        let beside = (path as NSString).deletingLastPathComponent + "/Info.plist"
        // A dangling link counts as a file that cannot be read.
        var status = stat()
        if lstat(beside, &status) != 0, errno == ENOENT { return TransportConfiguration() }
        guard let file = RegularFile.opened(beside) else { throw .unreadable(path: beside) }
        return try TransportConfiguration(file, path: beside)
    }

    /// Reads the property list in a file, which may be a pipe.
    /// - Throws: ``TransportConfigurationError`` for a file that cannot be read, or as ``init(propertyList:)``.
    public init(contentsOfFile path: String) throws(TransportConfigurationError) {
        guard let file = FileHandle(forReadingAtPath: path) else { throw .unreadable(path: path) }
        try self.init(file, path: path)
    }

    private init(_ file: FileHandle, path: String) throws(TransportConfigurationError) {
        guard let data = try? file.read(upToCount: Self.propertyListSizeMax + 1) else { throw .unreadable(path: path) }
        try self.init(propertyList: data)
    }
}

/// Files that the program did not choose itself: opening a pipe or a device in their place could block it.
private enum RegularFile {
    /// Opens a file for reading; nil if that fails, or if it is not a regular file.
    static func opened(_ path: String) -> FileHandle? {
        let number = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard number >= 0 else { return nil }
        let file = FileHandle(fileDescriptor: number, closeOnDealloc: true)
        var facts = stat()
        guard fstat(number, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG else { return nil }
        return file
    }
}

/// Reads one section of an ELF file for 64-bit little-endian machines. Other ELF files are an error, since their sections may contain pins.
enum ELFSection {
    private static let headerSize = 64
    private static let sectionHeaderSize = 64
    private static let sectionsMax = 65_535
    private static let namesSizeMax = 1 << 20

    /// Returns the contents of the section, or nil if the file has no section of that name or is not an ELF file.
    /// - Throws: `tooLarge` for a section beyond the limit of property lists, `unreadable` for a file whose headers contradict it, for one
    ///   of other machines, and for one with 65280 sections or more, whose number is not in the header.
    static func contents(of name: String, inFileAtPath path: String) throws(TransportConfigurationError) -> Data? {
        guard let file = RegularFile.opened(path), let size = try? file.seekToEnd() else { throw .unreadable(path: path) }
        let read = { (offset: UInt64, count: UInt64) throws(TransportConfigurationError) -> [UInt8] in
            guard count <= size, offset <= size - count else { throw .unreadable(path: path) }
            if count == 0 { return [] }
            guard (try? file.seek(toOffset: offset)) != nil, let data = try? file.read(upToCount: Int(count)), data.count == Int(count)
            else {
                throw .unreadable(path: path)
            }
            return [UInt8](data)
        }
        let header = try read(0, min(size, UInt64(headerSize)))
        // A script with an interpreter line has no sections.
        guard header.starts(with: [0x7F, 0x45, 0x4C, 0x46]) else { return nil }
        // Class 64-bit, little-endian.
        guard header.count == headerSize, header[4...].starts(with: [2, 1]) else { throw .unreadable(path: path) }
        let tableOffset = number(header, at: 40, bytes: 8)
        let count = number(header, at: 60, bytes: 2)
        let namesIndex = number(header, at: 62, bytes: 2)
        if tableOffset == 0, count == 0 { return nil }
        // A table with the count 0 uses extended numbering.
        guard tableOffset != 0, count != 0 else { throw .unreadable(path: path) }
        guard number(header, at: 58, bytes: 2) == UInt64(sectionHeaderSize), count <= UInt64(sectionsMax), namesIndex < count else {
            throw .unreadable(path: path)
        }
        let table = try read(tableOffset, count * UInt64(sectionHeaderSize))
        let section = { (index: Int) -> (name: UInt64, kind: UInt64, offset: UInt64, size: UInt64) in
            let start = index * sectionHeaderSize
            return (
                number(table, at: start, bytes: 4), number(table, at: start + 4, bytes: 4), number(table, at: start + 24, bytes: 8),
                number(table, at: start + 32, bytes: 8)
            )
        }
        let nameTable = section(Int(namesIndex))
        guard nameTable.size <= UInt64(namesSizeMax) else { throw .unreadable(path: path) }
        let names = try read(nameTable.offset, nameTable.size)
        let wanted = Array(name.utf8) + [0]
        for index in 0..<Int(count) {
            let entry = section(index)
            guard entry.name < UInt64(names.count), names[Int(entry.name)...].starts(with: wanted) else { continue }
            // A section without bytes in the file (SHT_NOBITS) holds no property list.
            guard entry.kind != 8 else { throw .unreadable(path: path) }
            guard entry.size <= UInt64(TransportConfiguration.propertyListSizeMax) else { throw .tooLarge(size: Int(clamping: entry.size)) }
            return Data(try read(entry.offset, entry.size))
        }
        return nil
    }

    private static func number(_ bytes: [UInt8], at offset: Int, bytes count: Int) -> UInt64 {
        bytes[offset..<(offset + count)].reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }
}

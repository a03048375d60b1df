import Glibc
import VaubanLinuxHost

/// A file of settings, as systemd reads its own and those of units.
struct SystemdFile {
    /// The lines without comments and leading white space.
    private let lines: [ArraySlice<UInt8>]

    /// Returns nil if the file cannot be read. Lines end as in systemd, with a line feed, a carriage return or a zero.
    init?(_ path: String) {
        guard let bytes = SmallFile.bytes(path: path, max: 1 << 20) else { return nil }
        let ends: [UInt8] = [0x0A, 0x0D, 0x00]
        let all = bytes.split(whereSeparator: { ends.contains($0) }).map { line in line.drop { Self.isWhite($0) } }
        lines = all.filter { $0.first != 0x23 && $0.first != 0x3B }
    }

    /// The names of the settings.
    var names: Set<String> { Set(lines.compactMap { Self.setting(in: $0)?.name }) }

    /// The words of all values of a setting, without a quotation mark at their beginning and end. After a backslash, a value continues in
    /// the next line.
    func words(of name: String) -> [ArraySlice<UInt8>] {
        var words: [ArraySlice<UInt8>] = []
        var goesOn = false
        for line in lines {
            var value = line
            if !goesOn {
                guard let setting = Self.setting(in: line), setting.name == name else { continue }
                value = setting.value
            }
            goesOn = value.last == 0x5C
            if goesOn { value = value.dropLast() }
            for var word in value.split(whereSeparator: { Self.isWhite($0) }) {
                if let first = word.first, Self.isQuotation(first) { word = word.dropFirst() }
                if let last = word.last, Self.isQuotation(last) { word = word.dropLast() }
                words.append(word)
            }
        }
        return words
    }

    private static func setting(in line: ArraySlice<UInt8>) -> (name: String, value: ArraySlice<UInt8>)? {
        guard let sign = line.firstIndex(of: 0x3D) else { return nil }
        return (String(decoding: line[..<sign].prefix { !isWhite($0) }, as: UTF8.self), line[line.index(after: sign)...])
    }

    static func isQuotation(_ byte: UInt8) -> Bool { byte == 0x22 || byte == 0x27 }

    private static func isWhite(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

    /// Returns the sorted names in a folder; none if it cannot be read.
    static func names(in folder: String) -> [String] {
        guard let stream = opendir(folder) else { return [] }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            names.append(
                withUnsafePointer(to: &entry.pointee.d_name) {
                    $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
                })
        }
        return names.sorted()
    }
}

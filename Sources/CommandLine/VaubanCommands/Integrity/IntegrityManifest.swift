// The list of installed files with their contents, modes and owners (Specs/integrity.md).

import Glibc
import VaubanLinuxHost
import VaubanPlainText

/// The contents of an installation, as `scripts/install` or a package recorded them.
package struct IntegrityManifest: Sendable, Hashable {
    package enum Kind: Sendable, Hashable {
        case file(Access, digest: String)
        case folder(Access)
        case link(target: String)
    }

    /// The mode, without the kind of file, and the names of owner and group.
    package struct Access: Sendable, Hashable {
        package let mode: UInt32
        package let owner: String
        package let group: String
    }

    package struct Entry: Sendable, Hashable {
        package let path: String
        package let kind: Kind
    }

    package let entries: [Entry]

    package static let name = "integrity"
    private static let bytesMax = 4 << 20

    /// Reads the manifest in a folder of installed programs; nil if it has none.
    package static func installed(in folder: String) throws -> IntegrityManifest? {
        let path = "\(folder)/\(name)"
        guard access(path, F_OK) == 0 || errno != ENOENT else { return nil }
        let file = Descriptor(try SystemError.check(open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK), "open \(path)"))
        guard SmallFile.isReadAtOnce(file), let bytes = SmallFile.bytes(of: file, max: bytesMax),
            let text = String(validating: bytes, as: UTF8.self)
        else {
            throw ParsingError("is not a text of at most \(bytesMax >> 20) MiB")
        }
        return try IntegrityManifest(text: text)
    }

    package init(text: String) throws(ParsingError) {
        // Split by bytes: a combining character after a newline or a space would form one Swift `Character` with it and hide it.
        var lines = Self.parts(of: text, by: "\n")
        guard lines.first == "vauban integrity 1" else { throw ParsingError("has a version that this vauban does not know") }
        let end = lines.popLast()
        let count = lines.popLast()
        guard end == "", lines.count >= 1, count == "end \(lines.count - 1)" else { throw ParsingError("is incomplete") }
        var entries: [Entry] = []
        var paths: Set<[UInt8]> = []
        for line in lines.dropFirst() {
            let entry = try Entry(line)
            guard paths.insert(Array(entry.path.utf8)).inserted else { throw ParsingError("names \(entry.path) twice") }
            entries.append(entry)
        }
        self.entries = entries
    }

    /// The name of the owner of its files.
    package var owner: String? {
        for case .file(let access, _) in entries.lazy.map(\.kind) { return access.owner }
        return nil
    }

    fileprivate static func parts(of text: String, by separator: Unicode.Scalar, max: Int = .max) -> [String] {
        text.utf8.split(separator: UInt8(ascii: separator), maxSplits: max - 1, omittingEmptySubsequences: false)
            .map { String(decoding: $0, as: UTF8.self) }
    }
}

extension IntegrityManifest.Entry {
    private static let pathBytesMax = 4096

    fileprivate init(_ line: String) throws(ParsingError) {
        let words: [String]
        switch IntegrityManifest.parts(of: line, by: " ").first {
        case "file":
            words = try Self.words(of: line, count: 6)
            guard words[4].utf8.count == 64, words[4].utf8.allSatisfy(Self.isDigit) else {
                throw ParsingError("has a hash that is not SHA-256")
            }
            kind = .file(try Self.access(words), digest: words[4])
        case "folder":
            words = try Self.words(of: line, count: 5)
            kind = .folder(try Self.access(words))
        case "link":
            words = try Self.words(of: line, count: 3)
            kind = .link(target: words[1])
        default: throw ParsingError("has an entry of an unknown kind")
        }
        path = words[words.count - 1]
        guard PathBytes.isPlain(path, bytesMax: Self.pathBytesMax) else {
            throw ParsingError("has a path that is not absolute and direct")
        }
    }

    /// The last word is a path, which may contain spaces.
    private static func words(of line: String, count: Int) throws(ParsingError) -> [String] {
        let words = IntegrityManifest.parts(of: line, by: " ", max: count)
        guard words.count == count, !words.contains("") else {
            throw ParsingError("has a line that is not an entry")
        }
        return words
    }

    private static func access(_ words: [String]) throws(ParsingError) -> IntegrityManifest.Access {
        guard words[1].utf8.count == 4, words[1].utf8.allSatisfy((UInt8(ascii: "0")...UInt8(ascii: "7")).contains),
            let mode = UInt32(words[1], radix: 8)
        else {
            throw ParsingError("has a mode that is not four octal digits")
        }
        return IntegrityManifest.Access(mode: mode, owner: words[2], group: words[3])
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte)
    }
}

/// Operations on paths and names as bytes, as the kernel defines them. `String` compares characters, which hides what matters for a
/// decision: two spellings of one letter are equal, and a character that joins the next one (U+0600 before a space) makes `hasSuffix`,
/// `hasPrefix` and `lastIndex(of:)` miss it. So every decision by a path or a name uses these functions.
extension StringProtocol {
    package func isSameBytes(as other: some StringProtocol) -> Bool { utf8.elementsEqual(other.utf8) }

    package func hasBytePrefix(_ prefix: some StringProtocol) -> Bool { utf8.starts(with: prefix.utf8) }

    package func hasByteSuffix(_ suffix: some StringProtocol) -> Bool { utf8.reversed().starts(with: suffix.utf8.reversed()) }

    /// Returns the rest after a prefix; nil if the text does not begin with it.
    package func dropping(bytePrefix prefix: some StringProtocol) -> String? {
        guard hasBytePrefix(prefix) else { return nil }
        return String(decoding: utf8.dropFirst(prefix.utf8.count), as: UTF8.self)
    }
}

extension String {
    /// Returns whether the text begins with a prefix. This overload is for two strings, since nearly every call compares paths: without
    /// generics it takes a tenth of the instructions.
    package func hasBytePrefix(_ prefix: String) -> Bool { utf8.starts(with: prefix.utf8) }
}

extension Sequence where Element: StringProtocol {
    package func containsBytes(of other: some StringProtocol) -> Bool { contains { $0.isSameBytes(as: other) } }
}

/// Paths split at slashes, byte by byte.
package enum PathBytes {
    private static let slash = UInt8(ascii: "/")
    /// The kernel's suffix for the path of a file that has been unlinked.
    private static let deleted = " (deleted)"

    package static func isDeleted(_ path: String) -> Bool { path.hasByteSuffix(deleted) }

    /// Returns the path that an unlinked file had; nil for any other path, and for a memory file (`memfd_create`), which never had one.
    package static func pathBeforeDeletion(_ path: String) -> String? {
        guard isDeleted(path), !path.hasBytePrefix("/memfd:") else { return nil }
        return text(Array(path.utf8).dropLast(deleted.utf8.count))
    }

    /// Returns the folder and the last name of an absolute path; nil if it has none.
    package static func parts(of path: String) -> (folder: String, name: String)? {
        let bytes = Array(path.utf8)
        guard bytes.first == slash, let last = bytes.lastIndex(of: slash), last + 1 < bytes.count else { return nil }
        return (last == 0 ? "/" : text(bytes[..<last]), text(bytes[(last + 1)...]))
    }

    /// Returns the folder and the last name of any path, as dirname(1) and basename(1) do: slashes at the end do not count, the folder of a
    /// name alone is `.`, and `/` and an empty path have an empty name.
    package static func split(_ path: String) -> (folder: String, name: String) {
        let bytes = Array(path.utf8)
        guard let end = bytes.lastIndex(where: { $0 != slash }) else { return (bytes.isEmpty ? "." : "/", "") }
        guard let last = bytes[...end].lastIndex(of: slash) else { return (".", text(bytes[...end])) }
        let above = bytes[..<last].lastIndex { $0 != slash }
        return (above.map { text(bytes[...$0]) } ?? "/", text(bytes[(last + 1)...end]))
    }

    /// Returns the part after the last slash, or the whole path.
    package static func name(of path: String) -> String {
        let bytes = Array(path.utf8)
        return bytes.lastIndex(of: slash).map { text(bytes[($0 + 1)...]) } ?? path
    }

    /// Returns the names between the slashes, including empty ones.
    package static func names(in path: String) -> [String] {
        path.utf8.split(separator: slash, omittingEmptySubsequences: false).map { String(decoding: $0, as: UTF8.self) }
    }

    /// Returns whether a path is absolute and in its simplest form: no empty name, no `.` and no `..`, at most `bytesMax` bytes, and no
    /// invisible character or one that changes how the rest is read.
    package static func isPlain(_ path: String, bytesMax: Int) -> Bool {
        guard path.utf8.count <= bytesMax, path.utf8.first == slash, path.utf8.count > 1 else { return false }
        return names(in: path).dropFirst().allSatisfy { !$0.isEmpty && !$0.isSameBytes(as: ".") && !$0.isSameBytes(as: "..") }
            && !path.unicodeScalars.contains { PlainLine.isInvisible($0) }
    }

    /// Decodes bytes of a `String` that was split at ASCII characters, so they are always valid.
    private static func text(_ bytes: ArraySlice<UInt8>) -> String { String(decoding: bytes, as: UTF8.self) }
}

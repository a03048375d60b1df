import CVaubanZlib
package import VaubanRefusal
package import VaubanSecretBytes

/// A ZIP archive in memory from which single files are read. Nothing is written to a disk, so file names in the archive cannot refer to
/// places outside. The size of a file is checked before its memory is allocated.
package struct ZipArchive: ~Copyable {
    private let content: SecretBytes
    private let entries: [String: Entry]

    private struct Entry {
        let flags: Int
        let method: Int
        let sum: Int
        let packedBytes: Int
        let bytes: Int
        let offset: Int
    }

    package static let fileBytesMax = 256 << 20
    private static let damaged = Refusal(.badParameter, "The archive is damaged or incomplete; nothing was imported")

    package init(_ content: consuming SecretBytes) throws(Refusal) {
        entries = try content.withUnsafeBytes { bytes throws(Refusal) in try Self.directory(bytes) }
        self.content = content
    }

    package var names: [String] { entries.keys.sorted() }

    /// Returns a complete file of the archive. Throws if it is missing, damaged, encrypted or larger than 256 MiB.
    package borrowing func file(_ name: String) throws(Refusal) -> SecretBytes {
        guard let entry = entries[name] else { throw Refusal(.badParameter, "The archive contains no \(name)") }
        return try content.withUnsafeBytes { bytes throws(Refusal) in try Self.file(entry, in: bytes) }
    }

    // MARK: The format (PKWARE's APPNOTE, without its 64-bit part)

    /// Returns the central directory. The end record is searched backwards, since a comment may follow it.
    private static func directory(_ bytes: UnsafeRawBufferPointer) throws(Refusal) -> [String: Entry] {
        let endBytes = 22
        guard bytes.count >= endBytes else { throw damaged }
        let lowest = max(0, bytes.count - endBytes - 0xFFFF)
        guard
            let end = stride(from: bytes.count - endBytes, through: lowest, by: -1).first(where: {
                number(in: bytes, at: $0, byteCount: 4) == 0x0605_4B50
            })
        else {
            throw damaged
        }
        let (count, size, start) = (
            number(in: bytes, at: end + 10, byteCount: 2), number(in: bytes, at: end + 12, byteCount: 4),
            number(in: bytes, at: end + 16, byteCount: 4)
        )
        guard count != 0xFFFF, size != 0xFFFF_FFFF, start != 0xFFFF_FFFF else {
            throw Refusal(.badParameter, "The archive has the 64-bit format, which is not supported")
        }
        guard start + size <= end else { throw damaged }
        var entries: [String: Entry] = [:]
        var position = start
        for _ in 0..<count {
            guard position + 46 <= end, number(in: bytes, at: position, byteCount: 4) == 0x0201_4B50 else { throw damaged }
            let nameBytes = number(in: bytes, at: position + 28, byteCount: 2)
            let next =
                position + 46 + nameBytes + number(in: bytes, at: position + 30, byteCount: 2)
                + number(in: bytes, at: position + 32, byteCount: 2)
            guard next <= end else { throw damaged }
            let name = String(decoding: bytes[(position + 46)..<(position + 46 + nameBytes)], as: UTF8.self)
            let entry = Entry(
                flags: number(in: bytes, at: position + 8, byteCount: 2), method: number(in: bytes, at: position + 10, byteCount: 2),
                sum: number(in: bytes, at: position + 16, byteCount: 4),
                packedBytes: number(in: bytes, at: position + 20, byteCount: 4), bytes: number(in: bytes, at: position + 24, byteCount: 4),
                offset: number(in: bytes, at: position + 42, byteCount: 4))
            guard entries.updateValue(entry, forKey: name) == nil else {
                throw Refusal(.badParameter, "The archive contains a file twice; nothing was imported")
            }
            position = next
        }
        return entries
    }

    private static func file(_ entry: Entry, in bytes: UnsafeRawBufferPointer) throws(Refusal) -> SecretBytes {
        guard entry.flags & 1 == 0 else {
            throw Refusal(.badParameter, "The archive is encrypted; export it again from 1Password, which does not encrypt 1pux files")
        }
        guard entry.bytes <= fileBytesMax else { throw Refusal(.badParameter, "The archive contains more than 256 MiB") }
        guard entry.offset + 30 <= bytes.count, number(in: bytes, at: entry.offset, byteCount: 4) == 0x0403_4B50 else { throw damaged }
        let start =
            entry.offset + 30 + number(in: bytes, at: entry.offset + 26, byteCount: 2)
            + number(in: bytes, at: entry.offset + 28, byteCount: 2)
        guard start + entry.packedBytes <= bytes.count else { throw damaged }
        let packed = UnsafeRawBufferPointer(rebasing: bytes[start..<start + entry.packedBytes])
        let file: SecretBytes
        switch entry.method {
        case 0:
            guard entry.packedBytes == entry.bytes else { throw damaged }
            file = SecretBytes(copying: packed)
        case 8:
            // Deflate expands by a factor of at most 1,032; a larger size is rejected before memory is allocated.
            guard entry.bytes <= entry.packedBytes * 1032 + 64 else { throw damaged }
            file = try SecretBytes(count: entry.bytes) { target throws(Refusal) in
                let from = packed.bindMemory(to: UInt8.self)
                let to = target.bindMemory(to: UInt8.self)
                guard vauban_inflate(from.baseAddress, from.count, to.baseAddress, to.count) == 1 else { throw damaged }
            }
        default: throw Refusal(.badParameter, "The archive uses an unsupported compression; export it again")
        }
        let sum = file.withUnsafeBytes { bytes in
            let content = bytes.bindMemory(to: UInt8.self)
            return Int(vauban_crc32(content.baseAddress, content.count))
        }
        guard sum == entry.sum else { throw damaged }
        return file
    }

    /// Returns a little-endian number; the position must be within the archive.
    private static func number(in bytes: UnsafeRawBufferPointer, at position: Int, byteCount count: Int) -> Int {
        (0..<count).reduce(0) { $0 | Int(bytes[position + $1]) << (8 * $1) }
    }
}

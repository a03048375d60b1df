import Crypto
import VaubanDER
import VaubanKeychainWire
import VaubanRefusal

/// One write of an item: the item's identity and a mark that changes with every write.
struct BackupMark: Hashable {
    let item: [UInt8]
    let mark: [UInt8]

    static let bytes = 32
}

/// An item of a backup, with the rest of its secret half.
struct BackupRecord {
    let mark: BackupMark
    let item: BackupItem
    let rest: [UInt8]

    /// Returns the records of a segment, or nil if the bytes are not a valid segment.
    static func records(of segment: [UInt8]) -> [BackupRecord]? {
        var reader = ByteReader(segment)
        var records: [BackupRecord] = []
        while !reader.isAtEnd {
            guard let identity = reader.take(16), let mark = reader.take(16), let count = reader.number(), let header = reader.take(count),
                let item = try? BackupItem(derBytes: header), let restCount = reader.number(), let rest = reader.take(restCount)
            else { return nil }
            records.append(BackupRecord(mark: BackupMark(item: identity, mark: mark), item: item, rest: rest))
        }
        return records
    }

    func encoded() throws -> [UInt8] {
        let header = try item.encoded()
        return mark.item + mark.mark + BackupFormat.number(header.count) + header + BackupFormat.number(rest.count) + rest
    }
}

/// The contents of a backup: the segments and the items in each.
struct BackupManifest {
    struct Segment: Hashable {
        /// SHA-256 of its sealed bytes.
        let digest: [UInt8]
        /// The number of its sealed bytes.
        let size: Int
        /// The number of items that were written to it.
        let total: Int
        /// The items that belong to the backup.
        var items: [BackupMark]

        init(digest: [UInt8], size: Int, total: Int, items: [BackupMark]) {
            self.digest = digest
            self.size = size
            self.total = total
            self.items = items
        }

        /// Creates the entry of a segment that was written.
        init(sealed: [UInt8], _ records: [BackupRecord]) {
            self.init(
                digest: Array(SHA256.hash(data: sealed)), size: sealed.count, total: records.count, items: records.map(\.mark))
        }
    }

    /// Microseconds since the reference date.
    var date: Int64
    var segments: [Segment]

    /// Identifies this manifest among all others.
    var digest: [UInt8] { Self.digest(bytes) }

    var itemCount: Int { segments.reduce(0) { $0 + $1.items.count } }

    init(date: Int64, segments: [Segment] = []) {
        self.date = date
        self.segments = segments
    }

    /// Returns nil if the bytes are not a valid manifest.
    init?(_ bytes: [UInt8]) {
        var reader = ByteReader(bytes)
        guard let date = reader.date() else { return nil }
        self.init(date: date)
        while !reader.isAtEnd {
            guard let digest = reader.take(32), let size = reader.number(), let total = reader.number(), let count = reader.number() else {
                return nil
            }
            var items: [BackupMark] = []
            for _ in 0..<count {
                guard let item = reader.take(16), let mark = reader.take(16) else { return nil }
                items.append(BackupMark(item: item, mark: mark))
            }
            segments.append(Segment(digest: digest, size: size, total: total, items: items))
        }
    }

    var bytes: [UInt8] {
        var bytes = withUnsafeBytes(of: date.bigEndian) { Array($0) }
        bytes.reserveCapacity(8 + segments.count * 44 + itemCount * BackupMark.bytes)
        for segment in segments {
            bytes += segment.digest
            bytes += BackupFormat.number(segment.size)
            bytes += BackupFormat.number(segment.total)
            bytes += BackupFormat.number(segment.items.count)
            for item in segment.items {
                bytes += item.item
                bytes += item.mark
            }
        }
        return bytes
    }

    static func digest(_ sealed: [UInt8]) -> [UInt8] { Array(SHA256.hash(data: sealed)) }
}

/// Returns the refusal for a damaged backup, with the damaged part.
func damagedBackup(_ part: String) -> Refusal {
    Refusal(
        .badParameter,
        "\(part); nothing was restored. Use another copy of the backup, or restore the intact items of this one: vauban restore --damaged")
}

import Crypto
import Foundation
import VaubanDER
package import VaubanKeychainWire
package import VaubanRefusal
package import VaubanSyncModel

/// How far a device's files were read: the number of the last one, and the chain of digests up to it.
package struct SyncPosition: Hashable {
    /// The last file of a device has this number, in the eight digits of its name.
    static let numberMax: Int64 = 99_999_999

    package let number: Int64
    package let chain: [UInt8]

    package init() { self.init(number: 0, chain: [UInt8](repeating: 0, count: 32)) }

    package init(number: Int64, chain: [UInt8]) {
        self.number = number
        self.chain = chain
    }

    /// Returns the position after one more file.
    package func after(_ file: [UInt8]) -> SyncPosition {
        SyncPosition(number: number + 1, chain: Array(SHA256.hash(data: chain + SyncTrail.digest(of: file))))
    }
}

/// One change inside a file.
package struct SyncRecord {
    package enum Content {
        case put(BackupItem, rest: [UInt8])
        case deleted
    }

    package let name: [UInt8]
    package let stamp: SyncStamp
    /// When the item was changed, according to its row. In a file for a companion, the time of the item's stamp in the circle, as the
    /// writer knows it.
    package let changed: Int64
    package let content: Content

    package init(name: [UInt8], stamp: SyncStamp, changed: Int64, content: Content) {
        self.name = name
        self.stamp = stamp
        self.changed = changed
        self.content = content
    }
}

/// A file that a device adds to its folder (Specs/sync.md): changes, sealed for the circle, padded, chained to the file before, and signed.
package struct SyncFile {
    static let magic = Array("VAUBAN SYNC 1\n".utf8)
    private static let family = Array("VAUBAN SYNC ".utf8)
    private static let headerBytes = 14 + 4 + 64
    /// The size of the changes at which a file is written.
    static let segmentBytes = 1 << 20

    /// What the writer had read of the other devices.
    package let seen: [[UInt8]: SyncPosition]
    /// The last statement about the circle that the writer had followed; nil in a file to write, and in one of an earlier Vauban.
    package private(set) var statement: StatementMark?
    package let records: [SyncRecord]

    // MARK: Writing

    /// Returns the bytes of the file that follows a position, given how a digest is signed.
    /// - Parameter companion: The companion that it is for; nil if it is for the members.
    package func sealed(
        at position: SyncPosition, in circle: CircleView, for companion: [UInt8]? = nil, _ cipher: FrameCipher,
        signing sign: ([UInt8]) throws -> [UInt8]
    ) throws -> [UInt8] {
        let payload = PaddedPayload.padded(try encoded(in: circle))
        let sealed = try cipher.seal(payload, .syncFile(device: circle.device, number: position.number + 1))
        let digest = Self.digest(of: sealed, in: circle, device: circle.device, for: companion, after: position, epoch: circle.epoch)
        return Self.magic + BackupFormat.number(Int(circle.epoch)) + (try sign(digest)) + sealed
    }

    private static func digest(
        of sealed: [UInt8], in circle: CircleView, device: [UInt8], for companion: [UInt8]?, after position: SyncPosition, epoch: Int64
    ) -> [UInt8] {
        let number = Self.bytes(of: position.number + 1)
        let bound = magic + (circle.circle ?? []) + device + number + position.chain + BackupFormat.number(Int(epoch))
        return Array(SHA256.hash(data: bound + Array(SHA256.hash(data: sealed)) + (companion ?? [])))
    }

    // MARK: Reading

    /// Opens and verifies the file of a member that follows a position. Also returns its epoch.
    package static func opened(
        _ bytes: [UInt8], of member: CircleMember, for companion: [UInt8]? = nil, after position: SyncPosition, in circle: CircleView,
        _ ciphers: [FrameCipher]
    ) throws(Refusal) -> (file: SyncFile, epoch: Int64) {
        let name = "The file \(SyncFolder.name(of: position.number + 1)) of \(SafeText.visible(member.name))"
        guard bytes.starts(with: magic), bytes.count > headerBytes else {
            if CompactionRecord.isRecord(bytes) {
                throw Refusal(.badParameter, "\(name) belongs in another place: the folder was altered")
            }
            if bytes.starts(with: family), bytes.count > headerBytes {
                throw Refusal(.unsupported, "\(name) was written by a later version of Vauban; update Vauban")
            }
            throw Refusal(.badParameter, "\(name) is incomplete, or was altered")
        }
        var reader = ByteReader(Array(bytes.dropFirst(magic.count)))
        guard let epoch = reader.number(), let signature = reader.take(64),
            let sealed = reader.take(bytes.count - headerBytes),
            let key = try? Curve25519.Signing.PublicKey(rawRepresentation: member.verification)
        else { throw Refusal(.badParameter, "\(name) is incomplete, or was altered") }
        let digest = digest(of: sealed, in: circle, device: member.device, for: companion, after: position, epoch: Int64(epoch))
        let signed = Array("vauban sync file v1".utf8) + [0] + (circle.circle ?? []) + member.device + digest
        guard key.isValidSignature(signature, for: signed) else {
            throw Refusal(
                .badParameter,
                "\(name) was altered, or does not follow what was read before: the folder may have been put back to an earlier state")
        }
        guard epoch <= ciphers.count else {
            throw Refusal(
                .keyUnknown,
                "\(name) has a later key than this device knows: the circle was changed, and the folder lacks that statement")
        }
        guard epoch > 0 else { throw Refusal(.badParameter, "\(name) is not of this circle") }
        guard let plaintext = ciphers[epoch - 1].open(sealed, .syncFile(device: member.device, number: position.number + 1)) else {
            // The member used another key for this epoch: one of the two devices has followed a statement that was hidden from the other.
            throw Refusal(
                .keyUnknown,
                "\(name) has another key than this device knows: the circle was forked, and the folder lacks a statement or has a false one"
            )
        }
        guard let file = SyncFile(padded: plaintext, in: circle) else { throw Refusal(.badParameter, "\(name) is not of this circle") }
        return (file, Int64(epoch))
    }

    // MARK: The payload

    package init(seen: [[UInt8]: SyncPosition], records: [SyncRecord]) {
        self.seen = seen
        self.records = records
    }

    private init?(padded: [UInt8], in circle: CircleView) {
        guard let payload = PaddedPayload.payload(of: padded) else { return nil }
        var reader = ByteReader(payload)
        guard let devices = reader.number() else { return nil }
        var seen: [[UInt8]: SyncPosition] = [:]
        for _ in 0..<devices {
            guard let device = reader.take(16), let number = reader.date(), let chain = reader.take(32) else { return nil }
            seen[device] = SyncPosition(number: number, chain: chain)
        }
        var records: [SyncRecord] = []
        while !reader.isAtEnd {
            guard let kind = reader.take(1)?.first, let name = reader.take(SyncRequest.nameBytes), let time = reader.date(),
                SyncStamp.times.contains(time), let device = reader.take(16), let changed = reader.date()
            else { return nil }
            let content: SyncRecord.Content
            switch kind {
            case 1:
                guard let length = reader.number(), let header = reader.take(length), let item = try? BackupItem(derBytes: header),
                    let restLength = reader.number(), let rest = reader.take(restLength)
                else { return nil }
                content = .put(item, rest: rest)
            case 2: content = .deleted
            default: return nil
            }
            records.append(SyncRecord(name: name, stamp: SyncStamp(time: time, device: device), changed: changed, content: content))
        }
        let mark = circle.circle.flatMap { seen.removeValue(forKey: $0) }
        self.init(seen: seen, records: records)
        statement = mark.map { StatementMark(number: $0.number, digest: $0.chain) }
    }

    private func encoded(in circle: CircleView) throws -> [UInt8] {
        var seen = self.seen
        if let identifier = circle.circle { seen[identifier] = SyncPosition(number: circle.number, chain: circle.digest) }
        var bytes = BackupFormat.number(seen.count)
        for (device, position) in seen.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
            bytes += device + Self.bytes(of: position.number) + position.chain
        }
        for record in records {
            let head = record.name + Self.bytes(of: record.stamp.time) + record.stamp.device + Self.bytes(of: record.changed)
            switch record.content {
            case .put(let item, let rest):
                let header = try item.encoded()
                bytes += [1] + head
                bytes += BackupFormat.number(header.count) + header
                bytes += BackupFormat.number(rest.count) + rest
            case .deleted: bytes += [2] + head
            }
        }
        return bytes
    }

    static func bytes(of number: Int64) -> [UInt8] { withUnsafeBytes(of: number.bigEndian) { Array($0) } }
}

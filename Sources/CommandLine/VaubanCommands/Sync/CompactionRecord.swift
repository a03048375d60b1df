import Crypto
import VaubanKeychainWire
package import VaubanRefusal
package import VaubanSyncModel

/// The replacement for a device's first file, after the device has rewritten the changes in its earlier files that are still the newest, so
/// that those files can be removed (Specs/sync.md, "Compaction").
package struct CompactionRecord: Hashable {
    static let magic = Array("VAUBAN SYNC 2\n".utf8)
    private static let headerBytes = 14 + 4 + 64

    /// The last file that is no longer needed.
    package let last: Int64
    /// The last of the files after `last` that contain the rewritten changes.
    package let end: Int64
    /// The chain after each of the most recent files up to `last`.
    package let chains: [[UInt8]]

    package init(last: Int64, end: Int64, chains: [[UInt8]]) {
        self.last = last
        self.end = end
        self.chains = chains
    }

    /// Returns the chain after the file with this number; nil if the record begins later.
    func chain(at number: Int64) -> [UInt8]? {
        let index = number - (last - Int64(chains.count)) - 1
        return chains.indices.contains(Int(index)) ? chains[Int(index)] : nil
    }

    /// The position after the last file that is no longer needed.
    var position: SyncPosition { chains.last.map { SyncPosition(number: last, chain: $0) } ?? SyncPosition() }

    /// Whether a first file claims to be a record.
    static func isRecord(_ bytes: [UInt8]) -> Bool { bytes.starts(with: magic) }

    // MARK: Writing

    /// Returns the bytes of the record, given how a digest is signed.
    package func sealed(in circle: CircleView, _ cipher: FrameCipher, signing sign: ([UInt8]) throws -> [UInt8]) throws -> [UInt8] {
        let payload = SyncFile.bytes(of: last) + SyncFile.bytes(of: end) + BackupFormat.number(chains.count) + chains.flatMap(\.self)
        let sealed = try cipher.seal(PaddedPayload.padded(payload), .syncRecord(device: circle.device))
        let digest = Self.digest(of: sealed, in: circle, device: circle.device, epoch: Int(circle.epoch))
        return Self.magic + BackupFormat.number(Int(circle.epoch)) + (try sign(digest)) + sealed
    }

    private static func digest(of sealed: [UInt8], in circle: CircleView, device: [UInt8], epoch: Int) -> [UInt8] {
        let bound = magic + (circle.circle ?? []) + device + BackupFormat.number(epoch)
        return Array(SHA256.hash(data: bound + Array(SHA256.hash(data: sealed))))
    }

    // MARK: Reading

    /// Opens and verifies the record of a member.
    package static func opened(
        _ bytes: [UInt8], of member: CircleMember, in circle: CircleView, _ ciphers: [FrameCipher]
    ) throws(Refusal) -> CompactionRecord {
        let name = "The file \(SyncFolder.name(of: 1)) of \(SafeText.visible(member.name))"
        let altered = Refusal(.badParameter, "\(name) is incomplete, or was altered")
        guard isRecord(bytes), bytes.count > headerBytes else { throw altered }
        var reader = ByteReader(Array(bytes.dropFirst(magic.count)))
        guard let epoch = reader.number(), let signature = reader.take(64), let sealed = reader.take(bytes.count - headerBytes),
            let key = try? Curve25519.Signing.PublicKey(rawRepresentation: member.verification)
        else { throw altered }
        let digest = digest(of: sealed, in: circle, device: member.device, epoch: epoch)
        let signed = Array("vauban sync file v1".utf8) + [0] + (circle.circle ?? []) + member.device + digest
        guard key.isValidSignature(signature, for: signed), epoch > 0 else { throw altered }
        guard epoch <= ciphers.count else {
            throw Refusal(
                .keyUnknown,
                "\(name) has a later key than this device knows: the circle was changed, and the folder lacks that statement")
        }
        guard let plaintext = ciphers[epoch - 1].open(sealed, .syncRecord(device: member.device)) else {
            throw Refusal(
                .keyUnknown,
                "\(name) has another key than this device knows: the circle was forked, and the folder lacks a statement or has a false one"
            )
        }
        guard let record = CompactionRecord(padded: plaintext) else { throw Refusal(.badParameter, "\(name) is not of this circle") }
        return record
    }

    private init?(padded: [UInt8]) {
        guard let payload = PaddedPayload.payload(of: padded) else { return nil }
        var reader = ByteReader(payload)
        guard let last = reader.date(), let end = reader.date(), let count = reader.number(), last >= 1, end > last,
            end <= SyncPosition.numberMax, count >= 1, count <= CompactionLimits.chainsMax, Int64(count) <= last
        else { return nil }
        var chains: [[UInt8]] = []
        for _ in 0..<count {
            guard let chain = reader.take(32) else { return nil }
            chains.append(chain)
        }
        guard reader.isAtEnd else { return nil }
        self.init(last: last, end: end, chains: chains)
    }
}

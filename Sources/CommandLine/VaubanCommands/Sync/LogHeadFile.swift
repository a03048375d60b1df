import Crypto
import VaubanLogHead
package import VaubanRefusal
package import VaubanSignedNote
package import VaubanSyncModel

/// A member's report on the access logs of the circle (Specs/sync.md, "The ends of the access logs"): the end of its own log, and the
/// newest end of each other log that it has seen. Each member has one such file, which is replaced as a whole.
package struct LogHeadFile {
    static let magic = Array("VAUBAN LOG HEAD 1\n".utf8)
    private static let family = Array("VAUBAN LOG HEAD ".utf8)
    private static let headerBytes = 18 + 4 + 64
    /// More than the largest circle needs.
    static let bytesMax = 256 << 10

    /// When it was written, in microseconds since 2001-01-01. A device's later file has a later time.
    package let time: Int64
    /// The end of the writer's log, signed by its enclave, and the keys of its enclave for heads and cosignatures.
    package let note: SignedNote
    let key: NoteKey
    package let cosigner: NoteKey
    /// The newest head of each other device that the writer has seen, with the writer's cosignature.
    package let seen: [[UInt8]: SignedNote]

    /// The epoch of the key under which the file was read; 0 for a file that is to be written.
    private(set) var epoch: Int64 = 0

    /// The head; nil if the note has another text.
    package var head: LogHead? { note.head }

    /// Whether two files differ at most in the time when they were written.
    func hasSameContent(as other: LogHeadFile) -> Bool {
        note == other.note && key == other.key && cosigner == other.cosigner && seen == other.seen
    }

    // MARK: Writing

    package init(time: Int64, note: SignedNote, key: NoteKey, cosigner: NoteKey, seen: [[UInt8]: SignedNote]) {
        self.time = time
        self.note = note
        self.key = key
        self.cosigner = cosigner
        self.seen = seen
    }

    /// Returns the bytes of the file, given how a digest is signed.
    func sealed(in circle: CircleView, _ cipher: FrameCipher, signing sign: ([UInt8]) throws -> [UInt8]) throws -> [UInt8] {
        let sealed = try cipher.seal(PaddedPayload.padded(encoded()), .logHead(device: circle.device))
        let digest = Self.digest(of: sealed, in: circle, device: circle.device, epoch: Int(circle.epoch))
        return Self.magic + BackupFormat.number(Int(circle.epoch)) + (try sign(digest)) + sealed
    }

    private static func digest(of sealed: [UInt8], in circle: CircleView, device: [UInt8], epoch: Int) -> [UInt8] {
        let bound = magic + (circle.circle ?? []) + device + BackupFormat.number(epoch)
        return Array(SHA256.hash(data: bound + Array(SHA256.hash(data: sealed))))
    }

    private func encoded() -> [UInt8] {
        var bytes = SyncFile.bytes(of: time)
        for part in [note.bytes, Array(key.text.utf8), Array(cosigner.text.utf8)] { bytes += BackupFormat.number(part.count) + part }
        bytes += BackupFormat.number(seen.count)
        for (device, note) in seen.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
            bytes += device + BackupFormat.number(note.bytes.count) + note.bytes
        }
        return bytes
    }

    // MARK: Reading

    /// Opens and verifies the file of a member.
    package static func opened(
        _ bytes: [UInt8], of member: CircleMember, in circle: CircleView, _ ciphers: [FrameCipher]
    ) throws(Refusal) -> LogHeadFile {
        let name = "What \(SafeText.visible(member.name)) says of the access logs"
        let altered = Refusal(.badParameter, "\(name) is incomplete in the folder, or was altered")
        guard bytes.starts(with: magic), (headerBytes + 1...bytesMax).contains(bytes.count) else {
            guard bytes.starts(with: family), bytes.count > headerBytes else { throw altered }
            throw Refusal(.unsupported, "\(name) was written by a later version of Vauban; update Vauban")
        }
        var reader = ByteReader(Array(bytes.dropFirst(magic.count)))
        guard let epoch = reader.number(), let signature = reader.take(64), let sealed = reader.take(bytes.count - headerBytes),
            let key = try? Curve25519.Signing.PublicKey(rawRepresentation: member.verification)
        else { throw altered }
        let digest = digest(of: sealed, in: circle, device: member.device, epoch: epoch)
        let signed = Array("vauban sync file v1".utf8) + [0] + (circle.circle ?? []) + member.device + digest
        guard key.isValidSignature(signature, for: signed), epoch > 0 else { throw altered }
        // Reading the device's other files reports the unknown key as well.
        guard epoch <= ciphers.count, let plaintext = ciphers[epoch - 1].open(sealed, .logHead(device: member.device)) else {
            throw Refusal(.keyUnknown, "\(name) has a key that this device does not know")
        }
        guard var file = LogHeadFile(padded: plaintext) else { throw altered }
        file.epoch = Int64(epoch)
        return file
    }

    private init?(padded: [UInt8]) {
        guard let payload = PaddedPayload.payload(of: padded) else { return nil }
        var reader = ByteReader(payload)
        guard let time = reader.date(), let note = Self.note(&reader), let key = Self.key(&reader), let cosigner = Self.key(&reader),
            key.verifies(note), cosigner.kind == .cosignature, let count = reader.number(), count <= CircleRequest.membersMax
        else { return nil }
        var seen: [[UInt8]: SignedNote] = [:]
        for _ in 0..<count {
            guard let device = reader.take(CircleRequest.deviceBytes), let note = Self.note(&reader) else { return nil }
            seen[device] = note
        }
        guard reader.isAtEnd, note.head?.origin == key.name else { return nil }
        self.init(time: time, note: note, key: key, cosigner: cosigner, seen: seen)
    }

    /// Reads a note whose text is a head.
    static func note(_ reader: inout ByteReader) -> SignedNote? {
        guard let count = reader.number(), let bytes = reader.take(count), let note = SignedNote(bytes), note.head != nil else {
            return nil
        }
        return note
    }

    static func key(_ reader: inout ByteReader) -> NoteKey? {
        guard let count = reader.number(), count <= LogHeadLimits.keyBytesMax, let bytes = reader.take(count),
            let text = String(validating: bytes, as: UTF8.self)
        else { return nil }
        return NoteKey(text: text)
    }
}

import VaubanRefusal
package import VaubanSignedNote
import VaubanSyncModel

/// This device's record of the access logs of the circle's members: the newest end of each, which never moves backwards. It is sealed like
/// the state of vauban sync.
package struct LogHeadMemory: Hashable {
    private static let version = 1

    /// A log that ends earlier than it was seen before, or is another log.
    package struct Setback: Hashable {
        /// The number of the last record that was seen before. `found` is a lower one, or the same one if this is another log.
        package let seen: Int64
        package let found: Int64
        /// When the file that revealed it was written, in microseconds since 2001-01-01.
        package let time: Int64

        package init(seen: Int64, found: Int64, time: Int64) {
            self.seen = seen
            self.found = found
            self.time = time
        }
    }

    package struct Device: Hashable {
        /// When the newest file was written, in microseconds since 2001-01-01.
        package var time: Int64
        /// The newest head, as this device cosigned it.
        package var note: SignedNote
        package var setback: Setback?
        /// The newest head of this device's own log that the other device has seen and cosigned. `cosigner` is the key of the cosignature.
        package var own: SignedNote?
        package var cosigner: NoteKey

        package init(time: Int64, note: SignedNote, setback: Setback? = nil, own: SignedNote? = nil, cosigner: NoteKey) {
            self.time = time
            self.note = note
            self.setback = setback
            self.own = own
            self.cosigner = cosigner
        }
    }

    package var devices: [[UInt8]: Device] = [:]

    package init() {}

    package enum Finding: Hashable {
        case news
        case nothingNew
        /// The file is older than one that was read.
        case earlierFile
        /// The log ends earlier than in an earlier file, or is another log.
        case setback(Setback)
    }

    /// Compares a device's report with its earlier one. Only a later file can count.
    package func finding(in file: LogHeadFile, of device: [UInt8]) -> Finding {
        guard let known = devices[device], let before = known.note.head, let now = file.head else { return .news }
        if file.time < known.time { return .earlierFile }
        if now == before { return .nothingNew }
        // A log that was erased with its keychain starts again after the same number.
        guard now.origin != before.origin || now.number < before.number || (now.number == before.number && !now.isStart) else {
            return .news
        }
        return .setback(Setback(seen: before.number, found: now.number, time: file.time))
    }

    // MARK: Coding

    package init?(_ bytes: [UInt8]) {
        var reader = ByteReader(bytes)
        guard reader.number() == Self.version, let count = reader.number(), count <= CircleRequest.membersMax else { return nil }
        for _ in 0..<count {
            guard let device = reader.take(CircleRequest.deviceBytes), let time = reader.date(), let note = LogHeadFile.note(&reader),
                let cosigner = LogHeadFile.key(&reader), let flags = reader.take(1)?.first
            else { return nil }
            var known = Device(time: time, note: note, cosigner: cosigner)
            if flags & 1 != 0 {
                guard let seen = reader.date(), let found = reader.date(), let time = reader.date() else { return nil }
                known.setback = Setback(seen: seen, found: found, time: time)
            }
            if flags & 2 != 0 {
                guard let own = LogHeadFile.note(&reader) else { return nil }
                known.own = own
            }
            devices[device] = known
        }
        guard reader.isAtEnd else { return nil }
    }

    package var bytes: [UInt8] {
        var bytes = BackupFormat.number(Self.version) + BackupFormat.number(devices.count)
        for (device, known) in devices.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
            bytes +=
                device + SyncFile.bytes(of: known.time) + Self.counted(known.note.bytes) + Self.counted(Array(known.cosigner.text.utf8))
            bytes.append((known.setback == nil ? 0 : 1) | (known.own == nil ? 0 : 2))
            if let setback = known.setback {
                for number in [setback.seen, setback.found, setback.time] { bytes += SyncFile.bytes(of: number) }
            }
            if let own = known.own { bytes += Self.counted(own.bytes) }
        }
        return bytes
    }

    private static func counted(_ bytes: [UInt8]) -> [UInt8] { BackupFormat.number(bytes.count) + bytes }
}
